import { makesCatalog } from '../../releases/catalog-path.ts'
import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import {
  channelChange,
  withChannelRestored,
  writeChannel,
} from '../../upgrade/methods/install-plan-approval.ts'
import { planContents } from '../../upgrade/methods/install-plan-contents.ts'
import { operatorHopSteps } from '../../upgrade/methods/operator-update.ts'
import {
  type OperatorRollSnapshot,
  readOperator,
  rollSnapshotWatches,
} from '../../upgrade/methods/operator-manifest.ts'
import type { OperatorNow, OperatorStop } from '../plan/eus-plan.ts'
import type { EusWindow } from '../window.ts'
import { csvsOnPath, minorOfCsv, type NamedCsv, operatorLatest } from './operator-releases.ts'
import { Subscriptions } from '../../kube/kinds/operator-kinds.ts'
import {
  compareOperatorVersions,
  minorOfPlatform,
  operatorVersionOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'
import { hours, minutes, seconds } from '../../kube/clock.ts'
import { assessHyperConverged, getHyperConverged } from '../../openshift/hyperconverged.ts'
import { itemsOf } from '../../kube/known.ts'
import type { Reader } from '../../kube/cluster.ts'
import { platformOfOperator, type Releases } from '../../releases/releases.ts'
import { installedUnsettled } from './platform-gate.ts'
import { migrationsInFlight } from '../../vms/migrations/migration-snapshot.ts'
import { isAccepted, platformFollows, readPlatform, type Stop } from './cluster-version-status.ts'

/** The operator behind one hop of the platform. */
export interface OperatorPart {
  minor: string
  stops: readonly OperatorStop[]
  operator: OperatorNow
}

/**
 * Release after release as OLM resolves them, each by the steps of `kvup upgrade --method olm`, until the catalog of that minor has no later one (night E4): which
 * they are is known only when the catalog shows them, so the steps are asked for again whenever one is done.
 */
export async function operatorPart(
  window: EusWindow,
  part: OperatorPart,
  { reader }: ReadContext,
): Promise<readonly Step[]> {
  const { subscription, package: pack } = part.operator
  const { request, releases, kubevirt } = window
  const hop = { minor: part.minor, path: heldPath(window, part), releases }
  const snapshot = await readOperator(reader, { subscription })
  const csvs = csvsOnPath(snapshot, hop)
  const channel = nextChannel(part, snapshot.subscription.status?.installedCSV)
  const { accepted, command } = request
  const tools = { kubevirt, accepted, releases, procedure: window.name, command }
  const of = { procedure: window.name, label: part.minor }
  const ask = (step: Step) =>
    withChannelRestored(request.approve ? step : onlyWhenAsked(step, request, subscription), of, subscription)
  const ahead = accepted.includes('hyperconverged-degraded') ? repairing(csvs, snapshot) : csvs
  const hops = ahead.flatMap(({ csv, version }) =>
    operatorHopSteps(
      {
        package: pack,
        subscription,
        csv,
        version,
        approveAlso: request.approveAlso,
        stableMs: request.stableMs,
      },
      tools,
    ),
  )
  return [
    ...(channel === undefined ? [] : [operatorChannel(part, channel, window.name)]),
    ...hops.flatMap((step) => migrationsBefore(step, accepted).concat(ask(step))),
    operatorLatest(part, { after: csvs.at(-1), hop, command }),
    operatorInStep(part, releases),
  ]
}

/** What is installed does not settle any more before the release that repairs it (night E1): the gate of that one judges. */
const repairing = (
  csvs: readonly NamedCsv[],
  { subscription: { status } }: OperatorRollSnapshot,
): readonly NamedCsv[] => csvs.filter(({ csv }, at) => csv !== status?.installedCSV || at === csvs.length - 1)

/** Who accepted that the operator may be stranded has left the path: then whatever OLM resolves will do. */
function heldPath({ request }: EusWindow, { operator: { path = [] } }: OperatorPart): readonly string[] {
  return request.accepted.includes('operator-stranded') ? [] : path
}

/** Nobody said that kvup may approve: who does it by hand is joined. */
function onlyWhenAsked(
  step: Step,
  { command }: Pick<EusWindow['request'], 'command'>,
  subscription: OperatorPart['operator']['subscription'],
): Step {
  const version = /^approve-(?<version>.+)$/u.exec(step.id)?.groups?.['version']
  if (version === undefined) return step
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'todo') return state
      const { plan, csvs } = await readOperator(cx.reader, { subscription })
      const brings = plan && (await planContents(cx.reader, plan, csvs)).kubevirt
      return {
        is: 'blocked',
        reason: 'approval-needed',
        by: `Stopped before InstallPlan ${plan?.metadata.name ?? ''}: it waits for your approval. It installs HyperConverged ${version}${brings === undefined ? '' : ` with KubeVirt ${brings}`}.`,
        remedy: [
          `${command} --approve     approves exactly that InstallPlan, and those that this command still needs`,
        ],
      }
    },
  }
}

