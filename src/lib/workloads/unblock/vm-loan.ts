import type { VirtualMachine } from '../../cluster/kinds/virtual-machines.ts'

/** On the VM, written in the same patch as the change: a loan that cannot be lost without it (contract "Loans"). */
export const loanAnnotation = 'kvup.io/loan'
/** By which the server finds the VMs that have one. */
export const loanLabel = 'kvup.io/loan'
export const labelValue = 'unblock'

/** The fields of a VM that kvup borrows, by JSON pointer. */
export type FieldPath = '/spec/template/spec/evictionStrategy' | '/spec/runStrategy'

/** Run strategies that leave a VM stopped after an eviction, and that Always is lent for (facts 3.4); Halted never runs. */
export const replaced: ReadonlySet<string> = new Set(['Manual', 'Once', 'RerunOnFailure'])

/** One borrowed field. */
export interface LentField {
  path: FieldPath
  /** Absence is a value too. */
  was: { present: true; value: string } | { present: false }
  /** What it was set to. */
  lent: string
}

/** What was borrowed of one VM. */
export interface VmLoan {
  /** user@host. */
  by: string
  /** RFC 3339. */
  at: string
  /** Of the VM that was lent it; absent in notes of older releases. */
  uid?: string
  fields: readonly LentField[]
}

/** The value of a borrowed field as it is now. */
export function valueOf({ spec }: VirtualMachine, path: FieldPath): string | undefined {
  return path === '/spec/runStrategy' ? spec?.runStrategy : spec?.template?.spec?.evictionStrategy
}

/** The last word of its path: what a person calls it. */
export const fieldName = (path: FieldPath): string => path.slice(path.lastIndexOf('/') + 1)

/** The loan that a VM carries. `unreadable`: its note was changed, or taken off and its label left; nothing is guessed then. */
export function loanOf({
  metadata: { annotations, labels },
}: VirtualMachine): VmLoan | 'unreadable' | undefined {
  const text = annotations?.[loanAnnotation]
  if (text !== undefined) return parsed(text) ?? 'unreadable'
  return labels?.[loanLabel] === undefined ? undefined : 'unreadable'
}

/** False for a note that came along with a copy: of a VM that was cloned, or made anew from a manifest or a backup. One that names no VM is taken for its own. */
export function isOfThisVm({ metadata }: VirtualMachine, { uid }: VmLoan): boolean {
  return uid === undefined || metadata.uid === undefined || uid === metadata.uid
}

/** For a person. */
export const unreadable = `its note ${loanAnnotation} was changed and cannot be read: what it had before is not known`

export const loanText = (loan: VmLoan): string => JSON.stringify(loan)

function parsed(text: string): VmLoan | undefined {
  try {
    const loan = JSON.parse(text) as Partial<VmLoan>
    const whole =
      typeof loan.by === 'string' && isTime(loan.at) && isUid(loan.uid) && Array.isArray(loan.fields)
    return whole && loan.fields?.every(isLentField) ? (loan as VmLoan) : undefined
  } catch {
    return undefined
  }
}

const isTime = (at: unknown) => typeof at === 'string' && !Number.isNaN(Date.parse(at))

const isUid = (uid: unknown) => uid === undefined || typeof uid === 'string'

function isFormer(was: unknown): was is LentField['was'] {
  const { present, value } = (was ?? {}) as { present?: unknown; value?: unknown }
  return present === false || (present === true && typeof value === 'string')
}

/** Every value that virt-api takes: another one would be refused, and give back nothing. */
const evictionStrategies: ReadonlySet<string> = new Set([
  'None',
  'LiveMigrate',
  'LiveMigrateIfPossible',
  'External',
])

/** What unblock lends and nothing else: whoever may write a VM's annotations does not stop it by way of a restore, and stops no restore. */
function isLentField(field: Partial<LentField> | null): boolean {
  const { path, was, lent } = field ?? {}
  if (!isFormer(was)) return false
  if (path === '/spec/runStrategy') return lent === 'Always' && was.present && replaced.has(was.value)
  const isFormerEviction = !was.present || evictionStrategies.has(was.value)
  return path === '/spec/template/spec/evictionStrategy' && lent === 'None' && isFormerEviction
}

/** `evictionStrategy None (was LiveMigrate)`. */
export function lentText({ path, was, lent }: LentField): string {
  return `${fieldName(path)} ${lent} (was ${wasText({ was })})`
}

export const wasText = ({ was }: Pick<LentField, 'was'>): string => (was.present ? was.value : 'not set')
