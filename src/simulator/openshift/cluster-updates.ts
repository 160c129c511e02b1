import type { ClusterVersion, PlatformRelease } from '../../lib/kube/kinds/openshift-kinds.ts'
import {
  compareReleases,
  type ConditionalEdge,
  type OpenShiftShape,
  type Release,
  releaseNumber,
  releaseOf,
  sameMinor,
} from './openshift-shape.ts'
import { withConditions } from './platform-context.ts'
import { condition, type Condition } from '../../lib/kube/object.ts'
import { claim } from '../machinery/controller.ts'

/** What `spec.desiredUpdate` comes to (ocp 3.1, 3.2). */
export type Request =
  | { is: 'nothing' }
  | { is: 'invalid'; why: string }
  /** What is asked for cannot be had: `step` is the reason of ReleaseAccepted. */
  | { is: 'failed'; step: string; message: string }
  | { is: 'release'; release: Release; force: boolean }

const nothing = { is: 'nothing' } as const

/** Pure. A version alone has to be known to the cluster; a version with an image has to be that image's. */
export function requestOf({ spec, status }: ClusterVersion, graph: readonly Release[]): Request {
  const { version = '', image = '', force = false } = spec?.desiredUpdate ?? {}
  if (image !== '') return byImage(status, { version, image, force, graph })
  return version === '' ? nothing : byVersion(status, { version, force, graph })
}

interface Wanted {
  version: string
  force: boolean
  graph: readonly Release[]
}

function byImage(
  status: ClusterVersion['status'],
  { version, image, force, graph }: Wanted & { image: string },
): Request {
  const release = graph.find((r) => r.image === image)
  const asked = `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`
  if (!release) {
    const message = `Retrieving payload failed ${asked} failure=The update cannot be verified: unable to locate a valid signature for ${image}`
    return { is: 'failed', step: 'RetrievePayload', message }
  }
  if (version !== '' && release.version !== version) {
    const message = `Verifying payload failed ${asked} failure=release image version ${release.version} does not match the expected upstream version ${version}`
    return { is: 'failed', step: 'VerifyPayloadVersion', message }
  }
  return image === status?.desired?.image ? nothing : { is: 'release', release, force }
}

function byVersion(status: ClusterVersion['status'], { version, force, graph }: Wanted): Request {
  if (version === status?.desired?.version) return nothing
  const { history = [], availableUpdates, conditionalUpdates = [] } = status ?? {}
  const known = [
    ...history.map((h) => h.version),
    ...(availableUpdates ?? []).map((r) => r.version),
    ...conditionalUpdates.map((u) => u.release?.version),
  ]
  const release = known.includes(version) ? releaseOf(graph, version) : undefined
  if (release) return { is: 'release', release, force }
  const why = `The cluster version is invalid: spec.desiredUpdate.version: Invalid value: ${JSON.stringify(version)}: when image is empty the update must be a previous version or an available update`
  return { is: 'invalid', why }
}

type Status = NonNullable<ClusterVersion['status']>

/**
 * The status after a request was looked at: begun, or refused with `status.desired` and the history as they were (ocp 3.2). What is
 * refused is looked at again each time. `loading`: it is still being fetched. Pure; `at`: RFC 3339.
 */
export function withRequest(
  version: ClusterVersion & { status: Status },
  request: Request,
  { loading, at }: { loading: boolean; at: string },
): Status {
  const status = withValidity(version.status, request, at)
  const say = (said: Condition): Status => ({
    ...status,
    conditions: withConditions(status.conditions ?? [], [said], at),
  })
  if (request.is === 'invalid') return status
  if (request.is === 'nothing') return say(loaded(status.desired))
  if (loading) return say(retrieving(version.spec?.desiredUpdate ?? {}))
  const no = refusalOf({ ...version, status }, request)
  if (no !== undefined) return say(no)
  return request.is === 'release' ? begun(say(loaded(request.release)), request.release, at) : status
}

function refusalOf(version: ClusterVersion, request: Request): Condition | undefined {
  if (request.is === 'failed') return refused(request.step, request.message)
  if (request.is !== 'release' || request.force) return undefined
  const why = preconditionFailure(version, request.release.version)
  return why === undefined ? undefined : refused('PreconditionChecks', unmet(request.release, why))
}

const unmet = (release: Release, why: string): string =>
  `Preconditions failed for payload loaded ${named(release)}: ${why}`

interface Update {
  version?: string
  image?: string
}

