import { type EusWindow, eusWindow } from '../../facts/layers/eus-window.ts'
import { itemsOf } from '../../facts/known.ts'
import { isOfWindow } from '../run/window.ts'
import type { EusEvidence } from './evidence.ts'

/** The window that is open, by what `kvup status` tells it by as well: open loans of `kvup eus`, or paused pools behind their control plane. Pure. */
export const windowIn = ({
  platform,
  loans,
}: Pick<EusEvidence, 'platform' | 'loans'>): EusWindow | undefined =>
  eusWindow(platform, itemsOf(loans).some(isOfWindow))
