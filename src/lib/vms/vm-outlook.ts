import type { VirtualMachineInstance } from '../kube/kinds/kubevirt-kinds.ts'
import { condition } from '../kube/object.ts'
import {
  afterShutdown,
  type Decision,
  decisionOf,
  dueFor,
  effectiveEviction,
  isAlone,
  isMigrating,
  type Launcher,
  type Moving,
  moves,
  newerLauncher,
  type OutlookRules,
  takesRestart,
  type VmOutcome,
} from './workload-updater.ts'
import { controllerOf, isOfVm, lostData, restartLine, runStrategyOf, type Vm, vmName } from './vm.ts'
import { minutes, seconds } from '../kube/clock.ts'
import { spanText } from '../kube/duration.ts'
import { shellWord } from '../kube/shell-line.ts'
import { since } from '../kube/timestamps.ts'
import { quantity } from '../kube/quantity.ts'
import { valueAt } from '../kube/server-side-apply.ts'
import { moveWhilePaused } from './update-methods.ts'
import { narrowedLine, noMethodsText } from '../output/kvup-words.ts'

/** One cause of what becomes of a VMI. `id` is stable, for scripts; `text` is for a person and may hold words of the cluster. */
export interface Reason {
  id: string
  text: string
}

export const reason = (id: string, text: string): Reason => ({ id, text })

const words: Record<Decision, (vmi: VirtualMachineInstance, rules: OutlookRules) => Reason> = {
  migrate: () => reason('migratable', 'can be migrated'),
  'migrate-volumes': () => reason('volumes-move', 'can be migrated together with its volumes'),
  evacuate: () => reason('evacuates', 'Evict is on; its evictionStrategy makes that a migration'),
  'shut-down': (vmi) =>
    reason('evict-on', `${isMigratable(vmi) ? 'LiveMigrate is off' : notMigratable(vmi)}; Evict is on`),
  'no-methods': (vmi, { paused }) => whyNoMethods(vmi, paused !== undefined),
  'evict-off': (vmi) => reason('not-migratable', notMigratable(vmi)),
  denied: (vmi, rules) =>
    reason(
      'denied',
      `${notMigratable(vmi)}; evictionStrategy ${effectiveEviction(vmi, rules)} forbids eviction`,
    ),
  external: () => reason('external', 'evictionStrategy External: another tool has to move it'),
}

/** The reason behind a decision. */
function whyBy(decision: Decision, vmi: VirtualMachineInstance, rules: OutlookRules): Reason {
  return words[decision](vmi, rules)
}

function whyNoMethods(vmi: VirtualMachineInstance, paused: boolean): Reason {
  const why = noMethodsText(paused)
  return reason(paused ? 'paused' : 'no-methods', isMigratable(vmi) ? why : `${why}; ${notMigratable(vmi)}`)
}

const isMigratable = (vmi: VirtualMachineInstance) => condition(vmi, 'LiveMigratable')?.status === 'True'

/** Reasons of LiveMigratable in plain words (facts 3.6); one that is not among them is told as it is. */
const plainly: Readonly<Record<string, string>> = {
  DisksNotLiveMigratable: 'a disk is not shared',
  InterfaceNotLiveMigratable: 'a network interface',
  HotplugNotLiveMigratable: 'a hotplugged disk',
  CPUModeLiveMigratable: 'its CPU mode',
  VirtIOFSNotLiveMigratable: 'a virtiofs share',
  HostDeviceNotLiveMigratable: 'a host device',
  SEVNotLiveMigratable: 'SEV',
  SecureExecutionNotLiveMigratable: 'Secure Execution',
  TDXNotLiveMigratable: 'TDX',
  NoTSCFrequencyNotLiveMigratable: 'no TSC frequency',
  HypervPassthroughNotLiveMigratable: 'Hyper-V passthrough',
  PersistentReservationNotLiveMigratable: 'a persistent reservation',
  DecentralizedNotLiveMigratable: 'a migration between clusters',
}

