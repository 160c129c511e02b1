import { vmNameOf } from '../../lib/vms/vm.ts'
import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import {
  announceVms,
  countText,
  dryRunOutput,
  type End,
  forecastOf,
  overrideToRestore,
  refusedOr,
  type RefusedVms,
  type RestoreDocument,
  restoredVm,
  restoreVm,
  type SavedVmOverride,
  savedVmOverrides,
  someAsk,
  someRefused,
  type VmsEnd,
  vmThatAsks,
  waitsForAnswer,
} from '../../lib/vms/unblock/restore-vms.ts'
import { restoreView } from '../../lib/output/views/vms/paused-updates.ts'
import { statusParts } from '../../lib/kubevirt/snapshot.ts'
import { pathHoldsFinding, windowHoldsFinding } from '../../lib/eus/window.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { exitCode, type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { askAboutMissing, gateOf } from '../run-change.ts'
import { asOverride, type Change, type ChangeOptions, performChange } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { settledFor } from '../../lib/upgrade/steps/component-rollout.ts'
import { type Forecast, forecastText, resumingFindings } from '../../lib/vms/forecast/vm-forecast.ts'
import { methodsIn } from '../../lib/vms/strategy/settings-owner.ts'
import { keptMethods, methodsText, overrideId } from '../../lib/vms/update-methods.ts'
import { type Meanwhile, restoreProcedure } from '../../lib/vms/pause-updates.ts'
import { asksCluster, KvupCommand } from '../command-options.ts'
import { ownerInDocument, type SettingsWork } from '../../lib/vms/strategy/set-strategy.ts'
import { rightsFor, seeSettings } from './settings-work.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import type { VmRef } from '../../lib/vms/unblock/vm-overrides.ts'
import type { Procedure, RunLimits } from '../../lib/engine/step.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'

export interface RestoreOptions extends ChangeOptions {
  /** Default: the timeout alone. */
  limits?: RunLimits
  keepCurrent?: boolean
  overwrite?: boolean
}

