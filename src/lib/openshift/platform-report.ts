import { filled, itemsOf, type Known, notAsked } from '../kube/known.ts'
import {
  compareMinors,
  minorOfPlatform,
  platformVersionOf,
  comparePlatforms,
} from '../releases/release-versions.ts'
import { blockersOn, drainingNodes, type DrainSnapshot } from './drain-blockers.ts'
import { affectsUpdates, type FiringAlert } from './firing-alerts.ts'
import { badOperators, type BadOperator, isComingUp } from './operator-health.ts'
import type { MachineConfig } from '../kube/kinds/openshift-kinds.ts'
import { type NodeReport, poolReports, type PoolReport } from './pool-nodes.ts'
import {
  assessPlatform,
  neverCompleted,
  type PlatformSnapshot,
  type PlatformStatus,
} from './platform-status.ts'
import { updateProgress, type UpdateProgress } from './update-progress.ts'

/** What is read besides, where the platform or a pool is not at rest. */
export interface RolloutSnapshot extends DrainSnapshot {
  /** Rendered ones that its nodes are of. */
  machineConfigs: Known<MachineConfig>
  /** Where the cluster, or the folder that it was saved to, says which alerts fire; not known does not mean that none does. */
  alerts: Known<FiringAlert>
}

/** The platform in numbers and names: what a script wants to know of an update, while it fails too. */
export interface PlatformReport {
  /** The last release that was reached in full. */
  version?: string
  target?: string
  state: PlatformStatus['state']
  from?: PlatformStatus['from']
  sameVersion?: PlatformStatus['sameVersion']
  update?: UpdateProgress
  /** The last update that was done. */
  last?: { version: string; completed: string; tookSeconds: number }
  pools?: readonly PoolReport[]
  findings: readonly PlatformFinding[]
  /** Releases of its own minor that it could go to; absent where they are not known. */
  offers?: UpdateOffers
  alerts?: readonly Pick<FiringAlert, 'name' | 'severity' | 'namespace'>[]
  /** Why it is not known which fire, where somebody wanted to know. */
  alertsNotChecked?: string
}

/** One thing that is not as it should be, with what it means for the cluster. */
interface PlatformFinding {
  severity: 'info' | 'warning' | 'error' | 'critical'
  impact:
    | 'update-stalled'
    | 'update-speed'
    | 'api-availability'
    | 'cluster-capacity'
    | 'application-availability'
    | 'none'
    | 'unknown'
  summary: string
  /** As kubectl names it. */
  objects: readonly string[]
  /** RFC 3339: since when the condition that is told is as it is. */
  since?: string
  /** Where somebody wrote down what to do. */
  runbook?: string
  /** What to type. */
  help?: readonly string[]
}

interface Inputs {
  platform: PlatformSnapshot
  rollout: RolloutSnapshot
  at: Date
}

/** Undefined where this is no such cluster, or nothing of it is known. Pure. */
export function platformReport({ platform, rollout, at }: Inputs): PlatformReport | undefined {
  const [cv] = itemsOf(platform.clusterVersion)
  const platformStatus = cv && assessPlatform(cv)
  const { machineConfigs } = rollout
  const pools = withDrains(poolReports({ platform, platformStatus, machineConfigs }), platform, rollout).map(
    (pool) => withoutReleases(pool, machineConfigs),
  )
  if (!cv || !platformStatus) return undefined
  const { version, target, state, from, sameVersion, last } = platformStatus
  const update = updateProgress({ cv, platformStatus, operators: platform.clusterOperators, at })
  return {
    ...filled({ version, target, from, sameVersion, update }),
    state,
    ...(last && {
      last: { version: last.version, completed: last.completed, tookSeconds: tookOf(last) },
    }),
    ...(platform.pools.known && { pools }),
    findings: [
      ...ofVersion(platformStatus, update, at),
      ...badOperators(itemsOf(platform.clusterOperators), { platformStatus, at }).map(ofOperator),
      ...pools.flatMap((pool) => ofPool(pool, platformStatus)),
      ...itemsOf(rollout.alerts).flatMap(ofAlert),
    ].toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)),
    ...filled({ offers: offersOf(platformStatus) }),
    ...alertsOf(rollout),
  }
}

