import type { Reader } from '../../cluster/cluster.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { Borrowable } from './borrowable.ts'

/** The object that a loan is of: there, another one of the same name in its place, or none. */
export type Sought =
  | { is: 'there'; object: KubeObject }
  | { is: 'replaced'; object: KubeObject }
  | { is: 'gone' }

/** Throws ApiError. An object that is being deleted counts as gone: what is written to it lasts for nobody. */
export async function findBorrowed(
  reader: Reader,
  { kind, ref }: Pick<Borrowable, 'kind' | 'ref'>,
  uid: string,
): Promise<Sought> {
  const found = await reader.find(kind, ref)
  if (found.is !== 'object' || found.object.metadata.deletionTimestamp !== undefined) return { is: 'gone' }
  const { object } = found
  return { is: object.metadata.uid === uid ? 'there' : 'replaced', object }
}

/** The open loan of this name, whichever object it was taken from. */
export const loanNamed = (loans: readonly Loan[], name: string): Loan | undefined =>
  loans.find(({ id }) => id === name)

/** `spec.paused of MachineConfigPool worker`, with its namespace where it has one. */
export const whatIs = ({ pointer, kind, ref }: Borrowable): string => {
  const where = ref.namespace === undefined ? '' : ` in namespace ${ref.namespace}`
  return `${pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')} of ${kind.kind} ${ref.name}${where}`
}

/** As it reads in a sentence. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'absent'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const keptText = ({ was }: Loan): string => valueText(was.present ? was.value : undefined)
