import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachine, VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { type MachineRef, refOf } from './read-machine.ts'
import { fieldName, loanLabel, loanOf, wasText } from './vm-loan.ts'

/** A VM that was lent something, for a person. */
export interface LentMachine extends MachineRef {
  /** user@host. */
  by: string
  /** RFC 3339. */
  at: string
  /** What is given back: `evictionStrategy was LiveMigrate`. */
  kept: readonly string[]
}

/** Every VM with a loan, by one list that the server narrows. Throws ApiError; `blocked` for a damaged note. */
export async function lentMachines(reader: Reader): Promise<readonly LentMachine[]> {
  const found: LentMachine[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachines, { labels: loanLabel }))
      found.push(...items.flatMap((vm) => lentTo(vm)))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return found
}

function lentTo(vm: VirtualMachine): LentMachine[] {
  const loan = loanOf(vm)
  if (loan === undefined) return []
  const kept = loan.fields.map((field) => `${fieldName(field.path)} was ${wasText(field)}`)
  return [{ ...refOf(vm), by: loan.by, at: loan.at, kept }]
}