function notMigratable(vmi: VirtualMachineInstance): string {
  const { status, reason: named = '' } = condition(vmi, 'LiveMigratable') ?? {}
  if (status !== 'False') return 'not known yet whether it can be migrated'
  const plain = Object.hasOwn(plainly, named) ? `${plainly[named]} (${named})` : named
  return plain === '' ? 'not migratable' : `not migratable: ${plain}`
}

interface End {
  /** Of the VM behind it; undefined: there is none, or it may not be read. */
  runStrategy: string | undefined
  loses: readonly string[]
}

/** What the end of its pod means: whether it comes back, and what is gone (night W2). */
function aboutEnd(
  outcome: VmOutcome,
  vmi: VirtualMachineInstance,
  { runStrategy, loses }: End,
): readonly Reason[] {
  const gone = loses.length > 0 ? [reason('loses-data', `loses data on ${loses.join(', ')}`)] : []
  return [aboutReturn(outcome, vmi, runStrategy), ...gone]
}

function aboutReturn(
  outcome: VmOutcome,
  vmi: VirtualMachineInstance,
  runStrategy: string | undefined,
): Reason {
  if (outcome === 'is lost') return reason('no-vm', 'it has no VM, and is lost')
  if (outcome === 'shuts down')
    return runStrategy === undefined
      ? reason('vm-unread', 'kvup may not read its VM: it may not restart')
      : reason('stays-down', `runStrategy ${runStrategy} does not restart it`)
  const owner = controllerOf(vmi)
  return runStrategy === undefined && owner
    ? reason('replaced', `${owner.kind} ${owner.name} creates another one`)
    : reason('comes-back', 'runStrategy Always restarts it')
}

/** What is to be said of the launcher that a VM runs on: it cannot go back to an older one, or it is very old (night W9). */
function aboutLauncher(launcher: Launcher | undefined): readonly Reason[] {
  if (launcher?.inUse) return [reason('no-way-back', 'it cannot be migrated back to an older virt-launcher')]
  const named = launcher?.version ?? 'its virt-launcher'
  return launcher?.old ? [reason('old-launcher', `${named} is more than a year old`)] : []
}

/** What becomes of one VMI, why, and what would change it. */
export interface Outlook {
  outcome: VmOutcome
  /** The first one decides; never empty. */
  why: readonly Reason[]
  /** Volumes whose content goes with its pod, `containerDisk root`, should it be shut down or restarted (night W2). */
  loses: readonly string[]
  /** Commands, in this order, that give it the new launcher where it would not get it by itself. */
  remedy: readonly string[]
}

/**
 * What KubeVirt will make of a VMI and the VM behind it in an update (facts 3.2 to 3.5, night W2 and W9). Pure. A VMI that is not running, is on its way already, or runs the
 * new launcher is left alone by KubeVirt: that is told as such.
 */
export function outlookOf(vmi: VirtualMachineInstance, vm: Vm | undefined, rules: OutlookRules): Outlook {
  const image = vmi.status?.launcherContainerImageVersion
  const launcher = image ? rules.launcher?.(image) : undefined
  const [outcome, first, decision] =
    notRunning(vmi) ?? tooNew(vmi, vm, rules) ?? leftAlone(vmi, rules, launcher) ?? decided(vmi, vm, rules)
  const loses = lostData(vmi)
  const why = [
    first,
    ...(ends.has(outcome) ? aboutEnd(outcome, vmi, { runStrategy: vm && runStrategyOf(vm), loses }) : []),
    ...(outcome === 'restart' && loses.length > 0
      ? [reason('loses-data', `that loses data on ${loses.join(', ')}`)]
      : []),
    ...aboutLauncher(launcher),
    ...(rules.updating && outcome !== 'stays' && outcome !== 'restart'
      ? [reason('updating', 'not before KubeVirt itself is updated')]
      : []),
  ]
  return { outcome, why, loses, remedy: remedyOf(outcome, vmi, vm, { decision, rules, first }) }
}

