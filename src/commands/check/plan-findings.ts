import { openOverrides } from '../../lib/engine/overrides.ts'
import type { CommandContext } from '../../lib/kube/world.ts'
import { type Check, type Finding, passGate, type Question } from '../../lib/checks/check-definition.ts'
import type { Reader } from '../../lib/kube/cluster.ts'
import {
  type FullSnapshot,
  isSnapshotPart,
  type SnapshotPart,
  takeFullSnapshot,
} from '../../lib/kubevirt/full-snapshot.ts'
import {
  getInstallation,
  hasOwnLayers,
  type Installation,
  theInstallation,
} from '../../lib/kubevirt/installation.ts'
import { leaseWatchOf } from '../../lib/kubevirt/lease-holders.ts'
import { itemsOf, type Known, known } from '../../lib/kube/known.ts'
import { type FiringAlert } from '../../lib/openshift/firing-alerts.ts'
import { type LayerParts, readLayerParts } from '../../lib/openshift/layer-parts.ts'
import { askPlatform } from '../../lib/openshift/layers.ts'
import {
  homeOf,
  listKubeVirts,
  type ReadCluster,
  readerFor,
  type Snapshot,
  takeSnapshot,
} from '../../lib/kubevirt/snapshot.ts'
import { assessRollout, type RolloutStatus } from '../../lib/kubevirt/rollout-status.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { type Version, versionOf } from '../../lib/releases/release-versions.ts'
import { chooseMethod, hasBegun } from '../../lib/upgrade/upgrade-plan.ts'
import { accessOf, roleFor } from '../../lib/upgrade/roles.ts'
import type { KubeVirt } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { actsOnEdit, deploymentFailure } from '../../lib/kubevirt/installed-components.ts'
import { seconds } from '../../lib/kube/clock.ts'
import type { PathStep } from '../../lib/upgrade/path-procedure.ts'
import type { Context } from '../../context.ts'
import { allChecks, ensureFindingsAccepted, runChecks } from '../../lib/checks/check-run.ts'
import { acceptedRisks } from '../../lib/checks/explanations.ts'
import { acceptingLine, askAboutMissing, withRisks } from '../run-change.ts'
import { windowOpenFinding } from '../../lib/eus/window.ts'
import type { Checked, PlanJudge, ToCheck } from '../../lib/upgrade/plan/planned-upgrade.ts'
import type { OlmPart } from '../../lib/upgrade/methods/olm-plan.ts'
import { crdStoredVersions } from '../../lib/checks/groups/target-checks.ts'
import { newGates } from '../../lib/checks/groups/node-checks.ts'
import { hopSupported, knownBad, kubernetesSupported } from '../../lib/checks/groups/path-checks.ts'

interface Asked {
  to: Version | undefined
  method: Method | 'auto'
  from?: string | undefined
  snapshot?: ReadCluster
  /** An edit of the KubeVirt resource that virt-operator is acting on is waited for; not over a saved cluster, which stands still. */
  waits?: boolean
  /** Not to be asked: what this user may do. */
  without?: 'rights'
  /** The layers above and below KubeVirt are judged too, and alerts are asked for like this. */
  layers?: { alerts: (reader: Reader) => Promise<Known<FiringAlert>> }
}

/** Everything that the checks are judged by, read once. Throws `blocked` where there is no KubeVirt, `forbidden` where none may be read. */
export async function readCheckedCluster(
  cx: CommandContext,
  asked: Asked,
): Promise<Omit<Question, 'releases' | 'target'>> {
  const { cluster, clock, saved } = asked.snapshot ?? (await readerFor(cx, asked.from))
  const platform = asked.layers && askPlatform(cluster.reader)
  const first = theInstallation(watched(await takeSnapshot(cluster.reader, [], clock)))
  if (asked.waits) await untilActedOn(cx, cluster.reader, first.kubevirt)
  const method = asked.to && chooseMethod(asked.method, first, asked.to)
  const rights = asked.without ? undefined : accessOf(method ? roleFor(method) : 'kvup-view', first.namespace)
  const [gathered, overrides, layers] = await Promise.all([
    takeFullSnapshot(cluster, clock, { rights }),
    overriddenIn(cluster.reader, first),
    layerPartsOf(cluster.reader, first, { onPlatform: await platform, layers: asked.layers }),
  ])
  const silentLeases = saved ? undefined : await silentIn(cx, { cluster, clock }, gathered)
  const snapshot = { ...gathered, ...layers, overrides, ...(silentLeases && { silentLeases }) }
  const one = watched(snapshot)
  const at = clock.now()
  return {
    snapshot,
    installation: theInstallation(one),
    rolloutStatus: assessRollout(one, at),
    ...(method && { method }),
    at,
    ...(clock.ahead && { ahead: clock.ahead }),
    ...(saved && { isSaved: true as const }),
  }
}

