import { type RecognisedWindow, recogniseWindow } from '../../facts/layers/recognised-window.ts'
import { itemsOf } from '../../facts/known.ts'
import { isOfWindow } from '../../system/window-name.ts'
import type { EusEvidence } from './evidence.ts'

/** The window that is open, by what `kvup status` tells it by as well: open loans of `kvup eus`, or paused pools behind their control plane. Pure. */
export const windowIn = ({
  platform,
  loans,
}: Pick<EusEvidence, 'platform' | 'loans'>): RecognisedWindow | undefined =>
  recogniseWindow(platform, itemsOf(loans).some(isOfWindow))
