import type { ClusterVersion, PlatformRelease } from '../../lib/kube/kinds/openshift-kinds.ts'
import {
  compareReleases,
  type OpenShiftShape,
  type Release,
  releaseNumber,
  releaseOf,
  sameMinor,
} from './openshift-shape.ts'
import { stated, withConditions, worded } from './platform-context.ts'
import { condition, type Condition } from '../../lib/kube/object.ts'

/** What `spec.desiredUpdate` comes to (ocp 3.1, 3.2): what is said of it at once, or what is known once it is fetched, a release or why it cannot be had. */
export type Request = { says: Condition } | { fetches: Condition | Release; force: boolean }

interface Wanted {
  version: string
  image: string
  force: boolean
  graph: readonly Release[]
}

/** Pure. A version alone has to be known to the cluster; a version with an image has to be that image's. */
export function requestOf({ spec, status = {} }: ClusterVersion, graph: readonly Release[]): Request {
  const { version = '', image = '', force = false } = spec?.desiredUpdate ?? {}
  const wanted = { version, image, force, graph }
  return (
    (image === '' ? byVersion(status, wanted) : byImage(status, wanted)) ?? { says: accepted(status.desired) }
  )
}

function byImage({ desired }: Status, { version, image, force, graph }: Wanted): Request | undefined {
  const found = graph.find((one) => one.image === image)
  const release = named({ version, image })
  if (!found) return { fetches: stated('unsigned', { release, image }), force }
  if (version !== '' && found.version !== version)
    return { fetches: stated('mismatched', { release, found: found.version, version }), force }
  return image === desired?.image ? undefined : { fetches: found, force }
}

function byVersion(status: Status, { version, force, graph }: Wanted): Request | undefined {
  const { desired, history = [], availableUpdates, conditionalUpdates = [] } = status
  if (version === '' || version === desired?.version) return undefined
  const offered = [...(availableUpdates ?? []), ...conditionalUpdates.map((update) => update.release)]
  const isKnown = [...history, ...offered].some((one) => one?.version === version)
  const release = isKnown ? releaseOf(graph, version) : undefined
  if (release) return { fetches: release, force }
  return { says: stated('invalid', { value: JSON.stringify(version) }) }
}

type Status = NonNullable<ClusterVersion['status']>

/** As conditions name a release. */
const named = ({ version = '', image = '' }: { version?: string; image?: string } = {}): string =>
  `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`

const accepted = (release: Release | PlatformRelease | undefined): Condition =>
  stated('accepted', { release: named(release) })

/** ReleaseAccepted while what is asked for is fetched and verified. */
export const retrieving = ({ spec }: ClusterVersion): Condition =>
  stated('retrieving', { release: named(spec?.desiredUpdate ?? {}) })

/** The status once what is asked for is known: begun, or refused with `status.desired` and the history as they were (ocp 3.2). Pure; `at`: RFC 3339. */
export function decided(version: ClusterVersion & { status: Status }, request: Request, at: string): Status {
  const { status } = version
  const say = (said: Condition): Status => {
    const kept = status.conditions?.filter(({ type }) => type !== 'Invalid' || said.type === type)
    return { ...status, conditions: withConditions(kept, [said], at) }
  }
  if ('says' in request) return say(request.says)
  const { fetches: release, force } = request
  if ('type' in release) return say(release)
  const why = force ? '' : preconditionFailure(version, release.version)
  if (why !== '') return say(stated('unmet', { release: named(release), why }))
  const [last, ...before] = status.history ?? []
  // An update that another one overtakes stays Partial, and ends there.
  const overtaken = last?.state === 'Partial' ? [{ ...last, completionTime: at }] : last ? [last] : []
  const { version: to, image } = release
  const begins = { state: 'Partial', version: to, image, startedTime: at, completionTime: null } as const
  return {
    ...say(accepted(release)),
    desired: platformRelease(release),
    versionHash: image.slice(-11),
    history: [{ ...begins, verified: true }, ...overtaken, ...before].slice(0, 100),
  }
}

interface Hop {
  observed: ClusterVersion
  from: string
  to: string
}

