import type { VirtualMachine } from '../../cluster/kinds/virtual-machines.ts'
import { blocked } from '../../system/errors.ts'
import { shellWord } from '../../system/shell-word.ts'

/** On the VM, written in the same patch as the change: a loan that cannot be lost without it (contract "Loans"). */
export const loanAnnotation = 'kvup.io/loan'
/** By which the server finds the VMs that have one. */
export const loanLabel = 'kvup.io/loan'
export const labelValue = 'unblock'

/** The fields of a VM that kvup borrows, by JSON pointer. */
const fields = {
  '/spec/template/spec/evictionStrategy': ['spec', 'template', 'spec', 'evictionStrategy'],
  '/spec/runStrategy': ['spec', 'runStrategy'],
} as const
export type FieldPath = keyof typeof fields

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
  fields: readonly LentField[]
}

/** The value of a borrowed field as it is now. */
export function valueOf({ spec }: VirtualMachine, path: FieldPath): string | undefined {
  return path === '/spec/runStrategy' ? spec?.runStrategy : spec?.template?.spec?.evictionStrategy
}

/** The last word of its path: what a person calls it. */
export const fieldName = (path: FieldPath): string => path.slice(path.lastIndexOf('/') + 1)

/** The loan that a VM carries. Throws `blocked` where its annotation was damaged: nothing is guessed then. */
export function loanOf(vm: VirtualMachine): VmLoan | undefined {
  const text = vm.metadata.annotations?.[loanAnnotation]
  if (text === undefined) return undefined
  const loan = parsed(text)
  if (loan !== undefined) return loan
  const { name, namespace = '' } = vm.metadata
  throw blocked(
    'loan-unreadable',
    `the annotation ${loanAnnotation} of VM ${namespace}/${name} was changed and cannot be read`,
    {
      object: `virtualmachines/${name} in namespace ${namespace}`,
      remedy: `kubectl -n ${shellWord(namespace)} get vm ${shellWord(name)} -o yaml`,
    },
  )
}

export const loanText = (loan: VmLoan): string => JSON.stringify(loan)

function parsed(text: string): VmLoan | undefined {
  try {
    const loan = JSON.parse(text) as Partial<VmLoan>
    const whole = typeof loan.by === 'string' && typeof loan.at === 'string' && Array.isArray(loan.fields)
    return whole && loan.fields?.every(isLentField) ? (loan as VmLoan) : undefined
  } catch {
    return undefined
  }
}

function isLentField(field: Partial<LentField> | null): boolean {
  const { path = '', was, lent } = field ?? {}
  if (!Object.hasOwn(fields, path) || typeof lent !== 'string') return false
  return was?.present === false || (was?.present === true && typeof was.value === 'string')
}

/** `evictionStrategy None (was LiveMigrate)`. */
export function lentText({ path, was, lent }: LentField): string {
  return `${fieldName(path)} ${lent} (was ${wasText({ was })})`
}

export const wasText = ({ was }: Pick<LentField, 'was'>): string => (was.present ? was.value : 'not set')