const accepted = 'ReleaseAccepted'
const named = ({ version = '', image = '' }: Update): string =>
  `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`

const loaded = (release: Update = {}): Condition =>
  claim(accepted, 'True', 'PayloadLoaded', `Payload loaded ${named(release)} architecture="amd64"`)

const retrieving = (update: Update): Condition =>
  claim(accepted, 'Unknown', 'RetrievePayload', `Retrieving and verifying payload ${named(update)}`)

const refused = (reason: string, message: string): Condition => claim(accepted, 'False', reason, message)

function withValidity(status: Status, request: Request, at: string): Status {
  const { conditions = [] } = status
  if (request.is !== 'invalid')
    return { ...status, conditions: conditions.filter(({ type }) => type !== 'Invalid') }
  const invalid = claim('Invalid', 'True', 'InvalidClusterVersion', request.why)
  return { ...status, conditions: withConditions(conditions, [invalid], at) }
}

/** An update that another one overtakes stays Partial, and ends there. */
function begun(status: Status, release: Release, at: string): Status {
  const [last, ...before] = status.history ?? []
  const overtaken = last?.state === 'Partial' ? [{ ...last, completionTime: at }] : last ? [last] : []
  const { version, image } = release
  const begins = { startedTime: at, completionTime: null, verified: true }
  const next = { state: 'Partial' as const, version, image, ...begins }
  return {
    ...status,
    desired: platformRelease(release),
    versionHash: image.slice(-11),
    history: [next, ...overtaken, ...before].slice(0, 100),
  }
}

interface Failure {
  name: string
  reason: string
  message: string
}

/** Why an update to that version is not begun, in the words of ReleaseAccepted; undefined where nothing is in the way (ocp 3.2). Pure. */
function preconditionFailure(observed: Judged, target: string): string | undefined {
  const current = observed.status?.desired?.version ?? ''
  const failures = [
    ...upgradeable(observed, current, target),
    ...rollback(observed, current, target),
    ...giantHop(current, target),
  ].map((f) => `Precondition "${f.name}" failed because of "${f.reason}": ${f.message}`)
  if (failures.length <= 1) return failures[0]
  return `Multiple precondition checks failed:\n* ${failures.join('\n* ')}`
}

type Judged = Pick<ClusterVersion, 'spec' | 'status'>

/** Upgradeable=False is in the way of another minor, overrides of any update. */
function upgradeable(observed: Judged, current: string, target: string): Failure[] {
  const said = condition(observed, 'Upgradeable')
  const isForward = compareReleases(target, current) > 0 && !sameMinor(current, target)
  if (said?.status !== 'False' || !(isForward || isOverridden(observed))) return []
  const { reason = '', message = '' } = said
  return [{ name: 'ClusterVersionUpgradeable', reason, message }]
}

const isOverridden = ({ spec }: Judged): boolean => (spec?.overrides ?? []).length > 0

function rollback({ status }: Judged, current: string, target: string): Failure[] {
  if (compareReleases(target, current) >= 0) return []
  const previous = (status?.history ?? []).find(({ version }) => version !== current)?.version
  if (previous === target && sameMinor(current, target)) return []
  const why =
    previous === target
      ? "and matches the cluster's previous version, but rollbacks that change major or minor versions are not recommended"
      : `and the only supported rollback is to the cluster's previous version ${previous ?? 'none'}`
  const message = `${target} is less than the current target ${current}, ${why}`
  return [{ name: 'ClusterVersionRollback', reason: 'LowDesiredVersion', message }]
}

function giantHop(current: string, target: string): Failure[] {
  const [here, there] = [releaseNumber(current), releaseNumber(target)]
  const name = 'ClusterVersionGiantHop'
  if (there.major > here.major) {
    if (there.major === 5 && here.major === 4 && there.minor === 0) return []
    const message = `${target} has a larger major version than the current target ${current} (${there.major} > ${here.major}), and only updates within the current major version or to 5.0 are supported.`
    return [{ name, reason: 'MajorVersionUpdate', message }]
  }
  if (there.major < here.major || there.minor <= here.minor + 1) return []
  const message = `${target} is more than one minor version beyond the current target ${current} (${there.major}.${there.minor} > ${here.major}.(${here.minor}+1)), and only updates within the current minor version or to the next minor version are supported.`
  return [{ name, reason: 'MultipleMinorVersionsUpdate', message }]
}

interface Asked {
  channel: string
  graph: readonly Release[]
  /** RFC 3339. */
  at: string
}

