import { pausedAnnotation } from './plan/eus-snapshot.ts'
import type { Entry, Override } from '../engine/journal.ts'
import type { ReadContext, RunEvent, Step, StepState } from '../engine/step.ts'
import { KvupError } from '../kube/errors.ts'
import { platformOfOperator } from '../releases/releases.ts'
import {
  compareMinors,
  compareOperatorVersions,
  comparePlatforms,
  minorOfPlatform,
  operatorVersionOf,
  platformMinorOf,
  platformVersionOf,
} from '../releases/release-versions.ts'
import { eusProcedure } from './eus-procedure.ts'
import type { EusWindow } from './window.ts'
import type { Reader, Where } from '../kube/cluster.ts'
import {
  ClusterOperators,
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../kube/kinds/openshift-kinds.ts'
import { listServed } from '../kube/known.ts'
import { assessPool } from '../openshift/machine-config-pools.ts'
import { readOwner } from '../vms/strategy/settings-owner.ts'
import { methodsOf, type Owner } from '../vms/update-methods.ts'
import type { Kind } from '../kube/object.ts'
import { ConfigMaps } from '../kube/kinds/core-kinds.ts'
import {
  ClusterServiceVersions,
  HyperConvergeds,
  InstallPlans,
  OperatorConditions,
  Subscriptions,
} from '../kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import { ChangeSignal, notifyOnChange } from '../kube/change-signal.ts'
import { type Clock, seconds } from '../kube/clock.ts'

/** Where one step stands; those behind the first that is not done are not asked. */
export interface StepStatus {
  id: string
  title: string
  state: StepState['is'] | 'ahead' | 'unknown'
  note?: string
  /** RFC 3339. */
  since?: string
  remedy?: readonly string[]
}

/**
 * `check` of every step until one is not done: there is no other state of a window. Before the step `at` the run that is at work has passed all of them: nodes that reboot
 * now make KubeVirt no step to be waited for again. Reads only.
 */
export async function stepStatuses(
  steps: readonly Step[],
  cx: ReadContext,
  at?: string,
): Promise<readonly StepStatus[]> {
  const statuses: StepStatus[] = []
  const passed = steps.findIndex(({ id }) => id === at)
  let isAhead = false
  for (const [index, step] of steps.entries()) {
    if (isNotedOnly(step.id)) continue
    const stepStatus: StepStatus = isAhead ? plain(step, 'ahead') : await statusOf(step, cx)
    const isPassed = index < passed && stepStatus.state !== 'done'
    statuses.push(isPassed ? plain(step, 'done') : stepStatus)
    isAhead ||= stepStatus.state !== 'done' && !isPassed
  }
  return statuses
}

/** The last of these steps that the run which is at work since then has made; undefined where it made none, or nobody is at work. */
export async function stepAtWork(
  window: Pick<EusWindow, 'name'>,
  { steps, since }: { steps: readonly Step[]; since: string | undefined },
  { journal }: Pick<ReadContext, 'journal'>,
): Promise<string | undefined> {
  if (since === undefined) return undefined
  const made = madeBy(
    window.name,
    (await journal.entries()).filter(({ at }) => Date.parse(at) >= Date.parse(since)),
  )
  return steps.findLast(({ id }) => made.has(id))?.id
}

/** Which releases were chosen is noted anew where a look knows others, as one without the files does: no state of the window. */
const isNotedOnly = (id: string): boolean => id === 'keep-path'

const plain = ({ id, title }: Step, state: StepStatus['state']): StepStatus => ({ id, title, state })

async function statusOf(step: Step, cx: ReadContext): Promise<StepStatus> {
  try {
    return { ...plain(step, 'done'), ...wordsOf(await step.check(cx)) }
  } catch (error) {
    if (error instanceof KvupError) return { ...plain(step, 'unknown'), note: error.message }
    throw error
  }
}

function wordsOf(state: StepState): Pick<StepStatus, 'state' | 'note' | 'since' | 'remedy'> {
  const remedy = 'remedy' in state && state.remedy ? { remedy: state.remedy } : {}
  const since = 'since' in state && state.since !== undefined ? { since: state.since } : {}
  const note = noteOf(state)
  return { state: state.is, ...since, ...remedy, ...(note !== undefined && { note }) }
}

function noteOf(state: StepState): string | undefined {
  if (state.is === 'done') return state.note
  if (state.is === 'todo') return state.change
  if (state.is === 'blocked') return state.by
  const why = state.is === 'stalled' ? state.why : state.trouble
  return why === undefined ? state.on : `${state.on}: ${why}`
}

/** A part of a window as people name it. */
export interface Part {
  name: string
  state: 'done' | 'now' | 'ahead'
  note?: string
}

/** One line for each part. What the platform has left behind is for the caller to put before. */
export function partsOf(statuses: readonly StepStatus[]): readonly Part[] {
  const names = partNames(statuses.map(({ id }) => id))
  const found: { name: string; steps: StepStatus[] }[] = []
  for (const [at, stepStatus] of statuses.entries()) {
    const last = found.at(-1)
    const name = names[at] ?? ''
    if (last?.name === name) last.steps.push(stepStatus)
    else found.push({ name, steps: [stepStatus] })
  }
  return found.map(({ name, steps }) => partOf(name, steps))
}

function partOf(name: string, steps: readonly StepStatus[]): Part {
  const open = steps.find(({ state }) => state !== 'done')
  const state = open === undefined ? 'done' : open.state === 'ahead' && open === steps[0] ? 'ahead' : 'now'
  const note = open === undefined ? doneNote(name, steps) : open.note
  return { name, state, ...(note !== undefined && { note }) }
}

function doneNote(name: string, steps: readonly StepStatus[]): string | undefined {
  const pools = steps.flatMap(({ id }) => /^pause-(?!health-check-)(.+)$/u.exec(id)?.[1] ?? [])
  if (name === pausesPools && pools.length > 0) return `${pools.join(', ')} (master never)`
  return steps.findLast((step) => step.note !== undefined)?.note
}

/** What is borrowed, as a person names it: `automatic VM updates, 2 pools, 1 health check`. */
export function overridesText(overrides: readonly Pick<Override, 'id'>[]): string {
  const count = (prefix: string) => overrides.filter(({ id }) => id.startsWith(prefix)).length
  const [pools, checks] = [
    count('pool-paused/'),
    count('machine-health-check/') + count('node-health-check/'),
  ]
  const named = [
    count('workload-updates') > 0 && 'automatic VM updates',
    pools > 0 && `${pools} ${pools === 1 ? 'pool' : 'pools'}`,
    checks > 0 && `${checks} ${checks === 1 ? 'health check' : 'health checks'}`,
    count('approval') > 0 && 'approval of the Subscription',
    count('platform-channel') > 0 && 'update channel',
    count('desired-update') > 0 && 'update request',
  ]
  return named.filter((one) => one !== false).join(', ')
}

/** What a person reads of them: what is done, in the imperative, whether it is ahead or behind. */
export const pausesPools = 'Pause pools'
export const platformPart = (release: string): string => `Update the platform to ${release}`
export const virtualizationPart = (minor: string): string => `Update virtualization to ${minor}`

/** Parts by the ids of their steps, in their order; a step that fits none belongs to the part before it. */
const parts: readonly (readonly [fits: RegExp, name: (id: string) => string])[] = [
  [
    /^(?:launchers-current|keep-baseline|keep-path|pause-workload-updates)$/u,
    () => 'Pause automatic VM updates',
  ],
  [/^pause-|^approval$/u, () => pausesPools],
  [
    /^(?:gate-platform|operator-way|channel|request|accepted|platform|control-plane)-\d/u,
    (id) => platformPart(stopIn(id)),
  ],
  [/^gate-\d+\.\d+$/u, (id) => platformPart(minorIn(id))],
  [/^operator-(?:releases-|channel-)?\d+\.\d+/u, (id) => virtualizationPart(minorIn(id))],
  [/^(?:healthy|forecast|resume-workload-updates)$/u, () => 'Resume automatic VM updates'],
  [/^(?:room|unpause|rolled)-/u, () => 'Unpause pools'],
]

const minorIn = (id: string): string => /\d+\.\d+/u.exec(id)?.[0] ?? ''

/** A hop that ends at a release and not at its minor is told by it: `4.18.21`, `4.19.0-okd-scos.16`. */
const stopIn = (id: string): string => /\d+\.\d.*$/u.exec(id)?.[0] ?? ''

/** The part that each step belongs to, as people name it; empty for what comes before the first that is known. */
function partNames(ids: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const [at, id] of ids.entries()) names.push(nameOf(id, names.at(-1) ?? '', ids.slice(at + 1)))
  return names
}