function remedyOf(
  outcome: VmOutcome,
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  stays: Stays & { first: Reason },
): readonly string[] {
  if (stays.first.id === 'migration-hangs')
    return [
      `kvup workloads migrations -n ${shellWord(vmi.metadata.namespace ?? '')}     shows why, and how to cancel it`,
    ]
  if (outcome === 'restart') return restartOf(vmi, vm, stays.rules)
  return outcome === 'stays' ? remedyFor(vmi, vm, stays) : []
}

const ends: ReadonlySet<VmOutcome> = new Set(['restarts', 'shuts down', 'is lost'])

type Judged = readonly [outcome: VmOutcome, why: Reason, decision?: Decision]

/** What the updater does not look at, or waits for (facts 3.2). */
function leftAlone(
  vmi: VirtualMachineInstance,
  rules: OutlookRules,
  launcher: Launcher | undefined,
): Judged | undefined {
  const { status } = vmi
  const moving = rules.migrating?.get(vmName(vmi))
  if (moving !== undefined || isMigrating(vmi)) return onItsWay(vmi, moving, rules)
  if (launcher?.inUse && dueFor(vmi, status?.launcherContainerImageVersion) === undefined)
    return ['stays', reason('current', 'already runs the new virt-launcher')]
  return undefined
}

/** KubeVirt gives up on a target pod that does not start after 15 minutes at the latest, and on one that moves no memory sooner. */
const hangsAfter = 30 * minutes
/** Seconds per GiB of the guest: the most that a release has given a migration by itself. */
const longestPerGiB = 800
const gibi = 2 ** 30
const unknownMemory = 16 * gibi

/** How its migration gets on, by what it says of itself: one that outlasts all that KubeVirt gives it ends no more. */
function onItsWay(vmi: VirtualMachineInstance, moving: Moving | undefined, { at }: OutlookRules): Judged {
  const from = moving?.since ?? vmi.status?.migrationState?.startTimestamp
  const age = at === undefined ? undefined : since(from, at)
  const span = age === undefined || age < 0 ? '' : ` for ${spanText(age)}`
  const phase = moving?.phase
  if (phase === '' || phase === 'Pending')
    return ['migrates', reason('migrating', `its migration has waited for its turn${span}`)]
  if (moving === undefined || age === undefined || age < longestMigration(vmi))
    return ['migrates', reason('migrating', `its migration has been running${span}`)]
  return ['stays', reason('migration-hangs', `its migration hangs: ${phase}${span}`)]
}

/** ms. By the guest's memory, and what KubeVirt gives each GiB of it: by the migration's own settings, where the VMI has them. */
function longestMigration({ spec, status }: VirtualMachineInstance): number {
  const { completionTimeoutPerGiB = 0 } = status?.migrationState?.migrationConfiguration ?? {}
  const perGiB = Math.max(completionTimeoutPerGiB, longestPerGiB) * seconds
  const guest =
    valueAt(spec, ['domain', 'memory', 'guest']) ??
    valueAt(spec, ['domain', 'resources', 'requests', 'memory'])
  return Math.max(hangsAfter, perGiB * ((quantity(guest) ?? unknownMemory) / gibi))
}

function notRunning({ metadata, status }: VirtualMachineInstance): Judged | undefined {
  const isGoing = metadata.deletionTimestamp !== undefined
  if (!isGoing && status?.phase === 'Running') return undefined
  const why = isGoing ? 'is being deleted' : `${status?.phase || 'no phase'}: only running VMs are moved`
  return ['stays', reason('not-running', why)]
}

/** KubeVirt went back, and this VM did not: no migration of it to what is older now can end well. */
function tooNew(vmi: VirtualMachineInstance, vm: Vm | undefined, rules: OutlookRules): Judged | undefined {
  const decision = decisionOf(vmi, rules)
  const newer = newerLauncher(vmi, rules)
  if (newer === undefined || !takesRestart(vmi, decision, rules)) return undefined
  const why = `runs the virt-launcher of ${newer.text}, newer than ${rules.installs ?? ''}: a migration to an older one fails`
  const isBare = vm === undefined && !(rules.vmsUnread && isOfVm(vmi))
  return isBare
    ? ['stays', reason('newer-launcher', `${why}, and it has no VM to restart it`)]
    : ['restart', reason('newer-launcher', `${why}; it needs a restart`)]
}

