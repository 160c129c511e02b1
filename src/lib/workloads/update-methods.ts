import type { Ref } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import type { Loan } from '../procedure/journal.ts'

/** The one KubeVirt CR, as it was found: under the version that is served, with the uid that loans are tied to. */
export interface Owner {
  kind: Kind<KubeVirt>
  ref: Ref & { namespace: string }
  uid: string
}

/** The journal's name of the borrowed setting. */
export const loanId = 'workload-updates'

/** JSON pointer of the borrowed setting in the KubeVirt CR. */
export const methodsPath = '/spec/workloadUpdateStrategy/workloadUpdateMethods'

/** Empty, null and absent all mean "no automated workload update" on a plain KubeVirt (facts 1.2). */
export function methodsOf(kubevirt: KubeVirt): readonly string[] {
  return kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? []
}

/** The order of the methods has no meaning (facts 1.2). */
export function sameMethods(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.toSorted().join() === b.toSorted().join()
}

/** `LiveMigrate, Evict`, or `none`. */
export const methodsText = (methods: readonly string[]): string => methods.join(', ') || 'none'

/** The open loan on this very object; one that was taken on an earlier CR of the same name is not ours to give back. */
export function openLoan(loans: readonly Loan[], uid: string): Loan | undefined {
  return loans.find((loan) => loan.id === loanId && loan.object.uid === uid)
}

/** The methods as they were before they were borrowed. */
export function keptMethods(loan: Loan): readonly string[] {
  return loan.was.present && Array.isArray(loan.was.value) ? loan.was.value.map(String) : []
}

/** Command that shows who writes which field of it. */
export function showWriters({ ref: { name, namespace } }: Owner): string {
  return `kubectl -n ${namespace} get kubevirts ${name} -o yaml --show-managed-fields`
}