function nameOf(id: string, before: string, behind: readonly string[]): string {
  const named = parts.find(([fits]) => fits.test(id))?.[1](id)
  return named ?? (isOperators(id) ? operatorsName(behind) : undefined) ?? before
}

/** Steps of a hop of the operator bear its version. */
const isOperators = (id: string): boolean => /-\d+\.\d+\.\d+/u.test(id)

/** They come before the step that says which minor of the platform the operator is of. */
function operatorsName(behind: readonly string[]): string | undefined {
  const end = behind.find((id) => /^operator-\d+\.\d+$/u.test(id))
  return end && virtualizationPart(minorIn(end))
}

/** The same event, its steps with the parts that they are of: a terminal has a line for each part. */
export function withParts(event: RunEvent): RunEvent {
  if (event.kind !== 'run-started' && event.kind !== 'steps-known') return event
  const names = partNames(event.steps.map(({ id }) => id))
  const steps = event.steps.map((step, at) => ({ ...step, ...(names[at] && { part: names[at] }) }))
  return { ...event, steps }
}

/**
 * Whether a step lies behind a window: it is none of those that are left, and the window made it, or platform and operator are past where it leads; or, of `until`, all is
 * done up to it. A name that no window has is not behind. Reads only.
 */
export async function stepsBehind(
  window: EusWindow,
  cx: ReadContext,
  until: string | undefined,
): Promise<(id: string) => boolean> {
  const reading = { ...window, request: { ...window.request, stableMs: 0 } }
  const [steps, entries] = await Promise.all([eusProcedure(reading).steps(cx), cx.journal.entries()])
  const left = new Set(steps.map(({ id }) => id))
  const made = madeBy(window.name, entries)
  const isThrough = await areDone(steps.slice(0, steps.findIndex(({ id }) => id === until) + 1), cx)
  return (id) => (id === until && isThrough) || (!left.has(id) && (made.has(id) || isReached(id, window)))
}

