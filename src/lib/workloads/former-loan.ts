import type { Journal } from '../procedure/journal.ts'
import type { Owner } from './update-methods.ts'
import type { SettingsOwner } from './strategy/owner.ts'

/**
 * Closes an open loan of this name whose object was deleted: there is nothing to give back to, and its value must not stand
 * for that of the one that is here now.
 */
export async function closeFormerLoan(
  journal: Journal,
  id: string,
  owner: Pick<Owner, 'uid'> & Partial<Pick<SettingsOwner, 'kubevirt'>>,
): Promise<void> {
  const ours = new Set([owner.uid, owner.kubevirt?.uid])
  const former = (await journal.loans()).some((loan) => loan.id === id && !ours.has(loan.object.uid))
  if (former) await journal.release(id, 'the KubeVirt that it was taken from is gone')
}
