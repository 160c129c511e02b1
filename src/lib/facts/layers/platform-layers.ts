import { filled } from '../filled.ts'
import { type PlatformStanding, platformStanding } from '../openshift/platform-standing.ts'
import type { PlatformSnapshot } from '../openshift/take-platform.ts'
import type { Layer } from './layer.ts'
import { operatorsLayer } from './operators-layer.ts'

/** The cluster version, and the operators of the platform where one is not as it should be. None where this is no such cluster. */
export function platformLayers(platform: PlatformSnapshot, at: Date): Layer[] {
  const { clusterVersion, clusterOperators } = platform
  if (!clusterVersion.known) return [{ layer: 'platform', verdict: 'Unknown', says: clusterVersion.why }]
  const [cv] = clusterVersion.items
  if (!cv) return []
  const standing = platformStanding(cv)
  const operators = clusterOperators.known
    ? operatorsLayer(clusterOperators.items, { updating: standing.state !== 'idle', at })
    : ({ layer: 'operators', verdict: 'Unknown', says: clusterOperators.why } as const)
  return [versionLayer(standing), ...(operators ? [operators] : [])]
}

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help'>

function versionLayer(standing: PlatformStanding): Layer {
  const base = { layer: 'platform', object: 'clusterversion/version' } as const
  const asked = armed(standing)
  if (asked) return { ...base, ...asked }
  const judged = standing.state === 'idle' ? atRest(standing) : onTheWay(standing)
  return { ...base, ...judged, ...filled({ since: standing.since }) }
}

/** `OpenShift 4.18.21`, `OKD 4.19.0-okd-scos.16`. */
function platformName(version = ''): string {
  return `${version.includes('okd') ? 'OKD' : 'OpenShift'} ${version}`.trim()
}

/** Asked for and refused, it stays armed, whatever else the cluster does (ocp 3.2). */
function armed(standing: PlatformStanding): Judged | undefined {
  const { armed: asked, accepted, current, version } = standing
  if (asked === undefined) return undefined
  const what = `${platformName(version)}; ${asked.version ?? asked.image ?? ''} is asked for`
  if (!current || accepted.is !== 'no')
    return { verdict: 'Updating', says: what, waitsFor: 'the cluster version operator to take it up' }
  return {
    verdict: 'Waiting',
    says: `${what} and was refused (${accepted.reason})`,
    waitsFor: 'whoever asked for it: it starts by itself as soon as nothing speaks against it',
    notes: [accepted.message],
    help: ['oc adm upgrade --clear     takes the request back'],
  }
}

function atRest({ failing, message, version, current, upgradeable }: PlatformStanding): Judged {
  const says = platformName(version)
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (!current) return { verdict: 'Updating', says, waitsFor: 'the cluster version operator to see its spec' }
  if (upgradeable.is !== 'no') return { verdict: 'Settled', says }
  return { verdict: 'Settled', says, notes: [`no next minor for now: ${upgradeable.message}`] }
}

function onTheWay(standing: PlatformStanding): Judged {
  const { version, target = '', state, failing, slow, message } = standing
  const says = version === undefined ? platformName(target) : `${platformName(version)} to ${target}`
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (state === 'partial') return { verdict: 'Stalled', says: `${says}, stopped half-way`, notes: [message] }
  return {
    verdict: 'Updating',
    says,
    waitsFor: waitedFor(message),
    notes: [message],
    ...(slow !== undefined && { expected: 'slower than usual, which is no failure' }),
  }
}

/** `Working towards 4.19.14: 712 of 897 done (79% complete), waiting on network` */
function waitedFor(message: string): string {
  return (
    /waiting (?:up to \d+ minutes )?on (?<what>.+?)(?: over .*)?$/u.exec(message)?.groups?.['what'] ??
    'its operators'
  )
}
