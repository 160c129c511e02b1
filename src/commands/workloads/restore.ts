import { Command } from 'commander'
import type { Context, Wire } from '../../context.ts'
import {
  type RestoreDocument,
  refusedOr,
  someRefused,
  countText,
  vmNameOf,
  restoredVm,
  vmThatAsks,
  someAsk,
  dryRunOutput,
  type End,
  overrideToRestore,
  forecastOf,
  type VmsEnd,
  savedVmOverrides,
  announceVms,
} from '../../lib/vms/unblock/restored-vms.ts'
import { restoreView } from '../../lib/output/views/vms/paused-updates.ts'
import { statusParts } from '../../lib/kubevirt/snapshot.ts'
import { windowHoldsFinding } from '../../lib/eus/window.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { exitCode, type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { askAboutMissing, gateOf } from '../run-change.ts'
import { type Change, type DryRun, performChange, type ChangeOptions } from '../../lib/engine/change.ts'
import { asOverride } from '../../lib/engine/missing-values.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { settledFor } from '../../lib/upgrade/steps/component-rollout.ts'
import { evictionFinding, type Forecast, forecastText } from '../../lib/vms/forecast/vm-forecast.ts'
import { methodsIn } from '../../lib/vms/strategy/settings-owner.ts'
import { keptMethods, overrideId, methodsText } from '../../lib/vms/update-methods.ts'
import { type Meanwhile, restoreProcedure } from '../../lib/vms/pause-updates.ts'
import { asksCluster, manual, withChangeFlags } from '../command-options.ts'
import { namespaceOf } from '../../lib/vms/vm-selection.ts'
import { ownerInDocument, type SettingsWork } from '../../lib/vms/strategy/strategy-document.ts'
import { rightsFor, seeSettings } from './settings-work.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import {
  restoreVm,
  type SavedVmOverride,
  type RefusedVms,
  waitsForAnswer,
} from '../../lib/vms/unblock/restore-vms.ts'

export interface RestoreOptions extends ChangeOptions {
  keepCurrent?: boolean
  overwrite?: boolean
}

export function restoreCommand(wire: Wire): Command {
  return withChangeFlags(
    new Command('restore')
      .argument('[vm...]', 'only these VMs, by name in the namespace of -n; default: all that was borrowed')
      .option('--keep-current', 'where somebody changed it meanwhile: leave their value and close the loan')
      .option('--overwrite', 'where somebody changed it meanwhile: set the kept value'),
    'how long to wait for KubeVirt to settle',
    '10m',
  )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup workloads restore', 'gives back what kvup history shows as borrowed'],
          ['kvup workloads restore db -n shop --keep-current', 'of one VM, and of nothing else'],
          ['kvup workloads restore --overwrite --yes', 'also where somebody changed it meanwhile'],
        ],
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire<RestoreOptions, [string[]]>(restore))
}

/** Gives back what an upgrade, a hold or an unblock borrowed, from anywhere; the journal in the cluster and the VMs know the values. */
export async function restore(
  cx: Context,
  options: RestoreOptions,
  names: readonly string[] = [],
): Promise<ExitCode> {
  const meanwhile = meanwhileOf(options)
  if (names.length > 0 && namespaceOf(cx.flags.namespace) === undefined)
    throw usageError('which-namespace', 'in which namespace? Names of VMs need -n', {
      remedy: `kvup workloads restore ${names.map(shellWord).join(' ')} -n NAMESPACE`,
    })
  parseDuration(options.timeout)
  const settingsWork = await seeSettings(cx, {
    parts: statusParts,
    takeOver: options.takeOver,
    accept: options.accept,
  })
  const machines = await savedVmOverrides(cx, settingsWork, names)
  for (const name of names.filter((one) => !machines.some(({ ref }) => ref.name === one)))
    cx.printer.warn(`kvup lent nothing to VM ${name}, or it is given back already`)
  const end =
    names.length > 0
      ? { outcome: 'not-asked' as const, methods: methodsIn(settingsWork.holding, settingsWork.owner) }
      : await restoreMethods(cx, settingsWork, { meanwhile, options })
  if (machines.length === 0) {
    cx.printer.result(documentOf(settingsWork, end), restoreView)
    return exitCode.done
  }
  const both = await restoreVms(cx, settingsWork, { loans: machines, meanwhile, options })
  const document = { ...documentOf(settingsWork, end), machines: both.machines }
  if (both.dryRun === undefined) cx.printer.result(document, restoreView)
  else cx.printer.result({ ...document, ...dryRunOutput(end, both) }, restoreView)
  if (both.error) throw both.error
  return exitCode.done
}

async function restoreMethods(
  cx: Context,
  settingsWork: SettingsWork,
  { meanwhile, options }: { meanwhile: Meanwhile; options: RestoreOptions },
): Promise<End> {
  const { owner, environment, holding } = settingsWork
  const now = methodsIn(holding, owner)
  await settleMissing(cx, settingsWork, { meanwhile, options })
  const loan = overrideToRestore(await environment.journal.loans(), owner, meanwhile)
  if (!loan) return { outcome: 'nothing-borrowed', methods: now }
  const terms = {
    ...settingsWork,
    loan,
    now,
    meanwhile,
    options,
    forecast: await forecastOf(settingsWork, loan),
  }
  const ended = await performChange({ environment, change: changeOf(cx, terms), dryRun: options.dryRun })
  if (ended.is === 'dry-run') return { outcome: 'rehearsed', methods: now, ...ended.fields }
  if (meanwhile === 'keep-current') return { outcome: 'left-as-it-is', methods: now }
  return { outcome: 'given-back', methods: keptMethods(loan) }
}

