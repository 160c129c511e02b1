import type { ReadContext } from '../../procedure/step.ts'
import { readOwner } from '../../workloads/find-owner.ts'
import { loanId, methodsOf } from '../../workloads/update-methods.ts'
import { keptBaseline } from '../steps/kept.ts'
import type { EusWindow } from './window.ts'

/**
 * A window that was begun, and whose VMs are held still: its way back out has not begun. A loan alone would not tell it, for where the methods were empty
 * beforehand nothing is borrowed. Throws ApiError, and `blocked` where the KubeVirt is another one.
 */
export async function isHeldStill(
  { name, kubevirt }: Pick<EusWindow, 'name' | 'kubevirt'>,
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
): Promise<boolean> {
  if ((await journal.loans()).some(({ id }) => id === loanId)) return true
  if ((await keptBaseline(journal, name)) === undefined) return false
  return methodsOf(await readOwner(reader, kubevirt)).length === 0
}
