import type { Context } from '../../context.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import { openOverrides } from '../../lib/engine/overrides.ts'
import { clusterName } from '../../lib/kube/cluster.ts'
import { clockSkew, seconds, ticks } from '../../lib/kube/clock.ts'
import { asFarAsRead } from '../../lib/kube/errors.ts'
import { filled, itemsOf, type Known, known } from '../../lib/kube/known.ts'
import { rolloutNow } from '../../lib/kubevirt/rollout-status.ts'
import { listKubeVirts, type ReadCluster } from '../../lib/kubevirt/snapshot.ts'
import { kubeVirtDefinitions } from '../../lib/kubevirt/stored-versions.ts'
import type { StatusDocument } from '../../lib/output/views/status.ts'
import { type ClusterState, clusterState, type StateInputs } from '../../lib/status/cluster-state.ts'
import { failedCanary } from '../../lib/status/unfinished-run.ts'
import { type StatusAsks, statusReport, type StatusReport } from '../../lib/status/status-report.ts'
import { availableTargets } from '../../lib/upgrade/plan/available-targets.ts'
import { downgradeNow } from '../../lib/upgrade/rollback.ts'
import { getLockHolder } from '../../lib/vms/lock-holder.ts'
import { areFewMigrations } from '../../lib/kubevirt/diagnosis/stuck-migrations.ts'
import { readInFlight } from '../../lib/vms/migrations/migration-snapshot.ts'
import { migrationsReport } from '../../lib/vms/migrations/migration-report.ts'
import { countOverridden } from '../../lib/vms/unblock/vm-overrides.ts'
import { forecastOutdated, resumingFindings } from '../../lib/vms/forecast/vm-forecast.ts'
import { keptMethods, overrideId, restoreAllLine } from '../../lib/vms/update-methods.ts'

interface Reading {
  isWatched?: boolean
  /** Which release can be reached is looked up as well, where it is healthy. Default: yes. */
  isOffered?: boolean
}

/** The document of `kvup status`: the report, what kvup itself left in the cluster, and the state that all of it makes. */
export class StatusReader {
  readonly #cx: Context
  readonly #snapshot: ReadCluster
  readonly #isWatched: boolean
  readonly #isOffered: boolean
  readonly #kept = new Map<string, { at: number; answer: Promise<unknown> }>()

  constructor(cx: Context, snapshot: ReadCluster, { isWatched = false, isOffered = true }: Reading = {}) {
    this.#cx = cx
    this.#snapshot = snapshot
    this.#isWatched = isWatched
    this.#isOffered = isOffered
  }

