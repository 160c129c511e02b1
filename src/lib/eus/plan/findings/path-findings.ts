import { warning } from '../../../releases/hop-findings.ts'
import { makesCatalog } from '../../../releases/catalog-path.ts'
import { fetchesGraph } from '../../../releases/update-graph.ts'
import type { Finding } from '../../../checks/check-definition.ts'
import { compareMinors, minorOfPlatform, versionOfCsv } from '../../../releases/release-versions.ts'
import { asBlockers, type Judged, rotationOf } from '../eus-snapshot.ts'
import { onlyNextHop } from '../platform-path.ts'
import { isTooLong } from './platform-findings.ts'
import { channelBehind, channelFor, isOfOneMinor, operatorNow, type OperatorPath } from '../operator-path.ts'
import type { PackageManifest } from '../../../kube/kinds/operator-kinds.ts'
import { itemsOf, type Known } from '../../../kube/known.ts'
import type { EusHop } from '../eus-plan.ts'
import { bridgeNetworks, oldMaintenance } from '../../../openshift/platform-rules.ts'
import { hours } from '../../../kube/clock.ts'
import { someOf } from '../../../kube/text.ts'

/** What the graph and the channels lack for this way. */
export function pathFindings(judged: Judged): readonly Finding[] {
  if (isTooLong(judged)) return []
  return [...channelFindings(judged), ...closed(judged), ...unproven(judged), ...plain(judged)]
}

/** A later hop may find its channel; for the first one all would be borrowed, and then waited for what nobody offers. */
function channelFindings({ channel, route, chosen, snapshot }: Judged): readonly Finding[] {
  const [first] = chosen.stops
  if (channel.is !== 'missing' || first === undefined) return []
  const has = channel.offered.length === 0 ? 'none available' : channel.offered.join(', ')
  const missing: Finding = {
    id: 'channel-not-available',
    level: 'blocker',
    summary: `no channel of ${route.to} has ${snapshot.release} (${has}). ${channel.wanted} appears some weeks after its first release, and may need a newer patch first`,
    objects: ['clusterversion/version'],
    remedy: [
      'oc adm upgrade      shows the channels that there are',
      'name a minor that has a channel, with --to',
    ],
  }
  if (offers(snapshot, first)) return [missing]
  const release = first.stop.version ?? `a release of ${first.minor}`
  const summary = `${release}, the first step, is not offered in channel ${snapshot.platformStatus.channel ?? '(none)'}, and kvup finds no channel to set: ${missing.summary}`
  return [{ ...missing, id: 'first-hop-not-offered', summary }]
}

/** In the channel that is set: exactly what was chosen, or, where that is left to later, any of its minor. */
function offers(
  { platformStatus }: Judged['snapshot'],
  { minor, stop }: Judged['chosen']['stops'][number],
): boolean {
  const versions = (platformStatus.available ?? []).map(({ version = '' }) => version)
  return versions.some((one) =>
    stop.version === undefined ? minorOfPlatform(one) === minor : one === stop.version,
  )
}

function closed({ chosen }: Judged): readonly Finding[] {
  if (chosen.closed === undefined) return []
  const { is, why } = chosen.closed
  return [{ ...closedPaths[is], summary: why, objects: ['clusterversion/version'] }]
}

/** The newest of the minor in between may lead nowhere, and the pools would wait there (ocp 5.1). */
function unproven({ chosen }: Judged): readonly Finding[] {
  if (chosen.unproven === undefined || chosen.closed !== undefined) return []
  const { release, to } = chosen.unproven
  return [
    {
      id: 'path-unknown',
      level: 'not-checked',
      summary: `kvup does not know whether ${release} has an update path to ${to}: ${onlyNextHop}`,
      objects: ['clusterversion/version'],
      remedy: [
        fetchesGraph(to),
        'kvup eus plan --graph-file graph.json     plans again, with the whole upgrade path',
      ],
    },
  ]
}

const withCatalog = (minor: string | undefined): readonly string[] => [
  makesCatalog(minor),
  'kvup eus plan --catalog-file catalog.yaml     plans again, with the whole upgrade path of the operator',
]

const closedPaths: Readonly<Record<NonNullable<Judged['chosen']['closed']>['is'], Omit<Finding, 'summary'>>> =
  {
    'not-in-graph': {
      id: 'no-path-in-graph',
      level: 'blocker',
      remedy: ['plan again with the graph of another channel, or a later one, by --graph-file'],
    },
    'not-offered': {
      id: 'update-not-offered',
      level: 'blocker',
      remedy: ['oc adm upgrade      shows which updates are offered, and which are conditional'],
    },
    'not-retrieved': {
      id: 'updates-not-retrieved',
      level: 'blocker',
      remedy: [
        'oc get clusterversion version -o yaml      see RetrievedUpdates; a disconnected cluster needs an update service of its own',
      ],
    },
  }

