import type { Context } from '../../../context.ts'
import { VirtualMachines } from '../../../lib/cluster/kinds/virtual-machines.ts'
import type { RestoredMachine } from '../../../lib/output/views/give-back.ts'
import type { RehearsedStep } from '../../../lib/procedure/rehearse.ts'
import type { Procedure } from '../../../lib/procedure/step.ts'
import { carryOut } from '../../../lib/run/carry-out.ts'
import { ApiError, blocked, type KvupError } from '../../../lib/system/errors.ts'
import { parseDuration } from '../../../lib/system/duration.ts'
import { shellWord } from '../../../lib/system/shell-word.ts'
import { settledFor } from '../../../lib/upgrade/steps/settled.ts'
import { workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import type { Meanwhile } from '../../../lib/workloads/restore.ts'
import { findMachineLoans, type MachineLoan } from '../../../lib/workloads/unblock/find-loans.ts'
import {
  fieldsOf,
  giveMachineBack,
  leaveIt,
  type RefusedVms,
  retryOf,
  waitsForAnswer,
  waysOut,
} from '../../../lib/workloads/unblock/give-back.ts'
import { fieldName, wasText } from '../../../lib/workloads/unblock/vm-loan.ts'
import { type DryRun, rehearsed } from '../dry-run.ts'
import { namespaceOf } from '../outdated/selection.ts'
import type { SettingsWork } from '../settings-work.ts'
import { withResume } from '../with-resume.ts'

interface Terms {
  loans: readonly MachineLoan[]
  meanwhile: Meanwhile
  options: { timeout: string; dryRun?: DryRun }
}

/** What became of what VMs were lent. */
export interface MachinesEnd {
  machines: readonly RestoredMachine[]
  /** Of a dry run. */
  dryRun?: 'client' | 'server'
  steps: readonly RehearsedStep[]
  /** Some were left for a person to say; the others are done. */
  error?: KvupError
}

/** VMs that were lent something, in the namespace of -n or in all, of these names alone where some are given; where they may not be read, a warning says so. */
export async function machineLoans(
  cx: Context,
  { cluster }: SettingsWork,
  names: readonly string[],
): Promise<readonly MachineLoan[]> {
  const namespace = namespaceOf(cx.flags.namespace)
  try {
    const all = await findMachineLoans(cluster.reader, namespace)
    return names.length === 0 ? all : all.filter(({ ref }) => names.includes(ref.name))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    cx.printer.warn(`whether a VM was lent anything is not known: ${error.message}`)
    return []
  }
}

/** Gives back to every VM that runs and that nobody changed meanwhile (night W1); the others ask, and are in `error`. */
export async function restoreMachines(cx: Context, seen: SettingsWork, terms: Terms): Promise<MachinesEnd> {
  const { loans, meanwhile, options } = terms
  const { hands, installation } = seen
  const asks = loans.filter(({ standing }) => waitsForAnswer(standing, meanwhile))
  const giving = loans.filter((loan) => !asks.includes(loan))
  const machines = [...giving.map((loan) => machineOf(loan, meanwhile)), ...asks.map(asking)]
  const error = asks.length > 0 ? { error: someAsk(asks) } : {}
  if (giving.length === 0) return { machines, steps: [], ...error }
  const refused: RefusedVms = new Map()
  const procedure = procedureOn(seen, giving, { meanwhile, refused })
  const dry = await rehearsed(cx, procedure, { hands, dryRun: options.dryRun })
  if (dry) return { machines, ...dry, ...error }
  const work = {
    procedure,
    findings: [],
    accepted: [],
    rights: workloadsAccess(installation.namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
    question: `${meanwhile === 'keep-current' ? 'Close the loans of' : 'Give back to'} ${countText(giving.length)}?`,
    limits: { timeoutMs: parseDuration(options.timeout) },
  }
  await withResume(cx, carryOut(work, { ...hands, announce: () => announce(cx, machines) }))
  const after = machines.map((machine) => refusedOr(machine, refused.get(nameOf(machine))))
  return { machines: after, steps: [], ...(refused.size > 0 ? { error: someRefused(after) } : error) }
}

function refusedOr(machine: RestoredMachine, why: string | undefined): RestoredMachine {
  if (why === undefined) return machine
  const { namespace, name } = machine
  return { namespace, name, outcome: 'asks', changes: [], why, reason: 'vm-refused' }
}

/** The others are given back: each of these has its reason, and its note still. */
function someRefused(machines: readonly RestoredMachine[]): KvupError {
  const left = machines.filter(({ outcome }) => outcome === 'asks')
  const refs = left.filter(({ reason }) => reason === 'vm-refused')
  return blocked(
    'vm-refused',
    `the server did not let ${countText(refs.length)} be given back (${firstNames(refs)}); all else that could be is`,
    {
      notes: left.slice(0, toldAtMost).map((machine) => `${nameOf(machine)}: ${machine.why}`),
      remedy: [...refs.slice(0, 3).map(retryOf), leaveIt(refs)],
    },
  )
}

const firstNames = (refs: readonly { namespace: string; name: string }[]): string =>
  `${refs.slice(0, 3).map(nameOf).join(', ')}${refs.length > 3 ? ', …' : ''}`

const countText = (count: number) => (count === 1 ? '1 VM' : `${count} VMs`)
const nameOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`

function procedureOn(
  { owner }: SettingsWork,
  giving: readonly MachineLoan[],
  { meanwhile, refused }: { meanwhile: Meanwhile; refused: RefusedVms },
): Procedure {
  const settled = settledFor(owner.kubevirt, { id: 'settled', title: 'KubeVirt is settled', settleMs: 0 })
  const steps = giving.map(({ ref }) => giveMachineBack(ref, meanwhile, refused))
  return {
    name: 'restore VMs',
    loans: [],
    reached: async (reading) => {
      for (const step of steps) if ((await step.check(reading)).is !== 'done') return false
      return true
    },
    steps: async () => (meanwhile === 'keep-current' ? steps : [settled, ...steps]),
  }
}

/** So many are told before the question; a dry run shows all. */
const toldAtMost = 20

function announce({ printer }: Context, machines: readonly RestoredMachine[]): void {
  const giving = machines.filter(({ outcome }) => outcome !== 'asks')
  for (const machine of giving.slice(0, toldAtMost))
    printer.note(`${nameOf(machine)}: ${machine.changes.join(', ') || 'only the note is taken off'}`)
  if (giving.length > toldAtMost)
    printer.note(`and ${giving.length - toldAtMost} more (--dry-run=client shows all)`)
}

function machineOf({ ref, standing, runsWithLent }: MachineLoan, meanwhile: Meanwhile): RestoredMachine {
  const fields = fieldsOf(standing)
  const leave = meanwhile === 'keep-current'
  return {
    ...ref,
    outcome: leave ? 'closed' : 'given-back',
    changes: leave ? [] : fields.map((field) => `${fieldName(field.path)} back to ${wasText(field)}`),
    ...(runsWithLent && !leave && { runsWithLent, next: restartOf(ref) }),
  }
}

const restartOf = ({ namespace, name }: MachineLoan['ref']) =>
  `virtctl restart ${shellWord(name)} -n ${shellWord(namespace)}`

function asking({ ref, standing }: MachineLoan): RestoredMachine {
  return {
    ...ref,
    outcome: 'asks',
    changes: [],
    ...(standing.is !== 'to-give-back' && { why: standing.why, reason: standing.id }),
  }
}

function someAsk(asks: readonly MachineLoan[]): KvupError {
  const told = asks.map(asking)
  const refs = asks.map(({ ref }) => ref)
  return blocked(
    told[0]?.reason ?? '',
    `nothing was given back to ${countText(asks.length)} (${firstNames(refs)}): a person has to say`,
    {
      notes: told.slice(0, toldAtMost).map((machine) => `${nameOf(machine)}: ${machine.why}`),
      remedy: asks.every(({ standing }) => standing.is === 'unreadable') ? leaveIt(refs) : waysOut(refs),
    },
  )
}