function alertsOf({ alerts }: RolloutSnapshot): Pick<PlatformReport, 'alerts' | 'alertsNotChecked'> {
  if (!alerts.known) return alerts === notAsked ? {} : { alertsNotChecked: alerts.why }
  return {
    alerts: alerts.items.map(({ name, severity, namespace }) => ({
      name,
      severity,
      ...(namespace !== undefined && { namespace }),
    })),
  }
}

const order: readonly PlatformFinding['severity'][] = ['critical', 'error', 'warning', 'info']

const tookOf = ({ started, completed }: NonNullable<PlatformStatus['last']>): number =>
  Math.round((Date.parse(completed) - Date.parse(started)) / 1000)

function withDrains(reports: readonly PoolReport[], platform: PlatformSnapshot, rollout: RolloutSnapshot) {
  return reports.map((report): PoolReport => {
    const pool = itemsOf(platform.pools).find(({ metadata }) => metadata.name === report.name)
    const drains = pool ? drainingNodes(pool, platform).map((node) => blockersOn(node, rollout)) : []
    const told = drains.filter(({ vms, unknown }) => vms.length > 0 || unknown !== undefined)
    if (told.length === 0) return report
    const names = new Set(told.map(({ node }) => node))
    // A node that the pool reports says nothing of it itself, when its drain was given up for the moment.
    const nodes = report.nodes?.map((node) =>
      names.has(node.name) && node.phase === 'updated'
        ? Object.assign({}, node, { phase: 'draining' as const })
        : node,
    )
    return Object.assign({}, report, { drains: told, ...(nodes && { nodes }) })
  })
}

/** What its nodes are at is in their rendered configurations. */
const withoutReleases = (pool: PoolReport, machineConfigs: RolloutSnapshot['machineConfigs']): PoolReport =>
  machineConfigs.known || machineConfigs === notAsked || (pool.nodes ?? []).length === 0
    ? pool
    : Object.assign({}, pool, { releasesUnknown: machineConfigs.why })

function ofVersion(
  platformStatus: PlatformStatus,
  update: UpdateProgress | undefined,
  at: Date,
): PlatformFinding[] {
  const { failing, failingSince, message } = platformStatus
  const objects = ['clusterversion/version']
  const found: PlatformFinding[] = []
  if (failing === 'True')
    found.push({
      severity: isComingUp(platformStatus, at) ? 'info' : 'warning',
      impact: 'update-stalled',
      summary: message,
      objects,
      ...filled({ since: failingSince }),
      help: ['oc adm upgrade'],
    })
  for (const summary of neverCompleted(platformStatus))
    found.push({ severity: 'warning', impact: 'none', summary, objects })
  if (update?.pace === 'slow' || update?.pace === 'stalled')
    found.push({
      severity: 'warning',
      impact: update.pace === 'slow' ? 'update-speed' : 'update-stalled',
      summary: `the update is ${update.pace}: it takes longer than earlier updates`,
      objects,
      ...filled({ since: update.started }),
    })
  return found
}

function ofOperator({ operator, told, is, severity }: BadOperator): PlatformFinding {
  const words = is === 'unavailable' ? 'not available' : 'degraded'
  const why = told.message || told.reason
  return {
    severity,
    impact: is === 'unavailable' ? 'api-availability' : 'unknown',
    summary: `operator ${operator.name} is ${words}${why ? `: ${why}` : ''}`,
    objects: [`clusteroperator/${operator.name}`],
    ...filled({ since: told.since }),
    runbook:
      is === 'unavailable' ? `${runbooks}/ClusterOperatorDown.md` : `${runbooks}/ClusterOperatorDegraded.md`,
    help: [`oc describe clusteroperator ${operator.name}`],
  }
}

const runbooks = 'https://github.com/openshift/runbooks/blob/master/alerts/cluster-monitoring-operator'

function ofNode({ name, phase, reason, notReadySince }: NodeReport): PlatformFinding {
  const why = reason ? `: ${reason}` : ''
  const objects = [`node/${name}`]
  if (phase === 'degraded')
    return {
      severity: 'error',
      impact: 'update-stalled',
      summary: `node ${name} is degraded${why}`,
      objects,
    }
  return {
    severity: 'warning',
    impact: 'cluster-capacity',
    summary: `node ${name} is not ready${why}`,
    objects,
    ...filled({ since: notReadySince }),
  }
}

