import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { type LoanStanding, loanStanding, waitsForAnswer } from './give-back.ts'
import { type MachineRef, readMachines, refOf } from './read-machine.ts'
import { loanLabel } from './vm-loan.ts'

export interface MachineLoan {
  ref: MachineRef
  standing: LoanStanding
  /** It was restarted since, and runs with what was lent: what is given back reaches it at its next restart (night W1). */
  runsWithLent: boolean
}

/** Every VM with a loan, of one namespace or of all: the server finds them by their label. Throws ApiError. */
export async function findMachineLoans(reader: Reader, namespace?: string): Promise<readonly MachineLoan[]> {
  const refs: MachineRef[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachines, { namespace, labels: loanLabel }))
      refs.push(...items.map(refOf))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return (await readMachines(reader, refs)).flatMap(({ vm, vmi }) => {
    const standing = vm && loanStanding(vm, vmi)
    if (vm === undefined || standing === undefined) return []
    const fields = standing.is === 'unreadable' ? [] : standing.loan.fields
    const eviction = fields.find(({ path }) => path === '/spec/template/spec/evictionStrategy')
    const runsWithLent = eviction !== undefined && vmi?.spec?.evictionStrategy === eviction.lent
    return [{ ref: refOf(vm), standing, runsWithLent }]
  })
}

/** The same as they are given back: last those that a person has to say about. Throws ApiError. */
export async function machinesInOrder(reader: Reader): Promise<readonly MachineRef[]> {
  const loans = await findMachineLoans(reader)
  const asks = loans.filter(({ standing }) => waitsForAnswer(standing, 'ask'))
  return [...loans.filter((loan) => !asks.includes(loan)), ...asks].map(({ ref }) => ref)
}