/** Nothing where they are not asked for. */
async function layerPartsOf(
  reader: Reader,
  { manager }: Installation,
  { onPlatform = false, layers }: { onPlatform: boolean | undefined; layers: Asked['layers'] },
): Promise<Partial<LayerParts>> {
  if (layers === undefined) return {}
  const managed = hasOwnLayers(manager)
  return readLayerParts(reader, { onPlatform, managed, alerts: async () => layers.alerts(reader) })
}

/** A Lease that is older than its term proves nothing, for clocks of nodes differ: it is watched. */
async function silentIn(
  { signal, printer }: CommandContext,
  { cluster: { reader }, clock }: Pick<ReadCluster, 'cluster' | 'clock'>,
  { leases, kubevirts }: FullSnapshot,
): Promise<FullSnapshot['silentLeases']> {
  const namespace = homeOf(kubevirts) ?? ''
  const told = (line: string) => printer.note(line)
  const watch = leaseWatchOf(clock)
  const found = await known(watch.settle(itemsOf(leases), { namespace, reader, clock, signal, told }))
  return watch.isUndecided(clock) ? undefined : found
}

/** Of several KubeVirts the one that virt-operator follows: the others are a finding. */
function watched<S extends Snapshot>(snapshot: S): S {
  if (getInstallation(snapshot).is !== 'several') return snapshot
  const one = itemsOf(snapshot.kubevirts).filter(({ status }) => status?.operatorVersion)
  return one.length === 1 ? { ...snapshot, kubevirts: { known: true, items: one } } : snapshot
}

async function overriddenIn(
  reader: Reader,
  { namespace, uid }: Installation,
): Promise<NonNullable<FullSnapshot['overrides']>> {
  const found = await openOverrides(reader, namespace)
  if ('unread' in found) return { known: false, why: found.unread }
  // Of a KubeVirt that was deleted and made anew from a copy, nothing is given back by itself.
  const overrides = found.overrides.filter(({ object }) => object.kind !== 'KubeVirt' || object.uid === uid)
  return { known: true, items: overrides.map(({ id, by }) => ({ id, by })) }
}

/** The real operator took up to 34 s. */
const atMost = 90 * seconds

/**
 * Waits while virt-operator acts on an edit of the KubeVirt resource, so that nobody is told to come back in a few seconds; 90 s at most.
 * Whether it waited: then what was seen is to be looked at anew. Throws the reason of the signal.
 */
async function untilActedOn(
  { clock, signal, printer }: Pick<CommandContext, 'clock' | 'signal' | 'printer'>,
  reader: Reader,
  kubevirt: KubeVirt,
): Promise<boolean> {
  if (!actsOnEdit(kubevirt, clock.now())) return false
  const what = deploymentFailure(kubevirt)
    ? 'trying again what failed'
    : 'acting on an edit of the KubeVirt resource'
  printer.note(`virt-operator is ${what}: waiting for it, 90s at most`)
  const { uid } = kubevirt.metadata
  for (let waited = 0; waited < atMost; waited += seconds) {
    await clock.sleep(seconds, signal)
    const now = itemsOf(await listKubeVirts(reader)).find(({ metadata }) => metadata.uid === uid)
    if (!now || !actsOnEdit(now, clock.now())) break
  }
  return true
}

/**
 * What all checks of `kvup check` say against a plan. Nothing once its update has begun, for the checks judge a cluster that stands still, and
 * stopping half-way is worse; the rights of this user are asked for right before the first write.
 */