/** A channel, and the stop that is resolved in it. */
interface NextChannel {
  channel: string
  /** Ends the step's id: the minor, and the release where others of the hop come after it. */
  label: string
}

/**
 * That of the first stop that is not installed yet, and of no later one: a release that has to come first would not be offered any more. Undefined where the one that
 * is set will do.
 */
export function nextChannel(
  { minor, stops }: Pick<OperatorPart, 'minor' | 'stops'>,
  installedCsv: string | undefined,
): NextChannel | undefined {
  const installed = versionOfCsv(installedCsv)
  const isAhead = ({ version }: OperatorPart['stops'][number]) => {
    const at = operatorVersionOf(version)
    return at === undefined || installed === undefined || compareOperatorVersions(at, installed) > 0
  }
  const at = stops.findIndex(isAhead)
  const next = at < 0 ? stops.length - 1 : at
  const channel = stops.slice(0, next + 1).findLast((stop) => stop.channel !== undefined)?.channel
  const isLast = next === stops.length - 1
  if (channel === undefined) return undefined
  return { channel, label: isLast ? minor : `${minor}-${stops[next]?.version}` }
}

/**
 * Where each minor has a channel of its own (ocp 1.1). A hop of the platform was accepted before it, so that nobody sets it back by himself; what it was is kept, for who
 * has to.
 */
