import * as kube from '../kinds.ts'
import { control, foundIn, seconds } from '../machinery/controller.ts'
import { phaseDriver, type Phases } from '../machinery/phases.ts'
import {
  isTrue,
  minute,
  msSince,
  type Platform,
  stated,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { decided, requestOf, retrieving, withoutUpdates, withUpdates } from './cluster-updates.ts'
import { type Condition, condition } from '../../lib/kube/object.ts'
import { releaseNumber } from './openshift-shape.ts'

type Status = NonNullable<kube.ClusterVersion['status']>
type Version = kube.ClusterVersion & { status: Status }
type Operators = readonly kube.ClusterOperator[]

/** In ms: until a change is noticed, a release is fetched and verified, the update service has answered. */
const takes = { noticing: 2000, loading: 15_000, retrieving: 8000 }
/** How often an update under way is looked at, as the passing of time has no event of its own; in ms. */
const pollEvery = 15_000

const gates = { name: 'admin-gates', namespace: 'openshift-config-managed' }
const acks = { name: 'admin-acks', namespace: 'openshift-config' }

/** In ms: how long an operator may take, machine-config, and one that is degraded. */
const [slowAfter, slowMachines, degradedAfter] = [30 * minute, 90 * minute, 40 * minute] as const
/** How many manifests a release has; each operator stands for as many. */
const manifests = 901

/** What a look at the ClusterVersion finds; operators by name. */
interface VersionView {
  /** The version that it is at or on its way to, and how far it is. */
  words: { version: string; parts: number; all: number; percent: number }
  isUpdating: boolean
  isThrough: boolean
  underway: readonly string[]
  degraded: readonly string[]
  /** Those that take longer than expected, and those that are given up. */
  slow: readonly string[]
  exceeded: readonly string[]
  /** Writes these conditions, and what else is so now. */
  say: (...claims: readonly Condition[]) => Promise<void>
}

const fine = stated('notFailing')

/** Where the update stands, and whether it fails (ocp 3.1): Completed once every operator is there. */
const progress: Phases<kube.ClusterVersion, VersionView> = {
  kind: kube.ClusterVersions,
  phases: [
    {
      when: (_, { isUpdating, isThrough }) => isUpdating && isThrough,
      write: (_, { words, say }) => say(stated('available', words), fine, stated('atVersion', words)),
    },
    {
      when: (_, { isUpdating, degraded }) => !isUpdating && degraded.length > 0,
      write: (_, { words, degraded, say }) =>
        say(failing(degraded), stated('notReconciled', { ...words, ...namesIn(degraded, 'Degraded') })),
    },
    {
      when: (_, { isUpdating }) => !isUpdating,
      write: (_, { words, say }) => say(fine, stated('atVersion', words)),
    },
    {
      when: (_, { exceeded }) => exceeded.length > 0,
      write: (_, { words, exceeded, say }) =>
        say(failing(exceeded), stated('exceeded', { ...words, ...namesIn(exceeded, 'Degraded') })),
    },
    {
      when: (_, { degraded }) => degraded.length > 0,
      write: (_, { words, degraded, say }) =>
        say(fine, stated('waitingDegraded', { ...words, ...namesIn(degraded, 'Degraded') })),
    },
    {
      when: (_, { slow }) => slow.length > 0,
      write(_, { words, slow, say }) {
        const all = { ...words, ...namesIn(slow, 'Updating'), slow: slowWords(slow) }
        return say(stated('slow', all), stated('waitingSlow', all))
      },
    },
    {
      when: (_, { underway }) => underway.length > 0,
      write: (_, { words, underway, say }) =>
        say(fine, stated('waiting', { ...words, ...namesIn(underway, 'Updating') })),
    },
    { when: () => true, write: (_, { words, say }) => say(fine, stated('towards', words)) },
  ],
}

/** What stands for operators in conditions; `what` is the end of the reason: `ClusterOperatorDegraded`, `ClusterOperatorsUpdating`. */
function namesIn(of: readonly string[], what: 'Degraded' | 'Updating') {
  const names = of.join(', ')
  const [many, are] = of.length === 1 ? ['', 'is'] : ['s', 'are']
  return { names, reason: `ClusterOperator${many}${what}`, operators: `operator${many} ${names} ${are}` }
}

const failing = (of: readonly string[]): Condition => stated('failing', namesIn(of, 'Degraded'))

function slowWords(slow: readonly string[]): string {
  const others = slow.filter((name) => name !== 'machine-config')
  const machines = others.length < slow.length ? ['machine-config over 90 minutes'] : []
  return [...(others.length > 0 ? [`${others.join(', ')} over 30 minutes`] : []), ...machines].join(' and ')
}

/** Keeps the status of the ClusterVersion: whether an update is accepted, how far it is, which updates there are, and what stands in the way of another minor. */
export function runClusterVersion(cx: Platform): Promise<void> {
  const { graph } = cx.shape
  const places = [gates, acks].map(({ namespace }) => ({ kind: kube.ConfigMaps, where: { namespace } }))
  const watched = [{ kind: kube.ClusterVersions }, { kind: kube.ClusterOperators }, ...places, cx.faults]
  const advance = phaseDriver(cx, progress)
  const [fetches, retrieves] = [wait(takes.loading), wait(takes.retrieving)]
  const reconcile = async (): Promise<number | undefined> => {
    const [found] = await cx.reader.list(kube.ClusterVersions)
    if (!found?.status) return takes.noticing
    const [now, at] = [cx.clock.now(), seconds(cx)]
    const operators = await cx.reader.list(kube.ClusterOperators)
    const version = await judged(cx, { ...found, status: found.status }, operators)
    const { channel = '', desiredUpdate = null } = found.spec ?? {}
    const request = requestOf(version, graph)
    const fetching = 'fetches' in request ? fetches(JSON.stringify(desiredUpdate), now) : 0
    const asking = retrieves(channel, now)
    const status = decided(version, fetching > 0 ? { says: retrieving(version) } : request, at)
    const how = progressOf(status, operators, now)
    const say: VersionView['say'] = (...claims) => {
      const conditions = withConditions(status.conditions, claims, at)
      const next = { ...(how.isUpdating && how.isThrough ? completed(status, at) : status), conditions }
      const updates = { channel, graph, at, answers: cx.faults.on.updatesNotRetrieved !== true }
      const known = asking > 0 ? withoutUpdates(next) : withUpdates(next, updates)
      return writeStatus(cx, kube.ClusterVersions, found, known)
    }
    await advance(found, { ...how, say })
    if (fetching > 0 || asking > 0) return takes.noticing
    return how.isUpdating ? pollEvery : undefined
  }
  return control(cx, watched, reconcile, () => takes.noticing)
}

/** For how many ms more something goes on that begins when it is asked for another `what`: forgotten with the process, and begun again. */
function wait(ms: number): (what: string, now: Date) => number {
  let [known, until] = ['', 0]
  return (what, now) => {
    if (known !== what) [known, until] = [what, now.getTime() + ms]
    return Math.max(0, until - now.getTime())
  }
}

/** With what stands in the way of another minor, as of now. */
async function judged(cx: Platform, version: Version, operators: Operators): Promise<Version> {
  const read = async (ref: typeof gates) => foundIn(await cx.reader.get(kube.ConfigMaps, ref))
  const causes = causesOf({ version, operators, gates: await read(gates), acks: await read(acks) })
  const conditions = withUpgradeable(version.status.conditions ?? [], causes, seconds(cx))
  const observedGeneration = version.metadata.generation ?? 1
  return { ...version, status: { ...version.status, observedGeneration, conditions } }
}

/** The version that an operator is at, itself. */
export const operatorVersion = ({ status }: kube.ClusterOperator): string | undefined =>
  status?.versions?.find(({ name }) => name === 'operator')?.version

const isDegraded = ({ status }: kube.ClusterOperator): boolean => isTrue(status?.conditions, 'Degraded')
const isUnderway = (operator: kube.ClusterOperator): boolean =>
  isDegraded(operator) || isTrue(operator.status?.conditions, 'Progressing')

/** True when nothing of it is left to be done for that version. */
export const isAt = (operator: kube.ClusterOperator, version: string): boolean =>
  operatorVersion(operator) === version && !isUnderway(operator)

/** How far the operators are. */
function progressOf({ desired, history }: Status, operators: Operators, now: Date): Omit<VersionView, 'say'> {
  const to = desired?.version ?? ''
  const isUpdating = history?.[0]?.state === 'Partial'
  const done = operators.filter((operator) => isAt(operator, to)).length
  const parts = Math.round((manifests * done) / operators.length)
  const percent = Math.trunc((parts / manifests) * 100)
  const late = (operator: kube.ClusterOperator, most: number): boolean => takenBy(operator, now) > most
  const underway = operators.filter(isUnderway)
  return {
    words: { version: to, parts, all: manifests, percent },
    isUpdating,
    isThrough: done === operators.length,
    underway: namesOf(underway),
    degraded: namesOf(underway.filter(isDegraded)),
    slow: namesOf(underway.filter((one) => late(one, patience(one)))),
    exceeded: namesOf(underway.filter((one) => isDegraded(one) && late(one, degradedAfter))),
  }
}

const patience = ({ metadata }: kube.ClusterOperator): number =>
  metadata.name === 'machine-config' ? slowMachines : slowAfter
const takenBy = ({ status }: kube.ClusterOperator, now: Date): number =>
  msSince(status?.conditions, 'Progressing', now)
const namesOf = (operators: Operators): string[] => operators.map(({ metadata }) => metadata.name).sort()

function completed(status: Status, completionTime: string): Status {
  const [last, ...before] = status.history ?? []
  return { ...status, history: [{ ...last, state: 'Completed', completionTime }, ...before] }
}

/**
 * The conditions with what stands in the way of another minor: no `Upgradeable` at all where nothing does, one with the cause, or one
 * for all causes and a further condition for each. As in 4.x up to 4.20; newer ones word the reasons otherwise (ocp 3.2).
 */
function withUpgradeable(
  conditions: readonly Condition[],
  causes: readonly Condition[],
  at: string,
): Condition[] {
  const [only] = causes
  const reasons = causes.map(({ reason }) => reason).join(',')
  const messages = causes.map(({ message }) => message).join('\n* ')
  const many = () => [stated('manyReasons', { reasons, messages }), ...causes]
  const claims = only && causes.length === 1 ? [{ ...only, type: 'Upgradeable' }] : only ? many() : []
  const types = new Set(claims.map(({ type }) => type))
  const kept = conditions.filter(({ type }) => !type.startsWith('Upgradeable') || types.has(type))
  return withConditions(kept, claims, at)
}

interface Observed {
  version: Version
  operators: Operators
  gates: kube.ConfigMap | undefined
  acks: kube.ConfigMap | undefined
}

/** Each with the type that it has where there are several. */
function causesOf({ version, operators, ...maps }: Observed): Condition[] {
  const { history = [], conditions } = version.status
  // Gates are of the minor of the last one that was completed.
  const running = history.find(({ state }) => state === 'Completed') ?? history.at(-1)
  return [
    ...((version.spec?.overrides ?? []).length > 0 ? [stated('overridden')] : []),
    ...unacknowledged(maps, running?.version ?? ''),
    ...refusing(operators),
    ...(isTrue(conditions, 'Progressing') ? [stated('underway')] : []),
  ]
}

function refusing(operators: Operators): Condition[] {
  const causes = operators.flatMap((operator) => {
    const said = condition(operator, 'Upgradeable')
    if (said?.status !== 'False') return []
    const { reason = '', message = '' } = said
    return [{ name: operator.metadata.name, reason, message }]
  })
  if (causes.length <= 1) return causes.map((cause) => stated('operator', cause))
  const each = causes.map((cause) =>
    stated('operator', { ...cause, message: `${cause.reason}: ${cause.message}` }),
  )
  return [stated('operators', { each: each.map(({ message }) => message).join('\n* ') })]
}

/** What an administrator has not acknowledged of the gates of the running minor (ocp 3.3). Pure. */
function unacknowledged(
  { gates: all, acks: done }: Pick<Observed, 'gates' | 'acks'>,
  version: string,
): Condition[] {
  if (!all) return [stated('noGates')]
  if (!done) return [stated('noAcks')]
  const open = Object.entries(all.data ?? {}).flatMap(
    ([name, text]) => openGate(name, text, { ack: done.data?.[name], version }) ?? [],
  )
  const [first] = open
  if (!first) return []
  const isOneReason = open.every(({ reason }) => reason === first.reason)
  const messages = open.map(({ message = '' }) => message).sort()
  return [{ ...first, ...(!isOneReason && { reason: 'MultipleReasons' }), message: messages.join(' ') }]
}

/** A gate that is written wrongly stays closed whatever is acknowledged. */
function openGate(
  name: string,
  text: string,
  { ack, version }: { ack: string | undefined; version: string },
) {
  const minor = /^ack-(?<minor>[45][.]\d+)-[^-]/.exec(name)?.groups?.['minor']
  if (minor === undefined) return stated('gateName', { name })
  const running = releaseNumber(version)
  if (minor !== `${running.major}.${running.minor}`) return undefined
  if (text === '') return stated('gateValue', { name })
  return ack === 'true' ? undefined : stated('gateOpen', { text })
}