  async document(given: StatusReport): Promise<StatusDocument> {
    const { clock, cluster } = this.#snapshot
    const own = await this.#own(given)
    const { overrides, remarks = [], running, entries } = own
    const settings = overrides?.settings ?? []
    const { newer, resuming } = await this.#launchers(given, settings)
    const { workloads } = given
    const report = newer
      ? { ...given, workloads: { ...workloads, outdated: { ...workloads.outdated, newer } } }
      : given
    const inputs: StateInputs = {
      report,
      resuming,
      cluster: cluster.address && clusterName(cluster.address),
      entries,
      overrides: settings,
      running,
      unread: remarks,
      isWatched: this.#isWatched || this.#snapshot.saved,
    }
    const all = [...(report.remarks ?? []), ...remarks]
    return {
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'Status',
      ...report,
      ...(running && { running }),
      ...(overrides && Object.keys(overrides).length > 0 && { overrides }),
      ...(all.length > 0 && { remarks: all }),
      ...(clock.ahead && { clock: clockSkew(clock.ahead) }),
      ...ofFolder(this.#snapshot),
      state: await this.#state(inputs),
    }
  }

  /** How many VMs only a restart takes back, and whether automatic VM updates can be resumed: as `kvup workloads resume-updates` judges it. Nothing is known of so many that they are not read. */
  async #launchers(
    { installation, workloads: { outdated } }: StatusReport,
    overrides: readonly Override[],
  ): Promise<Pick<StateInputs, 'resuming'> & { newer?: number }> {
    const { labelled = 0 } = outdated
    if (!installation || labelled === 0 || labelled > allReadUpTo) return {}
    const paused = overrides.find(({ id }) => id === overrideId)
    const methods = paused ? keptMethods(paused) : installation.workloadUpdateMethods
    const { reader } = this.#snapshot.cluster
    const forecast = await this.#sometimes(`launchers of ${labelled} for ${methods.join()}`, async () => {
      const [kubevirt] = itemsOf(await listKubeVirts(reader))
      return kubevirt && forecastOutdated(reader, kubevirt, methods)
    })
    if (forecast === undefined) return {}
    const { restart: newer } = forecast.counts
    const isTaken = resumingFindings(methods, forecast).length === 0
    return { ...filled({ newer }), ...(paused && { resuming: isTaken ? 'taken' : 'refused' }) }
  }

  /** What is asked besides depends on where it stands: which release is offered, what fails without end, what goes back. */
  async #state(inputs: StateInputs): Promise<ClusterState> {
    const first = clusterState(inputs)
    const { is } = first
    if (this.#snapshot.saved || !inputs.report.installation) return first
    if (is === 'Healthy' || is === 'NotChecked') {
      const [failing, update] = await Promise.all([
        this.#sometimes('failing', () => this.#failing(inputs)),
        this.#isOffered ? this.#sometimes('update', () => this.#update()) : undefined,
      ])
      return clusterState({ ...inputs, ...failing, update })
    }
    if (is !== 'Stalled' && is !== 'Degraded' && is !== 'Interrupted') return first
    const { observed, target } = inputs.report
    if (observed?.version === target?.version) return first
    return clusterState({ ...inputs, back: await this.#sometimes('back', () => this.#back()) })
  }

  /** What kvup changed, who runs it, what its journal tells. */
  async #own(report: StatusReport): Promise<Own> {
    if (!report.installation) return {}
    const { namespace } = report.installation
    const { cluster, saved, clock } = this.#snapshot
    const overriding = overriddenSettings(this.#snapshot, namespace)
    const journal = configMapJournal(cluster, { namespace, who: this.#cx.world.who, clock })
    const [settings, vms, running, entries] = await Promise.all([
      overriding,
      vmOverrides(this.#snapshot, overriding),
      report.running && getLockHolder(this.#cx, this.#snapshot, namespace),
      known(journal.entries()),
    ])
    const unread = entries.known || saved ? [] : [`the journal of kvup: ${entries.why}`]
    return {
      overrides: { ...settings.overrides, ...vms.overrides },
      remarks: [...(settings.remarks ?? []), ...(vms.remarks ?? []), ...unread],
      running,
      entries: itemsOf(entries),
    }
  }

  /** The same answer for some time, however often what else changes is told; undefined where it cannot be read. */
  async #sometimes<T>(name: string, read: () => Promise<T>): Promise<T | undefined> {
    const now = ticks(this.#snapshot.clock)
    const kept = this.#kept.get(name)
    const isFresh = kept !== undefined && now - kept.at < askEvery
    const answer = isFresh ? (kept.answer as Promise<T | undefined>) : asFarAsRead(read())
    if (!isFresh) this.#kept.set(name, { at: now, answer })
    return answer
  }

  /** Throws what `known` throws; what may not be read is not checked. */
  async #failing({
    report,
    entries = [],
    unread = [],
  }: StateInputs): Promise<Pick<StateInputs, 'failing' | 'canary' | 'unread'>> {
    const { instances } = report.workloads ?? {}
    if (instances === undefined) return { unread: [...unread, 'running VMs cannot be read'] }
    if (instances === 0) return {}
    const { cluster, clock } = this.#snapshot
    const { reader } = cluster
    // Of so many that they are not read the report says so.
    if (instances > allReadUpTo && (await asFarAsRead(areFewMigrations(reader))) === false) return {}
    const [kubevirt] = itemsOf(await listKubeVirts(reader))
    const reading = readInFlight({ reader, at: clock.now(), namespace: undefined, kubevirt })
    const inFlight = await known(reading.then((read) => [read]))
    if (!inFlight.known) return { unread: [...unread, `migrations: ${inFlight.why}`] }
    const hidden = inFlight.items[0]?.unread[0]
    const items = inFlight.items.flatMap((read) => migrationsReport(read).items)
    const failed = items.filter(({ state }) => state === 'failing' || state === 'failed')
    const endless = items.filter(({ failures }) => failures?.endless)
    return {
      failing: endless.map(placeText),
      canary: failedCanary(entries, new Set(failed.map(placeText))),
      ...(hidden && { unread: [...unread, `migrations: ${hidden.why}`] }),
    }
  }

  async #update(): Promise<StateInputs['update']> {
    const { cluster, clock } = this.#snapshot
    const { reader } = cluster
    const { installation, rolloutStatus } = await rolloutNow(reader, clock)
    const { world } = this.#cx
    const { targets } = await availableTargets({ reader, installation, rolloutStatus, world })
    const best = targets.find(({ isRecommended }) => isRecommended)
    return best && { to: best.version, next: best.next, details: best.details }
  }

  async #back(): Promise<string | undefined> {
    const { cluster, clock } = this.#snapshot
    const crds = await kubeVirtDefinitions(cluster.reader)
    return downgradeNow({ ...(await rolloutNow(cluster.reader, clock)), crds })
  }
}

/** Where the cluster stands now: the block that ends a command, drawn by `stateLines`. Throws what `statusReport` throws. */
export async function readClusterState(
  cx: Context,
  snapshot: ReadCluster,
  asks?: StatusAsks,
  reading?: Reading,
): Promise<{ report: StatusReport; state: ClusterState }> {
  const report = await statusReport(snapshot.cluster.reader, snapshot.clock, asks)
  return { report, state: (await new StatusReader(cx, snapshot, reading).document(report)).state }
}

const placeText = ({ namespace, vm }: { namespace: string; vm: string }): string => `${namespace}/${vm}`

/** ms. */
const askEvery = 30 * seconds
/** KubeVirt keeps five migrations of each VM: of so many VMs they are few enough for a look. */
const allReadUpTo = 1000

/** Of a folder: as of when it is judged, and what was passed over. */
function ofFolder({ files = [], passedOver = [], clock }: ReadCluster): Pick<StatusDocument, 'saved'> {
  if (files.length === 0) return {}
  return { saved: { asOf: clock.now().toISOString(), ...(passedOver.length > 0 && { passedOver }) } }
}

/** What kvup itself left in the cluster. */
type Own = Pick<StatusDocument, 'overrides' | 'remarks'> & Pick<StateInputs, 'running' | 'entries'>

type Overridden = Pick<StatusDocument, 'overrides' | 'remarks'>

async function overriddenSettings({ cluster }: ReadCluster, namespace: string): Promise<Overridden> {
  const found = await openOverrides(cluster.reader, namespace)
  return 'overrides' in found
    ? { overrides: { settings: found.overrides } }
    : { remarks: [`temporary changes of kvup: ${found.unread}`] }
}

/** A saved cluster need not hold its VMs: that is no news. */
async function vmOverrides(
  { cluster, saved }: ReadCluster,
  overriding: Promise<Overridden>,
): Promise<Overridden> {
  const counted: Known<number> = await known(countOverridden(cluster.reader).then((count) => [count]))
  if (!counted.known) return saved ? {} : { remarks: [`temporary changes of VMs: ${counted.why}`] }
  const [vms = 0] = counted.items
  if (vms === 0) return {}
  const { overrides: { settings = [] } = {} } = await overriding
  return { overrides: { vms, restore: restoreAllLine(settings.find(({ id }) => id === overrideId)) } }
}
