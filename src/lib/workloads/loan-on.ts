import type { Loan } from '../procedure/journal.ts'
import type { SettingsOwner } from './strategy/owner.ts'
import { openLoan } from './update-methods.ts'

/** The open loan of the methods: on the object that owns them now, or on the KubeVirt CR from before a HyperConverged took it over. */
export function loanOn({ uid, kubevirt }: SettingsOwner, loans: readonly Loan[]): Loan | undefined {
  return openLoan(loans, uid) ?? openLoan(loans, kubevirt.uid)
}
