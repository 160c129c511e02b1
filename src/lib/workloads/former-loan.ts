import type { Journal } from '../procedure/journal.ts'
import type { Owner } from './update-methods.ts'

/**
 * Closes an open loan of this name whose KubeVirt was deleted: there is nothing to give back to, and its value must not stand
 * for that of the KubeVirt that is here now.
 */
export async function closeFormerLoan(journal: Journal, id: string, owner: Owner): Promise<void> {
  const former = (await journal.loans()).some((loan) => loan.id === id && loan.object.uid !== owner.uid)
  if (former) await journal.release(id, 'the KubeVirt that it was taken from is gone')
}