function operatorChannel(
  { minor, operator: { subscription } }: Pick<OperatorPart, 'minor' | 'operator'>,
  { channel, label }: NextChannel,
  procedure: string,
): Step {
  const { namespace, name } = subscription
  return {
    id: `operator-channel-${label}`,
    title: `set channel ${channel} of the operator`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: [{ kind: Subscriptions, where: { namespace } }],
    risk: { undo: 'none: the platform has left the old minor', safeToLeave: 'always' },
    shows: `oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const now = (await readOperator(reader, { subscription })).subscription.spec?.channel
      if (now === channel) return { is: 'done' }
      return { is: 'todo', change: channelChange(name, now, channel) }
    },
    apply: (cx) => writeChannel(cx, { subscription }, { channel, procedure, label: minor }),
  }
}

type Rows = Pick<Releases, 'hyperconverged'>

/** After each hop the operator's minor is that of the platform (night E8), its CSV is Succeeded, and every condition of HyperConverged is as it must be. */
function operatorInStep({ minor, operator }: OperatorPart, releases: Rows): Step {
  const { namespace } = operator.subscription
  return {
    id: `operator-${minor}`,
    title: `update virtualization to ${minor}`,
    patience: { every: 15 * seconds, atMost: 60 * minutes },
    estimate: 15 * minutes,
    watches: [],
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const now = await operatorMinorIn(reader, releases)
      const remedy = [`oc -n ${namespace} get hyperconvergeds.hco.kubevirt.io -o yaml`]
      if (now.minor !== minor)
        return {
          is: 'waiting',
          on: `HyperConverged to be of ${minor}, it is ${now.version ?? 'unknown'}`,
          remedy,
        }
      const unsettled = installedUnsettled(await readOperator(reader, operator))
      if (unsettled) return unsettled
      const [why] = now.why
      return why === undefined
        ? { is: 'done', note: now.version ?? '' }
        : { is: 'waiting', on: 'HyperConverged to be healthy', trouble: why, remedy }
    },
  }
}

/** By the version whose operands are all there, not by the CSV (ocp 9.7). */
export async function operatorMinorIn(
  reader: Reader,
  releases: Rows,
): Promise<{ version?: string; minor?: string; why: readonly string[] }> {
  const found = await getHyperConverged(reader)
  const [hco] = itemsOf(found)
  if (hco === undefined) return { why: [found.known ? 'there is no HyperConverged' : found.why] }
  const { operatorVersion, why } = assessHyperConverged(hco)
  const version = operatorVersionOf(operatorVersion)
  const minor = version && platformOfOperator(version, releases)
  return {
    why,
    ...(operatorVersion !== undefined && { version: operatorVersion }),
    ...(minor !== undefined && { minor }),
  }
}

/**
 * Waits for migrations in flight before a release of the operator is approved: the roll of virt-handler kills them, whoever began them, and methods that are held
 * keep nobody else from migrating (night U1). None where that was accepted.
 */
function migrationsBefore(approving: Step, accepted: readonly string[]): Step[] {
  if (!approving.id.startsWith('approve-') || accepted.includes('migrations-in-flight')) return []
  const migrations = migrationsInFlight('wait', 30 * minutes)
  const check = async (cx: Parameters<Step['check']>[0]): Promise<StepState> =>
    (await approving.check(cx)).is === 'done' ? { is: 'done' } : migrations.check(cx)
  return [{ ...migrations, id: approving.id.replace('approve', 'migrations'), check }]
}

type Watching = Pick<EusWindow, 'releases'> & {
  id: string
  stop: Stop
  operator: NonNullable<EusWindow['plan']['operator']>
  accepted: readonly string[]
  /** The catalog file says that nothing leads on. */
  isStranded: boolean
  /** That goes on, to be repeated with a flag more. */
  command: string
}

/**
 * Before the platform goes to another minor it has to be known that a release of the operator for it is reached from the one that is installed (ocp 9.15, night
 * E4): one without an edge is stranded behind the platform, and there is no way back. Passed once the hop was accepted.
 */
export function operatorLeadsOn(following: Watching): Step {
  const { id, stop, operator } = following
  return {
    id,
    title: `check the operator's upgrade path to ${stop.minor}`,
    patience: { every: 15 * seconds, atMost: hours },
    estimate: seconds,
    watches: [...platformFollows, ...rollSnapshotWatches(operator)],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const { platformStatus } = await readPlatform(reader)
      if (isAccepted(platformStatus, stop) || minorOfPlatform(platformStatus.target) === stop.minor)
        return { is: 'done' }
      const { subscription } = await readOperator(reader, operator)
      return leadsOn(subscription.status?.installedCSV ?? '', following)
    },
  }
}

function leadsOn(installed: string, following: Watching): StepState {
  const { operator, stop, releases, accepted, command, isStranded } = following
  const { path = [] } = operator
  const at = path.indexOf(installed)
  const to = path.slice(at + 1).find((csv) => minorOfCsv(csv, releases) === stop.minor)
  if (at >= 0 && to !== undefined) return { is: 'done', note: `${installed} has an update path to ${to}` }
  const isLeft = isStranded || (at < 0 && path.some((csv) => minorOfCsv(csv, releases) === stop.minor))
  const risk = isLeft ? 'operator-stranded' : 'operator-path-unknown'
  if (accepted.includes(risk))
    return { is: 'done', note: `whether ${installed} has an update path is unknown: accepted` }
  return {
    is: 'blocked',
    reason: risk,
    by: isLeft
      ? `${installed} is installed, and has no update path to ${stop.minor}${pathText(path)}: the operator could not follow the platform`
      : `kvup does not know whether the operator has an update path from ${installed} to ${stop.minor}: it may not be able to follow the platform`,
    remedy: [
      makesCatalog(stop.minor),
      `${command} --catalog-file catalog.yaml     continues, with the whole upgrade path of the operator`,
      `${command} --accept ${risk}     lets the platform continue anyway`,
    ],
  }
}

/** Where it would have led from another release. */
const pathText = (path: readonly string[]): string =>
  path.length < 2 ? '' : ` (the path was ${path.join(' → ')})`
