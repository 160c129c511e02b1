import type { WaveBy } from './wave-title.ts'
import { waveTitle } from './wave-title.ts'
import type { Wave } from './waves.ts'
import { placeOfVm } from '../vm-name.ts'

/** A wave as it is told beforehand: whose turn comes when. */
export interface ShownWave {
  /** For --until and --pause-before. */
  id: string
  title: string
  /** In their order. */
  vms: readonly ShownVm[]
}

interface ShownVm {
  namespace: string
  name: string
  by: 'migration' | 'restart'
  /** Only the restart itself starts it again. */
  onlyOnce?: boolean
}

/** Waves without VMs are left out. Pure. */
export function shownWaves(waves: readonly Wave[], by: WaveBy): readonly ShownWave[] {
  return waves
    .filter(({ vms }) => vms.length > 0)
    .map((wave) => ({
      id: wave.id,
      title: waveTitle(wave, by),
      vms: wave.vms.map(({ vm, by: how, onlyOnce }) => {
        return { ...placeOfVm(vm), by: how, ...(onlyOnce && { onlyOnce }) }
      }),
    }))
}