export function resumeCommand(wire: Wire): KvupCommand {
  return new KvupCommand('resume-updates')
    .flags(meanwhileFlags())
    .changeFlags('how long to wait until KubeVirt is healthy', '10m')
    .manual({
      examples: [
        ['kvup workloads resume-updates', 'restores the update methods that kvup emptied'],
        ['kvup workloads resume-updates --dry-run=client', 'what it would set'],
      ],
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire(resumeUpdates))
}

/** What is done where somebody changed meanwhile what kvup saved. */
export const meanwhileFlags = (): Option[] => [
  new Option('--keep-current', 'where someone changed it: keep their value, forget the saved one'),
  new Option('--overwrite', 'where someone changed it: set the saved value'),
]

/** The methods alone: settings of VMs remain as they are. */
export async function resumeUpdates(cx: Context, options: RestoreOptions): Promise<ExitCode> {
  const restoring = await seeRestoring(cx, options)
  const { end, refuses } = await restoreMethods(cx, restoring)
  cx.printer.result(documentOf(restoring.settingsWork, end), restoreView)
  await refuses?.()
  return exitCode.done
}

/** What is restored: all, or update methods and VMs by name. */
interface Restored {
  isAll: boolean
  ids: readonly string[]
  vms: readonly VmRef[]
}

/** Restores what is of no EUS upgrade: update methods, and settings of VMs. */
export async function restore(cx: Context, options: RestoreOptions, asked: Restored): Promise<ExitCode> {
  const { settingsWork, ...typed } = await seeRestoring(cx, options)
  const restoring = { ...typed, settingsWork, isAll: asked.isAll }
  const vms = asked.isAll || asked.vms.length > 0 ? await savedVmOverrides(cx, settingsWork, asked.vms) : []
  for (const name of asked.vms.map(vmNameOf).filter((one) => !vms.some(({ ref }) => vmNameOf(ref) === one)))
    cx.printer.warn(`VM ${name} has no temporary change, or it is restored already`)
  const methods = methodsIn(settingsWork.holding, settingsWork.owner)
  const { end, refuses }: MethodsEnd =
    asked.isAll || asked.ids.length > 0
      ? await restoreMethods(cx, restoring)
      : { end: { outcome: 'not-asked', methods } }
  if (vms.length === 0) {
    cx.printer.result(documentOf(settingsWork, end), restoreView)
    await refuses?.()
    return exitCode.done
  }
  const both = await restoreVms(cx, settingsWork, { ...restoring, overrides: vms })
  const document = { ...documentOf(settingsWork, end), vms: both.vms }
  if (both.dryRun === undefined) cx.printer.result(document, restoreView)
  else cx.printer.result({ ...document, ...dryRunOutput(end, both) }, restoreView)
  await refuses?.()
  if (both.error) throw both.error
  return exitCode.done
}

/** How the methods ended; of a dry run what refuses it as the run is refused. */
interface MethodsEnd {
  end: End
  refuses?: () => void | Promise<void>
}

interface Restoring {
  settingsWork: SettingsWork
  meanwhile: Meanwhile
  options: RestoreOptions
  isAll?: boolean
}

/** Flags that contradict each other are refused before the cluster is read. */
async function seeRestoring(cx: Context, options: RestoreOptions): Promise<Restoring> {
  const meanwhile = meanwhileOf(options)
  parseDuration(options.timeout)
  const { takeOver, accept } = options
  const settingsWork = await seeSettings(cx, { parts: statusParts, takeOver, accept })
  return { settingsWork, meanwhile, options }
}

async function restoreMethods(
  cx: Context,
  { settingsWork, meanwhile, options, isAll = false }: Restoring,
): Promise<MethodsEnd> {
  const { owner, environment, holding } = settingsWork
  const now = methodsIn(holding, owner)
  await settleMissing(cx, environment.journal, { meanwhile, options })
  const override = overrideToRestore(await environment.journal.overrides(), owner, meanwhile)
  if (!override) return { end: { outcome: 'nothing-to-restore', methods: now } }
  const terms = {
    ...settingsWork,
    override,
    now,
    meanwhile,
    options,
    isAll,
    forecast: await forecastOf(settingsWork, override),
  }
  const change = changeOf(cx, terms)
  const ended = await performChange({ environment, change, dryRun: options.dryRun })
  if (ended.is === 'dry-run') {
    announce(cx, terms)
    return {
      end: { outcome: 'dry-run', methods: now, ...ended.fields },
      refuses: () => change.gate(false),
    }
  }
  if (meanwhile === 'keep-current') return { end: { outcome: 'left-as-it-is', methods: now } }
  return { end: { outcome: 'restored', methods: keptMethods(override) } }
}

/** The journal claims methods that no note on the object confirms: a person says, here or by `--keep-current`. */
async function settleMissing(
  cx: Context,
  journal: SettingsWork['environment']['journal'],
  { meanwhile, options }: Pick<Restoring, 'meanwhile' | 'options'>,
): Promise<void> {
  if (meanwhile !== 'keep-current')
    return askAboutMissing(journal, cx, { accept: options.accept, only: overrideId })
  for (const missing of await journal.missing())
    if (missing.id === overrideId) journal.believe(asOverride(missing, cx.clock.now().toISOString()))
}

interface Terms extends SettingsWork {
  override: Override
  /** The methods as they are now. */
  now: readonly string[]
  meanwhile: Meanwhile
  options: RestoreOptions
  isAll: boolean
  /** What the kept methods will do once they are given back. */
  forecast: Forecast
}

function announce({ printer }: Context, { override, meanwhile, forecast, rolloutStatus }: Terms): void {
  printer.note(
    `automatic VM updates (${keptMethods(override).join(', ')}) were paused by ${override.by} at ${override.at}`,
  )
  if (meanwhile === 'keep-current') return
  // Where KubeVirt is not healthy all VMs are counted, not the outdated alone: the counts are upper limits.
  const upTo = rolloutStatus.verdict !== 'Healthy'
  printer.note(`when resumed, KubeVirt ${forecastText(forecast, { upTo })}`)
}

function changeOf(cx: Context, terms: Terms): Change {
  const { owner, override, now, meanwhile, options, forecast, isAll } = terms
  const leave = meanwhile === 'keep-current'
  const settled = settledFor(owner.kubevirt, { id: 'healthy', title: 'KubeVirt is healthy', stableMs: 0 })
  const kept = keptMethods(override)
  return {
    procedure: restoreProcedure({ owner, meanwhile, settled, takenFrom: override.object.uid }),
    ...gateOf(
      cx,
      [
        ...windowHoldsFinding(override),
        ...(isAll ? pathHoldsFinding(override) : []),
        ...(leave ? [] : resumingFindings(kept, forecast, insteadOf(forecast))),
      ],
      parseAccepted(options.accept),
    ),
    rights: rightsFor(owner),
    announce: () => announce(cx, terms),
    question: leave
      ? `Leave ${now.length > 0 ? methodsText(now) : 'no methods'} and forget the saved value?`
      : `Set workloadUpdateMethods back to ${kept.join(', ')}?`,
    limits: options.limits ?? { timeoutMs: parseDuration(options.timeout) },
  }
}

/** What helps where giving Evict back would interrupt VMs: by hand nothing is restarted. */
const insteadOf = ({ counts }: Forecast): readonly string[] => [
  ...(counts.migrates > 0
    ? ['kvup workloads update --canary 1     live-migrates what can migrate, one VM first']
    : []),
  'kvup workloads outdated     lists the VMs that would be interrupted, and what helps each',
]

function documentOf({ installation: { name, namespace }, owner }: SettingsWork, end: End): RestoreDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'RestoreReport',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...end,
  }
}