async function areDone(steps: readonly Step[], cx: ReadContext): Promise<boolean> {
  const statuses = await stepStatuses(steps, cx)
  return statuses.length > 0 && statuses.every(({ state }) => state === 'done')
}

/** In the window that is open: another one before it may have borne the same name. */
function madeBy(name: string, entries: readonly Entry[]): ReadonlySet<string> {
  const own = entries.filter(({ procedure }) => procedure === name)
  const since = own.slice(own.findLastIndex(({ what }) => what === 'finished') + 1)
  return new Set(since.flatMap(({ what, step }) => (what === 'applied' ? [step.replace(/#.*$/u, '')] : [])))
}

const ofPlatform =
  /^(?:gate|gate-platform|operator-way|channel|request|accepted|platform|control-plane)-(?<release>\d+\.\d.*)$/u
const ofMinor = /^(?:gate|operator|operator-channel|operator-releases)-(?<release>\d+\.\d+)$/u
const ofOperator =
  /^(?:gate|install-plan|approve|plan-complete|csv-succeeded|hyperconverged-at|operands-rolled|operator-releases-\d+\.\d+-after)-(?<release>\d+\.\d+\.\d.*)$/u

function isReached(id: string, window: EusWindow): boolean {
  const named = (pattern: RegExp) => pattern.exec(id)?.groups?.['release'] ?? ''
  const [platform, minor, operator] = [ofPlatform, ofMinor, ofOperator].map(named)
  return (
    isPlatformAt(platform ?? '', window) ||
    isMinorAt(minor ?? '', window) ||
    isOperatorAt(operator ?? '', window)
  )
}

/** A hop of the platform ends at a minor, or at a release where another hop is of the same. */
function isPlatformAt(text: string, window: EusWindow): boolean {
  const [version, now] = [platformVersionOf(text), platformVersionOf(window.plan.from)]
  if (version === undefined || now === undefined) return isMinorAt(text, window)
  return comparePlatforms(version, now) <= 0 && compareMinors(platformMinorOf(version), window.began) >= 0
}

function isMinorAt(text: string, { plan, began }: EusWindow): boolean {
  if (!/^\d+\.\d+$/u.test(text)) return false
  return compareMinors(text, began) > 0 && compareMinors(text, minorOfPlatform(plan.from)) <= 0
}

function isOperatorAt(text: string, { plan, began, releases }: EusWindow): boolean {
  const [version, now] = [operatorVersionOf(text), operatorVersionOf(plan.operator?.version)]
  if (version === undefined || now === undefined || compareOperatorVersions(version, now) > 0) return false
  const minor = platformOfOperator(version, releases)
  return minor !== undefined && compareMinors(minor, began) > 0
}

/**
 * For how long it is harmless to leave a window as it stands: by the last step that is done. Where that one was only waited for, and the next has something to change,
 * nothing goes on by itself any more. Empty where no step is done.
 */
export function safeToLeave(
  steps: readonly Step[],
  statuses: readonly StepStatus[],
): { safeToLeave?: string } {
  const done = statuses.findLast(({ state }) => state === 'done')
  const last = steps.find(({ id }) => id === done?.id)
  const next = statuses.find(({ state }) => state !== 'done')
  const isOurTurn = next?.state === 'todo' || next?.state === 'blocked'
  if (last === undefined) return {}
  if ((last.apply === undefined || last.hurries) && isOurTurn)
    return { safeToLeave: 'always: nothing happens until you run it again' }
  return { safeToLeave: last.risk.safeToLeave }
}

/** What is held back still though kvup has nothing borrowed: others did it, or a journal that is gone. Sentences. Throws ApiError. */
export async function leftAsItIs(reader: Reader, kubevirt: Owner): Promise<readonly string[]> {
  const [pools, machines, nodes] = await Promise.all([
    reader.list(MachineConfigPools),
    listServed(reader, MachineHealthChecks),
    listServed(reader, NodeHealthChecks),
  ])
  const paused = pools.map(assessPool).filter((pool) => pool.paused && !pool.isMaster && pool.machines > 0)
  const checks = [
    ...machines.filter(({ metadata }) => Object.hasOwn(metadata.annotations ?? {}, pausedAnnotation)),
    ...nodes.filter(({ spec }) => (spec?.pauseRequests ?? []).length > 0),
  ]
  const methods = methodsOf(await readOwner(reader, kubevirt))
  return [
    ...paused.map(
      ({ name }) =>
        `pool ${name} is still paused, and not by this EUS upgrade: its nodes are not updated, and a later minor waits for them`,
    ),
    ...checks.map(
      ({ kind, metadata: { name } }) => `${kind} ${name} is still paused: failed nodes are not replaced`,
    ),
    ...(methods.length === 0 ? ['automatic VM updates are off: VMs keep their virt-launcher'] : []),
  ]
}

/** An update writes something every few seconds, and a look asks every step: one for all that happens within this time. */
const burst = 2 * seconds
/** A look without any change: what is asked of nodes and VMs is not followed. */
const readEvery = 20 * seconds

/**
 * Now, and whenever something changes that tells where a window stands. `namespace` is that of the operator and of the journal; undefined where there is
 * none. Ends by throwing the signal's reason.
 */
export async function* windowChanges(
  reader: Reader,
  { clock, signal, namespace }: { clock: Clock; signal: AbortSignal; namespace: string | undefined },
): AsyncGenerator<void> {
  const done = new AbortController()
  const changed = new ChangeSignal()
  try {
    notifyOnChange(reader, watchedIn(namespace), { changed, signal: AbortSignal.any([signal, done.signal]) })
    for (;;) {
      yield
      await changed.wait(clock, readEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

function watchedIn(namespace: string | undefined): readonly (readonly [Kind, Where])[] {
  const platform = [ClusterVersions, ClusterOperators, MachineConfigPools].map((kind) => [kind, {}] as const)
  if (namespace === undefined) return platform
  const operator: readonly Kind[] = [
    Subscriptions,
    InstallPlans,
    ClusterServiceVersions,
    OperatorConditions,
    HyperConvergeds,
    KubeVirts,
  ]
  return [
    ...platform,
    ...operator.map((kind) => [kind, { namespace }] as const),
    [ConfigMaps, { namespace, name: 'kvup-journal' }],
  ]
}