/** Said, and no obstacle (night E10). */
function plain({ route, snapshot }: Judged): readonly Finding[] {
  if (route.plainBecause === undefined || route.minors.length === 0) return []
  const outage =
    snapshot.topology.is === 'single-node' ? '. VMs cannot migrate: each is down while the node reboots' : ''
  return [
    {
      id: 'no-window',
      level: 'info',
      summary: `no control-plane-only update: ${route.plainBecause}. The pools follow step by step${outage}`,
      remedy: [],
    },
  ]
}

/** What is known of the operator's way, where the platform is to go on to another minor (ocp 9.15): an operator without an edge is stranded behind it. */
export function operatorPathFindings({ operatorPath, hops, snapshot, route }: Judged): readonly Finding[] {
  const open = operatorPath?.open
  const leaves = hops.some(({ minor, platform }) => !platform.done && minor !== snapshot.here)
  if (open === undefined || !leaves) return []
  const remedy = withCatalog(snapshot.flavour === 'okd' ? undefined : route.to)
  return [open.is === 'none' ? stranded(open, remedy) : unknown(open, remedy)]
}

const releaseOf = (csv: string): string => versionOfCsv(csv)?.text ?? csv

type Open = NonNullable<OperatorPath['open']>

const stranded = ({ from, minor }: Open, remedy: readonly string[]): Finding => ({
  id: 'operator-stranded',
  level: 'blocker',
  summary: `the catalog has no upgrade path from operator ${releaseOf(from)} to a release of ${minor}: the operator cannot follow the platform`,
  objects: [`csv/${from}`],
  remedy,
})

const unknown = ({ from, minor }: Open, remedy: readonly string[]): Finding => ({
  id: 'operator-path-unknown',
  level: 'not-checked',
  summary: `kvup does not know whether the operator ${releaseOf(from)} has an upgrade path to a release of ${minor}: the cluster shows the releases of its catalog, but no upgrade path between them`,
  objects: [`csv/${from}`],
  remedy,
})

/**
 * Where each minor of the operator has a channel of its own (ocp 1.1): to which one each hop changes the Subscription, and what of it the catalog does not offer yet. Whether what is installed leads
 * on in it is another question.
 */
export function operatorChannelFindings(judged: Judged): readonly Finding[] {
  const now = operatorNow(judged.snapshot.snapshot)
  if (now === undefined) return []
  let set = now.channel
  return judged.hops.flatMap((hop) => {
    const found = inHop(judged, hop, set)
    set = channelBehind(hop.operators, set)
    return found
  })
}

function inHop(judged: Judged, { minor, operators }: EusHop, begin: string | undefined): readonly Finding[] {
  let set = begin
  return operators.flatMap(({ channel, version, done }) => {
    if (done) return []
    if (channel === undefined) return version === undefined ? withoutChannel(judged, minor, set) : []
    const from = set
    set = channel
    return [changed(judged, { minor, from, to: channel, version })]
  })
}

interface Change {
  minor: string
  from: string | undefined
  to: string
  version: string | undefined
}

function changed(judged: Judged, { minor, from, to, version }: Change): Finding {
  const { subscription, source, offered, unread } = catalogOf(judged)
  const what = `virtualization ${version ?? minor}: the channel of Subscription ${subscription} becomes ${to}${from === undefined ? '' : ` instead of ${from}`}`
  if (offered?.includes(to))
    return {
      id: 'operator-channel',
      level: 'info',
      summary: `${what}; catalog ${source} offers it`,
      remedy: [],
    }
  const why =
    offered === undefined
      ? `kvup does not know whether catalog ${source} offers it: ${unread ?? 'it does not list the package'}`
      : `catalog ${source} does not offer it now (${inWords(offered)})`
  return notOffered(judged, `${what}; ${why}`)
}

/** Not even the release is known. Where one channel has all minors nothing is to be set. */
function withoutChannel(judged: Judged, minor: string, set: string | undefined): readonly Finding[] {
  const { subscription, source, offered } = catalogOf(judged)
  if (offered === undefined || !isOfOneMinor(set)) return []
  const name = channelFor(minor, set, judged.releases)
  const which = name === undefined ? `no channel of ${minor}` : `no channel of ${minor}, such as ${name}`
  return [
    notOffered(
      judged,
      `virtualization ${minor}: catalog ${source} offers ${which} (${inWords(offered)}), and ${set}, the channel of Subscription ${subscription}, has no release of it`,
    ),
  ]
}

const inWords = (channels: readonly string[]): string =>
  channels.length === 0 ? 'it has no channel of the package' : `it has ${channels.join(', ')}`

function notOffered({ snapshot: { snapshot } }: Judged, summary: string): Finding {
  const { package: pack = '' } = operatorNow(snapshot) ?? {}
  return {
    id: 'operator-channel-not-offered',
    level: 'warning',
    summary: `${summary}. The operator waits for it, after the platform update`,
    remedy: [
      `oc get packagemanifest ${pack} -o yaml      shows its channels; those of a later minor may come with the catalog of that platform`,
      'pass the target catalog with --catalog-file',
    ],
  }
}