/** Throws `usage` for both. */
export function meanwhileOf({
  keepCurrent,
  overwrite,
}: Pick<RestoreOptions, 'keepCurrent' | 'overwrite'>): Meanwhile {
  if (keepCurrent && overwrite)
    throw usageError('contradiction', '--keep-current and --overwrite exclude each other')
  if (overwrite) return 'overwrite'
  return keepCurrent ? 'keep-current' : 'ask'
}

interface VmTerms extends Pick<Restoring, 'meanwhile'> {
  overrides: readonly SavedVmOverride[]
  options: Pick<RestoreOptions, 'timeout' | 'dryRun' | 'limits'>
}

/** Gives back to every VM that runs and that nobody changed meanwhile (night W1); the others ask, and are in `error`. */
async function restoreVms(cx: Context, settingsWork: SettingsWork, terms: VmTerms): Promise<VmsEnd> {
  const { overrides, meanwhile, options } = terms
  const { environment, installation } = settingsWork
  const asks = overrides.filter(({ overrideStatus }) => waitsForAnswer(overrideStatus, meanwhile))
  const restoring = overrides.filter((override) => !asks.includes(override))
  const vms = [...restoring.map((override) => restoredVm(override, meanwhile)), ...asks.map(vmThatAsks)]
  const error = asks.length > 0 ? { error: someAsk(asks) } : {}
  if (restoring.length === 0) return { vms, steps: [], ...error }
  const refused: RefusedVms = new Map()
  const procedure = procedureOn(settingsWork, restoring, { meanwhile, refused })
  const change: Change = {
    procedure,
    ...gateOf(cx, [], []),
    rights: workloadsAccess(installation.namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
    announce: () => announceVms(cx, vms),
    question: `${meanwhile === 'keep-current' ? 'Keep the present values of' : 'Restore the original settings of'} ${countText(restoring.length)}?`,
    limits: options.limits ?? { timeoutMs: parseDuration(options.timeout) },
  }
  const ended = await performChange({ environment, change, dryRun: options.dryRun })
  if (ended.is === 'dry-run') return { vms, ...ended.fields, ...error }
  const after = vms.map((vm) => refusedOr(vm, refused.get(vmNameOf(vm))))
  return { vms: after, steps: [], ...(refused.size > 0 ? { error: someRefused(after) } : error) }
}

function procedureOn(
  { owner }: SettingsWork,
  restoring: readonly SavedVmOverride[],
  { meanwhile, refused }: { meanwhile: Meanwhile; refused: RefusedVms },
): Procedure {
  const settled = settledFor(owner.kubevirt, { id: 'healthy', title: 'KubeVirt is healthy', stableMs: 0 })
  const steps = restoring.map(({ ref }) => restoreVm(ref, meanwhile, refused))
  return {
    name: 'restore VMs',
    overrides: [],
    reached: async (reading) => {
      for (const step of steps) if ((await step.check(reading)).is !== 'done') return false
      return true
    },
    steps: async () => (meanwhile === 'keep-current' ? steps : [settled, ...steps]),
  }
}