/** By the methods; `undefined` of `nodes` is taken for enough. */
function decided(vmi: VirtualMachineInstance, vm: Vm | undefined, rules: OutlookRules): Judged {
  const decision = decisionOf(vmi, rules)
  if (moves.has(decision) && isAlone(rules)) return ['stays', oneNode, decision]
  return [outcomeBy(decision, vmi, vm, rules), whyBy(decision, vmi, rules), decision]
}

const oneNode = reason('one-node', 'no other node takes VMs: its migrations would fail forever')

function outcomeBy(
  decision: Decision,
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  { vmsUnread }: OutlookRules,
): VmOutcome {
  if (moves.has(decision)) return 'migrates'
  if (decision !== 'shut-down') return 'stays'
  if (vm === undefined && vmsUnread && isOfVm(vmi)) return 'shuts down'
  return afterShutdown(vmi, vm && runStrategyOf(vm))
}

interface Stays {
  /** Undefined: something else than the methods leaves it where it is. */
  decision: Decision | undefined
  rules: OutlookRules
}

/** Commands that give the new launcher to a VMI that stays where it is; none where only waiting helps. */
function remedyFor(
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  { decision, rules }: Stays,
): readonly string[] {
  if (decision === undefined) return []
  const wouldMove = moves.has(decision) || (decision === 'no-methods' && isMigratable(vmi))
  if (wouldMove && isAlone(rules)) return ['kubectl get nodes -l kubevirt.io/schedulable=true']
  if (decision === 'no-methods' && isMigratable(vmi))
    return [
      rules.paused
        ? moveWhilePaused(rules.paused, rules.asked ?? {})
        : narrowedLine('kvup workloads update', rules.asked ?? {}),
    ]
  return isJudged(vmi) ? byRestart(vmi, vm, { decision, rules }) : [conditionsLine(vmi)]
}

/** The strategy that forbids evictions has to go as well, or the next drain is blocked by it. */
function byRestart(
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  { decision, rules }: Stays,
): readonly string[] {
  const restart = restartOf(vmi, vm, rules)
  return decision === 'denied' && vm ? [`kvup workloads unblock ${place(vmi)}`, ...restart] : restart
}

const isJudged = (vmi: VirtualMachineInstance) =>
  ['True', 'False'].includes(condition(vmi, 'LiveMigratable')?.status ?? 'Unknown')

const place = ({ metadata: { name, namespace = '' } }: VirtualMachineInstance) =>
  `${shellWord(name)} -n ${shellWord(namespace)}`

const conditionsLine = ({ metadata: { name, namespace = '' } }: VirtualMachineInstance) =>
  `kubectl -n ${shellWord(namespace)} get vmi ${shellWord(name)} -o jsonpath='{.status.conditions}'`

/** Halted and Once refuse a restart with 409 (facts 5, night W3); a bare VMI has no VM to restart. */
function restartOf(
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  { vmsUnread }: OutlookRules,
): readonly string[] {
  if (vm === undefined) return vmsUnread && isOfVm(vmi) ? [restartOfVmi(vmi)] : []
  const strategy = runStrategyOf(vm)
  if (strategy === 'Halted') return []
  return strategy === 'Once' ? byStopAndStart(vmi) : [restartOfVmi(vmi)]
}

const restartOfVmi = (vmi: VirtualMachineInstance): string =>
  restartLine({ name: vmi.metadata.name, namespace: vmi.metadata.namespace ?? '' }, lostData(vmi))

/** A start is refused until the instance is gone (lab "Seen with workloads" 17). */
function byStopAndStart(vmi: VirtualMachineInstance): readonly string[] {
  const { name, namespace = '' } = vmi.metadata
  const lost = lostData(vmi)
  return [
    `virtctl stop ${place(vmi)}     shuts the guest down${lost.length === 0 ? '' : `, and loses ${lost.join(', ')}`}`,
    `kubectl -n ${shellWord(namespace)} wait --for=delete vmi/${shellWord(name)} --timeout=5m`,
    `virtctl start ${place(vmi)}`,
  ]
}