/** The journal claims methods that no note on the object confirms: a person says, here or by `--keep-current`. */
async function settleMissing(
  cx: Context,
  { environment: { journal } }: SettingsWork,
  { meanwhile, options }: { meanwhile: Meanwhile; options: RestoreOptions },
): Promise<void> {
  if (meanwhile !== 'keep-current')
    return askAboutMissing(journal, cx, { accept: options.accept, only: overrideId })
  for (const missing of await journal.missing())
    if (missing.id === overrideId) journal.believe(asOverride(missing, cx.clock.now().toISOString()))
}

interface Terms extends SettingsWork {
  loan: Override
  /** The methods as they are now. */
  now: readonly string[]
  meanwhile: Meanwhile
  options: RestoreOptions
  /** What the kept methods will do once they are given back. */
  forecast: Forecast
}

function announce({ printer }: Context, { loan, meanwhile, forecast, rolloutStatus }: Terms): void {
  printer.note(`borrowed by ${loan.by} at ${loan.at}: ${keptMethods(loan).join(', ')}`)
  if (meanwhile === 'keep-current') return
  const all = rolloutStatus.verdict === 'Settled' ? '' : ', counting all VMs because it is not settled,'
  printer.note(`once given back, KubeVirt${all} ${forecastText(forecast)}`)
}

function changeOf(cx: Context, terms: Terms): Change {
  const { owner, loan, now, meanwhile, options, forecast } = terms
  const leave = meanwhile === 'keep-current'
  const settled = settledFor(owner.kubevirt, { id: 'settled', title: 'KubeVirt is settled', settleMs: 0 })
  const kept = keptMethods(loan)
  return {
    procedure: restoreProcedure({ owner, meanwhile, settled, takenFrom: loan.object.uid }),
    gate: gateOf(
      [...windowHoldsFinding(loan), ...(leave ? [] : evictionFinding(kept, forecast))],
      parseAccepted(options.accept),
    ),
    rights: rightsFor(owner),
    announce: () => announce(cx, terms),
    question: leave
      ? `Leave ${now.length > 0 ? methodsText(now) : 'no methods'} and close the loan?`
      : `Set workloadUpdateMethods back to ${kept.join(', ')}?`,
    limits: { timeoutMs: parseDuration(options.timeout) },
  }
}

function documentOf({ installation: { name, namespace }, owner }: SettingsWork, end: End): RestoreDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'GiveBack',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...end,
  }
}

function meanwhileOf({ keepCurrent, overwrite }: RestoreOptions): Meanwhile {
  if (keepCurrent && overwrite)
    throw usageError('contradiction', '--keep-current and --overwrite exclude each other')
  if (overwrite) return 'overwrite'
  return keepCurrent ? 'keep-current' : 'ask'
}

interface VmTerms {
  loans: readonly SavedVmOverride[]
  meanwhile: Meanwhile
  options: { timeout: string; dryRun?: DryRun }
}

/** Gives back to every VM that runs and that nobody changed meanwhile (night W1); the others ask, and are in `error`. */
export async function restoreVms(cx: Context, settingsWork: SettingsWork, terms: VmTerms): Promise<VmsEnd> {
  const { loans, meanwhile, options } = terms
  const { environment, installation } = settingsWork
  const asks = loans.filter(({ overrideStatus }) => waitsForAnswer(overrideStatus, meanwhile))
  const restoring = loans.filter((loan) => !asks.includes(loan))
  const machines = [...restoring.map((loan) => restoredVm(loan, meanwhile)), ...asks.map(vmThatAsks)]
  const error = asks.length > 0 ? { error: someAsk(asks) } : {}
  if (restoring.length === 0) return { machines, steps: [], ...error }
  const refused: RefusedVms = new Map()
  const procedure = procedureOn(settingsWork, restoring, { meanwhile, refused })
  const change: Change = {
    procedure,
    gate: gateOf([], []),
    rights: workloadsAccess(installation.namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
    announce: () => announceVms(cx, machines),
    question: `${meanwhile === 'keep-current' ? 'Close the loans of' : 'Give back to'} ${countText(restoring.length)}?`,
    limits: { timeoutMs: parseDuration(options.timeout) },
  }
  const ended = await performChange({ environment, change, dryRun: options.dryRun })
  if (ended.is === 'dry-run') return { machines, ...ended.fields, ...error }
  const after = machines.map((vm) => refusedOr(vm, refused.get(vmNameOf(vm))))
  return { machines: after, steps: [], ...(refused.size > 0 ? { error: someRefused(after) } : error) }
}

function procedureOn(
  { owner }: SettingsWork,
  restoring: readonly SavedVmOverride[],
  { meanwhile, refused }: { meanwhile: Meanwhile; refused: RefusedVms },
): Procedure {
  const settled = settledFor(owner.kubevirt, { id: 'settled', title: 'KubeVirt is settled', settleMs: 0 })
  const steps = restoring.map(({ ref }) => restoreVm(ref, meanwhile, refused))
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