/** What has to hold before an update begins: each with the reason and the message of what is in its way. */
const preconditions: Readonly<Record<string, (hop: Hop) => [reason: string, message: string] | undefined>> = {
  /** Upgradeable=False is in the way of another minor, overrides of any update. */
  ClusterVersionUpgradeable({ observed, from, to }) {
    const said = condition(observed, 'Upgradeable')
    const isOverridden = (observed.spec?.overrides ?? []).length > 0
    const isForward = compareReleases(to, from) > 0 && !sameMinor(from, to)
    if (said?.status !== 'False' || !(isForward || isOverridden)) return undefined
    return [said.reason ?? '', said.message ?? '']
  },
  ClusterVersionRollback({ observed, from, to }) {
    if (compareReleases(to, from) >= 0) return undefined
    const previous = observed.status?.history?.find(({ version }) => version !== from)?.version
    if (previous === to && sameMinor(from, to)) return undefined
    const why =
      previous === to ? worded('rollbackMinor') : worded('rollbackOther', { previous: previous ?? 'none' })
    return ['LowDesiredVersion', worded('rollback', { from, to, why })]
  },
  ClusterVersionGiantHop({ from, to }) {
    const [here, there] = [releaseNumber(from), releaseNumber(to)]
    const [fromMajor, fromMinor, toMajor, toMinor] = [here.major, here.minor, there.major, there.minor]
    const words = { from, to, fromMajor, fromMinor, toMajor, toMinor }
    if (toMajor > fromMajor) {
      const isNext = fromMajor === 4 && toMajor === 5 && toMinor === 0
      return isNext ? undefined : ['MajorVersionUpdate', worded('giantMajor', words)]
    }
    if (toMajor < fromMajor || toMinor <= fromMinor + 1) return undefined
    return ['MultipleMinorVersionsUpdate', worded('giantMinor', words)]
  },
}

/** Why an update to that version is not begun, in the words of ReleaseAccepted; empty where nothing is in the way (ocp 3.2). */
function preconditionFailure(observed: ClusterVersion, to: string): string {
  const from = observed.status?.desired?.version ?? ''
  const failures = Object.entries(preconditions).flatMap(([name, failureOf]) => {
    const [reason, message] = failureOf({ observed, from, to }) ?? []
    return reason === undefined ? [] : [worded('precondition', { name, reason, message })]
  })
  return failures.length > 1 ? worded('preconditions', { each: failures.join('\n* ') }) : failures.join('')
}

function unknown(status: Status): Status {
  const { conditionalUpdates: _, ...rest } = status
  return { ...rest, availableUpdates: null }
}

/** No updates are known while they are fetched anew, for another channel, and nothing says that they were retrieved: with RetrievedUpdates=True null is "none". */
export function withoutUpdates(status: Status): Status {
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== 'RetrievedUpdates')
  return { ...unknown(status), conditions }
}

interface Asked {
  channel: string
  graph: readonly Release[]
  /** RFC 3339. */
  at: string
  /** Whether the update service does. */
  answers: boolean
}

/** What the update service says, or that it does not answer (ocp 3.1: null is not "none"): the edges within the channel, the newest first (ocp 3.7). Pure. */
export function withUpdates(status: Status, { channel, graph, at, answers }: Asked): Status {
  const say = (on: Status, said: Condition): Status => ({
    ...on,
    conditions: withConditions(on.conditions, [said], at),
  })
  const version = status.desired?.version
  const here = releaseOf(graph, version)
  if (channel === '') return say(unknown(status), stated('noChannel'))
  if (!answers) return say(unknown(status), stated('remoteFailed'))
  if (here?.channels.includes(channel) !== true)
    return say(unknown(status), stated('versionNotFound', { version, channel }))
  const offered = (to: string): Release[] =>
    graph.filter((one) => one.version === to && one.channels.includes(channel))
  const availableUpdates = here.to
    .flatMap(offered)
    .sort((a, b) => compareReleases(b.version, a.version))
    .map(platformRelease)
  const conditionalUpdates = (here.conditional ?? []).flatMap(({ to, risk, message }) =>
    offered(to).map((release) => {
      const url = `https://issues.example/${risk}`
      const known = status.conditionalUpdates?.find((update) => update.release?.version === to)
      const fresh = withConditions([], [stated('notRecommended', { risk, message })], at)
      return {
        release: platformRelease(release),
        risks: [{ name: risk, message, url, matchingRules: [{ type: 'Always' }] }],
        conditions: known?.conditions ?? fresh,
      }
    }),
  )
  return say({ ...status, availableUpdates, conditionalUpdates }, stated('retrieved'))
}

/** As a ClusterVersion names a release. */
export const platformRelease = ({ version, image, channels }: Release): PlatformRelease => ({
  version,
  image,
  channels: [...channels],
})

/** The graph as the update service answers it, in JSON: releases, edges between their places, and edges that carry a risk. */
export function servedGraph({ graph }: Pick<OpenShiftShape, 'graph'>): string {
  const place = new Map(graph.map(({ version }, index) => [version, index]))
  const url = 'https://docs.example.com/risks'
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
        risks: [{ name: risk, message, url, matchingRules: [{ type: 'Always' }] }],
      })),
    ),
  })
}
