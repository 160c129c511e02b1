import type { Wave } from './waves.ts'

/** By what VMs are put into waves. */
export type WaveBy = { is: 'one' } | { is: 'label'; key: string } | { is: 'namespace' } | { is: 'node' }

/** Id of the wave of those whose turn did not come in their own. */
export const lateId = 'late'

/** What a person calls a wave. */
export function waveTitle({ id, value }: Wave, by: WaveBy): string {
  if (id === 'canary') return 'canary'
  if (id === lateId) return 'virtual machines that had to wait'
  if (value === undefined) return by.is === 'one' ? 'virtual machines' : 'the other virtual machines'
  return by.is === 'label' ? `${by.key}=${value}` : `${by.is} ${value}`
}