function catalogOf({ snapshot: { snapshot } }: Judged) {
  const { packageManifests, subscriptions } = snapshot.lifecycle
  const { namespace = '', name = '' } = operatorNow(snapshot)?.subscription ?? {}
  return {
    subscription: `${namespace}/${name}`,
    source: itemsOf(subscriptions)[0]?.spec?.source ?? '',
    offered: channelsIn(packageManifests),
    unread: packageManifests.known ? undefined : packageManifests.why,
  }
}

function channelsIn(manifests: Known<PackageManifest>): readonly string[] | undefined {
  const [manifest] = itemsOf(manifests)
  return manifest?.status?.channels?.flatMap(({ name }) => name ?? [])
}

/** Rules of single minors: what goes away with them, and what is over since. */
export function onceFindings(judged: Judged): readonly Finding[] {
  return [...removedApis(judged), ...maintenances(judged), ...networks(judged), ...certificates(judged)]
}

function removedApis({ hops, snapshot: { snapshot } }: Judged): readonly Finding[] {
  const apis = hops.flatMap(({ removedApis: gone, minor }) => gone.map((api) => ({ ...api, minor })))
  if (apis.length > 0)
    return warning({
      id: 'removed-apis-in-use',
      summary: `APIs that this upgrade removes were used in the last 24 hours: ${someOf(apis.map(({ name, requests, minor }) => `${name} (${requests} requests, removed with ${minor})`))}`,
      objects: apis.map(({ name }) => `apirequestcount/${name}`),
      remedy: [
        `oc get apirequestcount ${apis[0]?.name ?? ''} -o yaml      says who asks`,
        ...apis.slice(1, 3).map(({ name }) => `oc get apirequestcount ${name} -o yaml`),
      ],
    })
  if (snapshot.removedApis.known || hops.length === 0) return []
  return warning({
    id: 'removed-apis-in-use',
    summary: `kvup does not know whether APIs that this upgrade removes are still in use: ${snapshot.removedApis.why}`,
    remedy: ['oc get apirequestcounts'],
  })
}

/** In front of 4.11 it blocks: behind it nothing carries the objects over any more (night E9). At 4.11 it is told, and stops no hop. */
function maintenances({ hops, snapshot: { snapshot, here } }: Judged): readonly Finding[] {
  const found = oldMaintenance(snapshot)
  if (hops.some(({ minor, platform }) => minor === '4.11' && !platform.done)) return asBlockers(found)
  return here === '4.11' ? found : []
}

/** VMs that no drain moves behind 4.12: told in front of it and behind it. */
function networks({ hops, snapshot: { snapshot, here } }: Judged): readonly Finding[] {
  const [tally] = itemsOf(snapshot.instances)
  return tally === undefined || hops.length === 0
    ? []
    : bridgeNetworks(snapshot, { here, vms: tally.networks })
}

/** The day by which pools that stay behind have to be unpaused; undefined where nothing runs out, or nothing tells (ocp 3.6). */
export function unpauseBefore({ snapshot, route }: Pick<Judged, 'snapshot' | 'route'>): string | undefined {
  if (route.mode !== 'control-plane-only' || compareMinors(snapshot.began, '4.14') >= 0) return undefined
  const [signer] = itemsOf(snapshot.snapshot.kubeletSigner)
  return signer && rotationOf(signer).toISOString()
}

function certificates(judged: Judged): readonly Finding[] {
  const { snapshot, route, lasts } = judged
  if (route.mode !== 'control-plane-only' || compareMinors(snapshot.began, '4.14') >= 0) return []
  const deadline = unpauseBefore(judged)
  const { kubeletSigner } = snapshot.snapshot
  const until = deadline && Date.parse(deadline) - snapshot.snapshot.at.getTime()
  const isShort = typeof until === 'number' && until < lasts.high + 24 * hours
  const why = kubeletSigner.known ? 'there is no certificate to read' : kubeletSigner.why
  return [
    {
      id: 'paused-pool-certificates',
      level: isShort ? 'blocker' : 'warning',
      summary:
        deadline === undefined
          ? `before 4.14, paused pools miss the next certificate of the API server, and kvup does not know when that comes: ${why}`
          : `unpause before ${deadline.slice(0, 10)}: before 4.14, paused pools miss the certificate of that day: logs and exec fail within hours, and later nodes are lost${isShort ? '. The EUS upgrade may take longer' : ''}`,
      remedy: [
        'oc -n openshift-kube-apiserver-operator get configmap kube-apiserver-to-kubelet-client-ca -o yaml',
        ...(isShort ? ['wait for the new certificate, then start'] : []),
      ],
    },
  ]
}