/** No updates are known while they are fetched anew, for another channel, and nothing says that they were retrieved: with RetrievedUpdates=True null is "none". */
export function withoutUpdates(status: Status): Status {
  const { conditionalUpdates: _, conditions = [], ...rest } = status
  const others = conditions.filter(({ type }) => type !== 'RetrievedUpdates')
  return { ...rest, conditions: others, availableUpdates: null }
}

/** What the update service says, or that it does not answer (ocp 3.1: null is not "none"). Pure. */
export function withUpdates(status: Status, { channel, graph, at }: Asked, answers: boolean): Status {
  const say = (on: Status, ...said: [Condition['status'], reason?: string, message?: string]): Status => ({
    ...on,
    conditions: withConditions(on.conditions ?? [], [claim('RetrievedUpdates', ...said)], at),
  })
  const failed = (reason: string, message: string): Status =>
    say(withoutUpdates(status), 'False', reason, message)
  if (channel === '') return failed('NoChannel', 'The update channel has not been configured.')
  const unable = 'Unable to retrieve available updates: '
  if (!answers)
    return failed('RemoteFailed', `${unable}Get "https://updates.example/graph": context deadline exceeded`)
  const version = status.desired?.version ?? ''
  const known = updatesFrom(graph, { version, channel, at })
  if (!known)
    return failed(
      'VersionNotFound',
      `${unable}currently reconciling cluster version ${version} not found in the "${channel}" channel`,
    )
  const conditionalUpdates = known.conditionalUpdates.map((update) => asBefore(status, update))
  return say({ ...status, ...known, conditionalUpdates }, 'True')
}

type Conditional = NonNullable<Status['conditionalUpdates']>[number]

/** What was known of a risk keeps its time. */
function asBefore(status: Status, update: Conditional): Conditional {
  const before = status.conditionalUpdates?.find((u) => u.release?.version === update.release?.version)
  return before?.conditions ? { ...update, conditions: before.conditions } : update
}

type Updates = Required<Pick<Status, 'availableUpdates' | 'conditionalUpdates'>>

/** As a ClusterVersion names a release. */
export const platformRelease = ({ version, image, channels }: Release): PlatformRelease => ({
  version,
  image,
  channels: [...channels],
})

/** What the update service answers: the edges within the channel, the newest first; undefined where the channel does not have the release (ocp 3.7). */
function updatesFrom(
  graph: readonly Release[],
  { version, channel, at }: { version: string; channel: string; at: string },
): Updates | undefined {
  const here = graph.find((r) => r.version === version && r.channels.includes(channel))
  if (!here) return undefined
  const offered = (to: string): Release | undefined => {
    const release = releaseOf(graph, to)
    return release?.channels.includes(channel) === true ? release : undefined
  }
  const availableUpdates = here.to.flatMap((to) => offered(to) ?? []).sort(newestFirst)
  const conditionalUpdates = (here.conditional ?? []).flatMap((edge) => {
    const release = offered(edge.to)
    return release ? [conditionalUpdate(release, edge, at)] : []
  })
  return { availableUpdates: availableUpdates.map(platformRelease), conditionalUpdates }
}

const newestFirst = (a: Release, b: Release): number => compareReleases(b.version, a.version)

function conditionalUpdate(release: Release, { risk, message }: ConditionalEdge, lastTransitionTime: string) {
  const url = `https://issues.example/${risk}`
  return {
    release: platformRelease(release),
    risks: [{ name: risk, message, url, matchingRules: [{ type: 'Always' }] }],
    conditions: [{ ...claim('Recommended', 'False', risk, message), lastTransitionTime }],
  }
}

/** The graph as the update service answers it, in JSON: releases, edges between their places, and edges that carry a risk. */
export function servedGraph({ graph }: Pick<OpenShiftShape, 'graph'>): string {
  const place = new Map(graph.map(({ version }, index) => [version, index]))
  return JSON.stringify({
    version: 1,
    nodes: graph.map(({ version, image, channels }) => ({
      version,
      payload: image,
      metadata: { 'io.openshift.upgrades.graph.release.channels': channels.join(',') },
    })),
    edges: graph.flatMap(({ to }, from) => to.map((version) => [from, place.get(version)])),
    conditionalEdges: graph.flatMap(({ version, conditional = [] }) =>
      conditional.map(({ to, risk, message }) => ({
        edges: [{ from: version, to }],
        risks: [
          { name: risk, message, url: 'https://docs.example.com/risks', matchingRules: [{ type: 'Always' }] },
        ],
      })),
    ),
  })
}
