import type { Finding } from '../../../checks/finding.ts'
import { minorOfPlatform } from '../../../releases/platform-version.ts'
import type { Judged } from '../judged.ts'
import { onlyNextHop } from '../platform-stop.ts'
import { isTooLong } from './platform.ts'

/** What the graph and the channels lack for this way. */
export function wayFindings(judged: Judged): readonly Finding[] {
  if (isTooLong(judged)) return []
  return [...channels(judged), ...closed(judged), ...unproven(judged), ...plain(judged)]
}

/** A later hop may find its channel; for the first one all would be borrowed, and then waited for what nobody offers. */
function channels({ channel, route, chosen, sight }: Judged): readonly Finding[] {
  const [first] = chosen.stops
  if (channel.is !== 'missing' || first === undefined) return []
  const has = channel.offered.length === 0 ? 'none is named' : channel.offered.join(', ')
  const missing: Finding = {
    id: 'channel-not-available',
    level: 'blocker',
    summary: `no channel of ${route.to} holds ${sight.release} (${has}). ${channel.wanted} appears some weeks after its first release, and may need a newer patch here first`,
    objects: ['clusterversion/version'],
    remedy: ['oc adm upgrade channel', 'kvup eus plan --to MINOR      to a minor that has a channel'],
  }
  if (offers(sight, first)) return [missing]
  const release = first.stop.version ?? `a release of ${first.minor}`
  const summary = `${release}, the first hop, is not offered in channel ${sight.standing.channel ?? '(none)'}, and there is none to set: ${missing.summary}`
  return [{ ...missing, id: 'first-hop-not-offered', summary }]
}

/** In the channel that is set: exactly what was chosen, or, where that is left to later, any of its minor. */
function offers({ standing }: Judged['sight'], { minor, stop }: Judged['chosen']['stops'][number]): boolean {
  const versions = (standing.available ?? []).map(({ version = '' }) => version)
  return versions.some((one) =>
    stop.version === undefined ? minorOfPlatform(one) === minor : one === stop.version,
  )
}

function closed({ chosen }: Judged): readonly Finding[] {
  if (chosen.closed === undefined) return []
  const { is, why } = chosen.closed
  return [{ ...closedWays[is], summary: why, objects: ['clusterversion/version'] }]
}

/** ocp 5.1: the newest of the minor in between may lead nowhere, and the pools would wait there. */
function unproven({ chosen }: Judged): readonly Finding[] {
  if (chosen.unproven === undefined || chosen.closed !== undefined) return []
  const { release, to } = chosen.unproven
  return [
    {
      id: 'way-unknown',
      level: 'not-checked',
      summary: `whether ${release} leads on to ${to}: ${onlyNextHop}`,
      objects: ['clusterversion/version'],
      remedy: [
        'kvup eus plan --graph-file FILE      knows the whole way; FILE is what the update service answers for the channel',
      ],
    },
  ]
}

const closedWays: Readonly<Record<NonNullable<Judged['chosen']['closed']>['is'], Omit<Finding, 'summary'>>> =
  {
    'not-in-graph': {
      id: 'no-way-in-graph',
      level: 'blocker',
      remedy: ['kvup eus plan --graph-file FILE      with the graph of another channel, or a later one'],
    },
    'not-offered': {
      id: 'update-not-offered',
      level: 'blocker',
      remedy: ['oc adm upgrade      says what is offered, and what is conditional'],
    },
    'not-retrieved': {
      id: 'updates-not-retrieved',
      level: 'blocker',
      remedy: [
        'oc get clusterversion version -o yaml      see RetrievedUpdates; a disconnected cluster needs an update service of its own',
      ],
    },
  }

/** Night E10: said, and no obstacle. */
function plain({ route, sight }: Judged): readonly Finding[] {
  if (route.plainBecause === undefined || route.minors.length === 0) return []
  const outage =
    sight.topology.is === 'single-node'
      ? '. VMs cannot be migrated anywhere: each is down while the node reboots'
      : ''
  return [
    {
      id: 'no-window',
      level: 'info',
      summary: `no control-plane-only window: ${route.plainBecause}. The pools follow hop by hop${outage}`,
      remedy: [],
    },
  ]
}
