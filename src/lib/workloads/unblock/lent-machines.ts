import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachine, VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { type MachineRef, refOf } from './read-machine.ts'
import { fieldName, isOfThisVm, loanLabel, loanOf, type VmLoan, wasText } from './vm-loan.ts'

/** A VM that was lent something, for a person. */
export interface LentMachine extends MachineRef {
  /** user@host. */
  by: string
  /** RFC 3339. */
  at: string
  /** What is given back: `evictionStrategy was LiveMigrate`. */
  kept: readonly string[]
  /** It was lent to another VM, and its note came along with a copy. */
  copied?: true
}

export interface LentMachines {
  lent: readonly LentMachine[]
  /** Whose note was changed: what they had before is not known. */
  unreadable: readonly MachineRef[]
}

/** Every VM with a loan, by one list that the server narrows. Throws ApiError. */
export async function lentMachines(reader: Reader): Promise<LentMachines> {
  const lent: LentMachine[] = []
  const unreadable: MachineRef[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachines, { labels: loanLabel }))
      for (const vm of items) sort(vm, { lent, unreadable })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return { lent, unreadable }
}

function sort(vm: VirtualMachine, into: { lent: LentMachine[]; unreadable: MachineRef[] }): void {
  const loan = loanOf(vm)
  if (loan === 'unreadable') into.unreadable.push(refOf(vm))
  else if (loan !== undefined)
    into.lent.push({ ...refOf(vm), ...inWords(loan), ...(!isOfThisVm(vm, loan) && { copied: true }) })
}

const inWords = ({ by, at, fields }: VmLoan): Pick<LentMachine, 'by' | 'at' | 'kept'> => ({
  by,
  at,
  kept: fields.map((field) => `${fieldName(field.path)} was ${wasText(field)}`),
})