/** It reboots for its update: before 4.16 its machine config daemon does not say that. */
const mayBeDown: ReadonlySet<string> = new Set(['rebooting', 'updating'])

function ofPool(pool: PoolReport, { target }: PlatformStatus): PlatformFinding[] {
  const { name, following, drains = [], nodes = [], degraded } = pool
  const objects = [`machineconfigpool/${name}`]
  const isOutdated = following === 'outdated' && pool.machines > 0
  return [
    ...(isOutdated
      ? [
          {
            severity: 'warning',
            impact: 'update-stalled',
            summary: `outdated nodes in the paused pool ${name} are not updated to ${target ?? 'the release of the platform'}`,
            objects,
          } as const,
        ]
      : []),
    ...drains.flatMap(({ node, vms }) =>
      vms.map(
        ({ vm, why, budget }) =>
          ({
            severity: degraded > 0 ? 'error' : 'warning',
            impact: 'update-stalled',
            summary: `node ${node} cannot be drained: VM ${vm} ${why}`,
            objects: [
              `node/${node}`,
              `virtualmachineinstance/${vm}`,
              ...(budget ? [`poddisruptionbudget/${budget}`] : []),
            ],
          }) as const,
      ),
    ),
    ...nodes
      .filter(({ phase, ready }) => phase === 'degraded' || (!ready && !mayBeDown.has(phase)))
      .map(ofNode),
  ]
}

const severities: Readonly<Record<string, PlatformFinding['severity']>> = {
  critical: 'critical',
  warning: 'warning',
}

/** Those that carry a severity that is meant for people; what an alert says of itself is somebody else's words. */
function ofAlert(alert: FiringAlert): PlatformFinding[] {
  const { name, severity, namespace, since, runbook } = alert
  const found = severities[severity]
  if (found === undefined) return []
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`
  return [
    {
      severity: found,
      impact: affectsUpdates(alert) ? 'update-speed' : 'unknown',
      summary: `alert ${name} fires${where}`,
      objects: [`alert/${name}`],
      ...filled({ since, runbook }),
    },
  ]
}

/** Releases of the minor that the cluster runs. */
interface UpdateOffers {
  /** Recommended, the newest first. */
  recommended: readonly string[]
  /** The newest two that are offered with risks, and how many more there are. */
  conditional: readonly ConditionalOffer[]
  moreConditional: number
  /** By risk, how many releases have it. */
  byRisk: Readonly<Record<string, number>>
}

interface ConditionalOffer {
  version: string
  risks: readonly string[]
  /** `not-exposed`: the risks do not apply here. `unknown`: nobody could tell whether they do, which is no known risk. */
  exposure: 'exposed' | 'not-exposed' | 'unknown'
}

const exposures = { yes: 'not-exposed', no: 'exposed', unknown: 'unknown' } as const
const shownOffers = 2

function offersOf({ available, conditional, target }: PlatformStatus): UpdateOffers | undefined {
  if (available === undefined) return undefined
  const here = minorOfPlatform(target)
  const isHere = (version: string | undefined): version is string =>
    version !== undefined && here !== '' && compareMinors(minorOfPlatform(version) || '0.0', here) === 0
  // One whose risks do not apply here stands in both lists, and is recommended.
  const names = new Set(available.map(({ version }) => version))
  const offers = conditional
    .filter(({ release: { version } }) => !names.has(version))
    .flatMap(({ release: { version }, risks, recommended }) =>
      isHere(version) ? [{ version, risks, exposure: exposures[recommended.is] }] : [],
    )
    .toSorted((a, b) => newer(a.version, b.version))
  const risksOfAll = offers.flatMap(({ risks }) => [...new Set(risks)])
  return {
    recommended: available.flatMap(({ version }) => (isHere(version) ? [version] : [])).toSorted(newer),
    conditional: offers.slice(0, shownOffers),
    moreConditional: Math.max(0, offers.length - shownOffers),
    byRisk: Object.fromEntries(
      [...new Set(risksOfAll)].map((risk) => [risk, risksOfAll.filter((name) => name === risk).length]),
    ),
  }
}

function newer(a: string, b: string): number {
  const [left, right] = [platformVersionOf(a), platformVersionOf(b)]
  return left && right ? comparePlatforms(right, left) : 0
}
