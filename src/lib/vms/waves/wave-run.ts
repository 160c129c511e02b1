import type { MeasureOptions } from '../../availability/measurement.ts'
import type { HopFinding } from '../../releases/hop-findings.ts'
import type { UpdatedVm, UpdateTotals, UpdateWanted } from './update-run.ts'
import { updateName } from './update-procedure.ts'
import { methodsText, overrideOn } from '../update-methods.ts'
import { methodsIn, ownerFinding } from '../strategy/settings-owner.ts'
import type { SettingsWork } from '../strategy/set-strategy.ts'
import { placeOfVm, selectionOf, selectsNothing } from '../vm.ts'
import { evictionFinding, forecastOutdated } from '../forecast/vm-forecast.ts'
import { dataLoss } from './vm-restart.ts'
import type { UpdateSnapshot } from './update-fleet.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import type { Unread } from '../../kube/readable-pages.ts'
import type { Order, ShownWave, Wave, WaveBy, WaveRunWanted } from './waves.ts'
import type { RestartedVm, RestartTotals } from './restart-procedure.ts'
import type { Access, Cluster, Reader } from '../../kube/cluster.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../kube/kinds/kubevirt-kinds.ts'
import { shellWord, withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import { type ChangeOptions, goesOn, type Rights } from '../../engine/change.ts'
import type { CommandContext } from '../../kube/world.ts'
import { counted, nearest, someOf } from '../../kube/text.ts'
import type { RunOutcome } from '../../engine/step.ts'
import { parseLabels } from '../../kube/object.ts'
import { parseDuration } from '../../kube/duration.ts'
import { usageError } from '../../kube/errors.ts'
import { nextOpening, type Pacing, parseWindow } from './pacing.ts'
import { shownWindow, type ShownWindow, type WaveTime, waveTimes, windowLines } from './window-schedule.ts'

/** What is in the namespaces of VMs. */
const ofVms: ReadonlySet<string> = new Set([
  'virtualmachines',
  'virtualmachineinstances',
  'virtualmachineinstancemigrations',
  'pods',
])

/** The same rights, asked for in these namespaces only: who may move the VMs of one need not be allowed to move all. Undefined: in all. */
export function narrowed(rights: Rights, namespaces: readonly string[] | undefined): Rights {
  if (namespaces === undefined) return rights
  const within = (access: Access): Access[] =>
    access.namespace === undefined && ofVms.has(access.resource)
      ? namespaces.map((namespace) => ({ ...access, namespace }))
      : [access]
  return { ...rights, required: rights.required.flatMap(within) }
}

/** Where the VMs of a run are; undefined: it may be all namespaces. */
export function namespacesOf(
  vms: Iterable<string>,
  { namespace, partly }: { namespace: string | undefined; partly: boolean },
): readonly string[] | undefined {
  if (namespace !== undefined) return [namespace]
  if (!partly) return undefined
  return [...new Set([...vms].map((vm) => placeOfVm(vm).namespace))]
}

/** `--waves` may name what is done already, so that the same line goes on: told, and not refused. */
export function warnOfWaves(
  { printer }: Pick<CommandContext, 'printer'>,
  { waves: { first } }: Pick<WaveRunWanted, 'waves'>,
  waves: readonly Wave[],
): void {
  const there = waves.flatMap(({ value }) => value ?? [])
  const without = first.filter((name) => !there.includes(name))
  if (without.length === 0 || waves.length === 0) return
  const others = there.filter((name) => !first.includes(name))
  const meant = without.map((name) => ({ name, near: nearest(name, others) }))
  const words = meant.map(({ name, near }) => (near === undefined ? name : `${name} (did you mean ${near}?)`))
  printer.warn(`these waves of --waves have no VM: ${words.join(', ')}`)
}

interface MovesByKubeVirt {
  methods: readonly string[]
  /** VMs that are to be moved still. */
  outdated: number
  moved: number
  moving: number
}

/** Of a run that asks for a canary although automatic VM updates are on: KubeVirt asks no canary. Undefined where it proves what it should. Pure. */
export function canaryText(
  { canary, waves: { canaries } }: Pick<WaveRunWanted, 'canary' | 'waves'>,
  { methods, outdated, moved, moving }: MovesByKubeVirt,
): string | undefined {
  if (methods.length === 0 || (canary === undefined && canaries === 0)) return undefined
  const isAtWork = moved + moving > 0
  if (!isAtWork && outdated === 0) return undefined
  const what = [...(moved > 0 ? [`${moved} moved`] : []), ...(moving > 0 ? [`${moving} moving`] : [])]
  return isAtWork
    ? `KubeVirt moves VMs by itself already (${what.join(', ')}): a canary proves nothing. To stop that: kvup workloads pause-updates`
    : `automatic VM updates (${methodsText(methods)}) are on: KubeVirt may move VMs before the canary. To stop that: kvup workloads pause-updates`
}

/** The same end of a run that did not reach all of it. */
export function endWith<E extends Pick<WaveRunDocument, 'outcome'>>(
  end: E,
  shortfall: string | undefined,
): E & Pick<WaveRunDocument, 'shortfall'> {
  if (shortfall === undefined || end.outcome === 'dry-run') return end
  return end.outcome === 'stopped' ? { ...end, shortfall } : { ...end, outcome: 'incomplete', shortfall }
}

/** How a run of waves ended, in the fields of its document. */
type RunEnd = Pick<WaveRunDocument, 'outcome' | 'stoppedBefore' | 'next'>

/** `borrowed`: commands that give back what is held meanwhile. */
export function endOfRun(
  { world }: CommandContext,
  outcome: RunOutcome,
  overrides: readonly string[],
): RunEnd {
  if (outcome.is === 'nothing-to-do') return { outcome: 'nothing-to-do' }
  if (outcome.is === 'finished') return { outcome: 'done' }
  const { step, because } = outcome
  return {
    outcome: 'stopped',
    stoppedBefore: { step: step.id, because: `--${because}` },
    next: [goesOn(world.commandLine), ...overrides],
  }
}

/** The end of a run that took one VM after the other, whatever it did to them. */
export interface WaveRunDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kubevirt: { name: string; namespace: string }
  /** `incomplete`: it came to its end, and VMs failed or are left out because they failed before; `stopped`: by a rule, a person, or its time; `dry-run`: a dry run. */
  outcome: 'done' | 'incomplete' | 'stopped' | 'nothing-to-do' | 'dry-run'
  /** Of one that did not reach all of it: `2 of 5 VMs failed`. */
  shortfall?: string
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  /** Of a dry run: whose turn comes when. */
  waves?: readonly ShownWave[]
  /** Of a dry run where VMs begin in windows alone: the one that is open or opens next. */
  window?: ShownWindow
  /** Of it, in sentences: when it opens, when each turn comes, and what it is too short for. */
  schedule?: readonly string[]
  /** Of a run that was asked to stop there. */
  stoppedBefore?: StoppedBefore
  /** Commands that go on, or give back what is borrowed still. */
  next?: readonly string[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
}

/** The end of `kvup workloads update`. */
export interface WorkloadsUpdateDocument extends WaveRunDocument {
  kind: 'WorkloadsUpdate'
  /** What was asked for; empty: the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  /** Somebody keeps automatic VM updates paused after its end. `at` in RFC 3339. */
  paused?: { by: string; at: string }
  totals: UpdateTotals
  /** What became of each VM that this run had to do with. */
  items: readonly UpdatedVm[]
}

/** The end of `kvup workloads restart`. */
export interface VmRestartsDocument extends WaveRunDocument {
  kind: 'VmRestarts'
  totals: RestartTotals
  /** What became of each VM that waits for a restart. */
  items: readonly RestartedVm[]
}

/** Where a run ended because it was asked to. */
export interface StoppedBefore {
  step: string
  because: string
}

/** False while somebody else holds them: then the update leaves them as they are. */
export async function pausesUpdates({ owner, holding, environment }: SettingsWork): Promise<boolean> {
  if (methodsIn(holding, owner).length > 0) return true
  return overrideOn(owner, await environment.journal.overrides())?.procedure === updateName
}

/** What was asked for; where KubeVirt's own updater is followed, what it shuts down is told of as well. */
export const wantedOf = (
  { wanted }: TypedUpdate,
  { watchOnly }: UpdateOptions,
  { owner, holding }: SettingsWork,
): UpdateWanted => (watchOnly ? { ...wanted, restart: methodsIn(holding, owner).includes('Evict') } : wanted)

/** What speaks against it: data that a restart loses, evictions once the methods are given back, an owner that undoes the hold. */
export async function updateFindings(
  snapshot: UpdateSnapshot,
  settingsWork: SettingsWork,
  typed: string,
): Promise<readonly HopFinding[]> {
  const { owner, holding, cluster, installation } = settingsWork
  const methods = methodsIn(holding, owner)
  const { kubevirt } = installation
  const interrupts = methods.includes('Evict') && snapshot.fleet.left.size > 0
  return [
    ...(methods.length > 0 ? ownerFinding(owner, holding) : []),
    ...dataLoss(
      snapshot.fleet.loses,
      `${withoutFlags(wordsOf(typed), { alone: ['--restart-unmigratable'], valued: [] }).join(' ')}     leaves these VMs alone`,
    ),
    ...(interrupts
      ? evictionFinding(methods, await forecastOutdated(cluster.reader, kubevirt, methods), [
          'kvup workloads pause-updates     first: then they stay paused at the end of this command',
        ])
      : []),
  ]
}

/** What is asked before VMs are moved: how many by what, and which of them come first. */
export function questionOf(moves: readonly ('migration' | 'restart')[], waves: readonly Wave[]): string {
  const restarts = moves.filter((by) => by === 'restart').length
  const canary = waves.find(({ id }) => id === 'canary')?.vms.map(({ vm }) => vm) ?? []
  const others = moves.length > canary.length ? ', the others if that succeeds' : ''
  const first = canary.length === 0 ? '' : ` (${someOf(canary)} first${others})`
  const migrations = `Migrate ${counted(moves.length - restarts, 'VM')}${first}`
  return restarts > 0 ? `${migrations} and restart ${restarts}, which interrupts them?` : `${migrations}?`
}

/** `2 VMs are not moved: not migratable: a host device (demo/gpu, demo/stuck)`: a line for each reason. */
export function notMovedLines(left: Iterable<{ vm: string; why: string }>): readonly string[] {
  return [...Map.groupBy(left, ({ why }) => why)].map(([why, all]) => {
    const is = all.length === 1 ? 'is' : 'are'
    return `${counted(all.length, 'VM')} ${is} not moved: ${why} (${someOf(all.map(({ vm }) => vm))})`
  })
}

/** The flags that `kvup workloads update` and `kvup workloads restart` share. */
export interface WaveRunOptions extends ChangeOptions {
  allNamespaces?: boolean
  selector?: string
  node?: string
  exclude: string[]
  canary?: string
  canaryLabel?: string
  waveBy?: string
  waves?: string
  order: Order
  parallel?: string
  maxFailures: string
  pauseBetween: string
  apartBy?: string
  soak: string
  window: string[]
  until?: string
  pauseBefore: string[]
  restartTimeout: string
}

/**
 * Throws `usage` where no running VM has the labels of `--canary-label` but those of `--exclude`: a label that was mistyped would leave out the canary, and move all VMs at once. One that
 * has moved already is there still. Neither may a name of `--exclude` or `--include` be mistyped: the VM that was meant would be moved, or left. Throws ApiError.
 */
export async function ensureNamedThere(
  cluster: Pick<Cluster, 'reader'>,
  { canaryLabel }: Pick<WaveRunOptions, 'canaryLabel'>,
  {
    selection: { namespace },
    exclude,
    include = new Set(),
  }: Pick<WaveRunWanted, 'selection' | 'exclude'> & Partial<Pick<UpdateWanted, 'include'>>,
): Promise<void> {
  const within = namespace === undefined ? '-A' : `-n ${shellWord(namespace)}`
  for (const vm of [...exclude, ...include])
    if (!(await isThere(cluster.reader, vm)))
      throw usageError('no-such-vm', `there is no VM ${vm} (--${exclude.has(vm) ? 'exclude' : 'include'})`, {
        remedy: `kubectl get vmi ${within}     lists those that run`,
      })
  if (canaryLabel === undefined) return
  const where = { labels: canaryLabel, ...(namespace !== undefined && { namespace }) }
  if (!(await selectsNothing(cluster, where, exclude))) return
  const others = exclude.size === 0 ? '' : ' and is not left out by --exclude'
  throw usageError(
    'no-canary',
    `no running VM${namespace === undefined ? '' : ` in namespace ${namespace}`} has the labels ${canaryLabel} (--canary-label)${others}: there would be no canary`,
    { remedy: `kubectl get vmi ${within} --show-labels` },
  )
}

/** One that does not run is there as well: it may have been stopped since the line was typed first. */
async function isThere(reader: Reader, vm: string): Promise<boolean> {
  const place = placeOfVm(vm)
  if ((await reader.get(VirtualMachineInstances, place)).is === 'object') return true
  return (await reader.get(VirtualMachines, place)).is === 'object'
}

/** What was typed, judged before the cluster is read. */
interface TypedWaveRun {
  wanted: WaveRunWanted
  timeoutMs: number
}

/** Throws `usage`. */
export function typedWaveRun(options: WaveRunOptions, namespace: string | undefined): TypedWaveRun {
  const timeoutMs = parseDuration(options.timeout)
  const waveBy = waveByOf(options.waveBy)
  const { canary, canaries } = canaryOf(options)
  return {
    timeoutMs,
    wanted: {
      selection: selectionOf(options, namespace),
      exclude: new Set(options.exclude.map((vm) => vmNamed(vm, '--exclude'))),
      waves: { order: options.order, first: firstWaves(options, waveBy), canaries },
      waveBy,
      ...(canary && { canary }),
      ...(options.apartBy !== undefined && { apartBy: labelKey(options.apartBy, '--apart-by') }),
      maxFailures: countOf(options.maxFailures, '--max-failures', 1),
      pacing: pacingOf(options),
      backWithin: parseDuration(options.restartTimeout),
    },
  }
}

const placeForm = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\/[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u

function vmNamed(typed: string, flag: '--exclude' | '--include'): string {
  if (placeForm.test(typed)) return typed
  throw usageError('vm-name', `${flag} takes NAMESPACE/NAME of a VM, not ${JSON.stringify(typed)}`, {
    remedy: 'kubectl get vmi -A     lists them',
  })
}

function pacingOf(options: WaveRunOptions): WaveRunWanted['pacing'] {
  const { parallel, pauseBetween, soak, window } = options
  return {
    parallel: parallel === undefined ? Infinity : countOf(parallel, '--parallel', 1),
    pause: parseDuration(pauseBetween),
    soak: parseDuration(soak),
    windows: window.map(parseWindow),
  }
}

function firstWaves({ waves }: WaveRunOptions, waveBy: WaveBy): readonly string[] {
  if (waves === undefined) return []
  if (waveBy.is !== 'one') return waves.split(',').map((one) => one.trim())
  throw usageError('contradiction', '--waves needs --wave-by: without it, there is only one wave', {
    remedy: '--wave-by label=KEY --waves A,B',
  })
}

/** A window that opens after the run is over never opens for it: throws `usage`. `now` is the cluster's, which has answered by then. */
export function ensureWindowOpens({ wanted, timeoutMs }: TypedWaveRun, now: Date): void {
  const opens = nextOpening(wanted.pacing.windows, now.getTime())
  if (opens !== undefined && opens < now.getTime() + timeoutMs) return
  const when = opens === undefined ? '' : `: the next one opens at ${new Date(opens).toISOString()}`
  throw usageError('window-never-opens', `no time window opens before the timeout${when}`, {
    remedy: '--timeout 7d waits that long',
  })
}

/** Windows, and what comes of them, as a dry run shows it and as it is said before the question. */
export interface WaveSchedule extends Pick<WaveRunDocument, 'window' | 'schedule'> {
  times: readonly WaveTime[]
}

/** Nothing where no window was typed. `pacing`: within the limits of the cluster. Pure. */
export function scheduleOf(
  waves: readonly Wave[],
  { pacing, timeoutMs, now }: { pacing: Pacing; timeoutMs: number; now: Date },
): WaveSchedule {
  const at = now.getTime()
  const times = waveTimes(waves, pacing, at)
  const window = shownWindow(pacing.windows, at)
  const schedule = windowLines(window, times, { now: at, ends: at + timeoutMs })
  return { times, ...(window && { window, schedule }) }
}

function canaryOf({ canary, canaryLabel }: WaveRunOptions): {
  canary?: ReturnType<typeof parseLabels>
  canaries: number
} {
  if (canary !== undefined && canaryLabel !== undefined)
    throw usageError('contradiction', '--canary and --canary-label exclude each other')
  if (canaryLabel === undefined)
    return { canaries: canary === undefined ? 0 : countOf(canary, '--canary', 1) }
  if (canaryLabel.trim() === '') throw notLabels('--canary-label is empty: it would select all VMs')
  return { canary: parseLabels(canaryLabel, notLabels), canaries: 0 }
}

const notLabels = (why: string) => usageError('label-selector', why, { remedy: '--canary-label tier=test' })

function waveByOf(typed: string | undefined): WaveBy {
  if (typed === undefined) return { is: 'one' }
  if (typed === 'namespace' || typed === 'node') return { is: typed }
  if (typed.startsWith('label='))
    return { is: 'label', key: labelKey(typed.slice('label='.length), '--wave-by label=') }
  throw usageError('wave-by', `--wave-by takes label=KEY, namespace or node, not ${JSON.stringify(typed)}`, {
    remedy: '--wave-by label=tier',
  })
}

function labelKey(typed: string, flag: string): string {
  if (/^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/u.test(typed)) return typed
  throw usageError('label-key', `${flag} takes the key of a label, not ${JSON.stringify(typed)}`)
}

/** A whole number. Throws `usage`. */
function countOf(typed: string, flag: string, least: number): number {
  const count = Number(typed)
  if (/^\d+$/u.test(typed) && count >= least && count < 2 ** 31) return count
  throw usageError('not-a-count', `${flag} takes a whole number from ${least}, not ${JSON.stringify(typed)}`)
}

export interface UpdateOptions extends WaveRunOptions, MeasureOptions {
  include: string[]
  retries: string
  restartUnmigratable?: boolean
  stalledAfter: string
  watchOnly?: boolean
  cancelRunning?: boolean
}

/** What was typed, judged before the cluster is read. */
export interface TypedUpdate extends TypedWaveRun {
  wanted: UpdateWanted
}

/** Kept migrations are five: of more failures the cluster does not tell (facts 3.3). */
const retriesAtMost = 4

/** Throws `usage`. */
export function typedUpdate(options: UpdateOptions, namespace: string | undefined): TypedUpdate {
  const { wanted, timeoutMs } = typedWaveRun(options, namespace)
  return {
    timeoutMs,
    wanted: {
      ...wanted,
      restart: options.restartUnmigratable === true,
      include: new Set(options.include.map((vm) => vmNamed(vm, '--include'))),
      retries: retriesOf(options),
      stillAtMost: parseDuration(options.stalledAfter),
    },
  }
}

function retriesOf({ retries }: UpdateOptions): number {
  const count = countOf(retries, '--retries', 0)
  if (count <= retriesAtMost) return count
  throw usageError(
    'too-many-retries',
    `--retries is at most ${retriesAtMost}: KubeVirt remembers five migrations of a VM`,
  )
}