async function checked({
  cx,
  plan,
  upgradeState,
  releases,
  overrides,
  manifest,
  accepted,
  leavingPaused,
  isManifestNamed,
}: ToCheck): Promise<Checked> {
  if (hasBegun(plan, upgradeState, overrides)) return { findings: [] }
  cx.printer.awaiting?.('running the checks')
  const target = plan.olm === undefined ? plan.to : nearTarget(plan.olm, plan.to, upgradeState.rolloutStatus)
  const snapshot = await readCheckedCluster(cx, { to: target, method: plan.method, without: 'rights' })
  const question = {
    ...snapshot,
    releases,
    ...(target && { target }),
    ...(manifest && { manifest: manifest.manifest.objects }),
    isManifestNamed,
    methodsAtEnd: plan.request.leavePaused ? [] : upgradeState.methods,
    ...(leavingPaused !== undefined && { leavingPaused }),
  }
  const checks = allChecks.filter(({ id }) => !judgedElsewhere.has(id))
  const results = runChecks(checks, question)
  ensureFindingsAccepted(results, accepted, (risks) => withRisks(cx.world.commandLine, risks))
  return {
    // What only `kvup check` is given is no news of a plan: it has a manifest where it needs one.
    findings: results
      .filter(({ lacks }) => lacks === undefined)
      .flatMap(({ findings }) => findings.map(unlessUnseen)),
    snapshot: snapshot.snapshot,
  }
}

/** Whoever owns the installation is the plan's own business; so are the rights, right before the first write. */
const judgedElsewhere: ReadonlySet<string> = new Set(['rights', 'manager'])

/** Rights that only checks use may be missing (contract "Rights"): it is said, and does not stop whoever is allowed to do the work. */
export function unlessUnseen(finding: Finding): Finding {
  const isOfRights = finding.level === 'not-checked' && finding.id !== 'release-unknown'
  return isOfRights ? { ...finding, level: 'warning' } : finding
}

/**
 * By OLM the checks judge one minor of KubeVirt at most: it goes through those in between, each a hop of its own. Undefined where it is further, or not known
 * which KubeVirt it is: then they judge what is there.
 */
export function nearTarget(
  { kubevirt }: Pick<OlmPart, 'kubevirt'>,
  to: Version,
  { observed }: Pick<RolloutStatus, 'observed'>,
): Version | undefined {
  const from = versionOf(observed.version)
  const isNear = from !== undefined && from.major === to.major && to.minor - from.minor <= 1
  return kubevirt !== undefined && isNear ? to : undefined
}

/** What of the checks can be told of a step whose beginning is not reached yet: they look at releases, and at what no upgrade changes. */
const foretold: readonly Check[] = [hopSupported, knownBad, kubernetesSupported, crdStoredVersions, newGates]

const foretoldParts: readonly SnapshotPart[] = foretold.flatMap(({ needs }) => needs.filter(isSnapshotPart))

/** What `kvup plan` and `kvup upgrade` are judged by. */
export const planJudge = (cx: Pick<Context, 'prompt' | 'world'>): PlanJudge => ({
  accepted: acceptedRisks,
  checked,
  foretold: (question) =>
    runChecks(foretold, question)
      .filter(({ lacks }) => lacks === undefined)
      .flatMap(({ findings }) => findings),
  foretoldParts,
  notWaitedFor,
  gate: (findings, accepted, accepting = acceptingLine(cx.world.commandLine, accepted)) =>
    passGate(findings, accepted, accepting),
  windowOpen: windowOpenFinding,
  askAboutMissing: (journal, accepted) =>
    askAboutMissing(journal, cx, { accept: accepted.map(({ id }) => id) }),
})

/** In a path a blocker, by the name of the check that tells the same of VMs that run. */
function notWaitedFor(steps: readonly PathStep[]): Finding {
  const last = steps.at(-1)?.to ?? ''
  return {
    id: 'launcher-age',
    level: 'blocker',
    summary: `with --between none VMs are not waited for between the ${steps.length} steps to ${last}: they may run a virt-launcher ${steps.length} minors older. Upstream tests migrations from the minor before only`,
    remedy: ['leave --between none out'],
  }
}
