import { isOfWindow, openOverrides } from '../../lib/engine/overrides.ts'
import type { Context } from '../../context.ts'
import { verdictCodes } from '../../lib/fleet/fleet-rows.ts'
import { leaseWatchOf } from '../../lib/kubevirt/lease-holders.ts'
import { notAsked } from '../../lib/kube/known.ts'
import { statusChanges, statusReport, type StatusReport } from '../../lib/status/status-report.ts'
import { type StatusDocument, statusView } from '../../lib/output/views/status.ts'
import { readClusterState, StatusReader } from './status-document.ts'
import { stateView } from '../../lib/output/views/cluster-state.ts'
import { noCluster } from '../../lib/status/cluster-state.ts'
import { withLines } from '../../lib/engine/change.ts'
import { seconds, ticks } from '../../lib/kube/clock.ts'
import { type ExitCode, exitCode, KvupError } from '../../lib/kube/errors.ts'
import type { AskAlerts } from '../../lib/openshift/layers.ts'
import { alertsByRoute, alertsUnasked, savedAlerts } from '../../lib/openshift/firing-alerts.ts'
import { type ReadCluster, readerFor } from '../../lib/kubevirt/snapshot.ts'
import { ensurePlace } from '../../lib/vms/vm.ts'

export interface StatusOptions {
  watch?: boolean
  exitCode?: boolean
  from?: string
  alerts?: 'route'
}

/** Where the cluster stands, and what to type; as `kvup status` it waits for virt-operator where its Lease has expired. Exit 0 where no kubeconfig names a cluster as well: that is where a new user begins. */
export async function head(cx: Context): Promise<ExitCode> {
  try {
    const snapshot = await readerFor(cx, undefined, 'platform')
    const { state } = await readClusterState(cx, snapshot, watchingOf(cx, snapshot))
    cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Status', state }, stateView)
    return exitCode.done
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    if (error.reason !== 'no-cluster') throw withLines(error, { remedy: [...error.remedy, ...firstSteps] })
    const state = noCluster(error.message)
    cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Status', state }, stateView)
    return exitCode.done
  }
}

const firstSteps = [
  'kvup --help     lists the commands',
  'kvup demo     tries an upgrade on a simulated cluster',
]

/** Exit 0 whatever it finds, unless asked for the verdict, which is that over all layers; no KubeVirt and no layers, or several, is `blocked`. */
export async function status(cx: Context, options: StatusOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  await ensurePlace(snapshot, { namespace: cx.flags?.namespace })
  if (options.watch) return watchStatus(cx, snapshot, options)
  const asks = {
    ...watchingOf(cx, snapshot),
    overridesAreOpen: eusOverridesOpen(snapshot),
    alerts: alertsFor(snapshot, options),
  }
  const report = await statusReport(snapshot.cluster.reader, snapshot.clock, asks)
  const document = await new StatusReader(cx, snapshot).document(report)
  cx.printer.result(document, statusView)
  if (!options.exitCode) return exitCode.done
  const code = verdictCodes[report.overall?.verdict ?? report.verdict ?? 'Degraded'] ?? exitCode.blocked
  if (code !== exitCode.done) await tellReason(cx, document)
  return code
}

/** Why the exit code is not 0, in one line on stderr, where stdout is no text for a person. */
async function tellReason({ printer, flags }: Context, document: StatusDocument): Promise<void> {
  if (flags.output === 'table' || flags.output === 'wide') return
  const { verdictOf } = await import('../../lib/output/formats/verdicts.ts')
  const verdict = verdictOf(document)
  if (verdict) printer.warn(verdict.text)
}

/** A saved cluster stands still: nothing of it can be watched. */
function watchingOf({ signal, printer }: Context, { saved, clock }: ReadCluster) {
  if (saved) return {}
  return { leases: leaseWatchOf(clock), signal, told: (line: string) => printer.note(line) }
}

/** Prometheus is not asked at each change of a cluster that rolls. */
const alertsEvery = 30 * seconds

/** By the Route, to which this user's token goes, where the flag says so: a command that only reads asks nobody. Of a saved cluster what its files hold. */
function alertsFor({ clock, saved }: ReadCluster, { alerts }: StatusOptions): AskAlerts {
  if (saved) return savedAlerts
  let last: { at: number; answer: Awaited<ReturnType<AskAlerts>> } | undefined
  return async (reader, busy) => {
    if (alerts === undefined) return busy ? alertsUnasked(reader) : notAsked
    if (last !== undefined && ticks(clock) - last.at < alertsEvery) return last.answer
    last = { at: ticks(clock), answer: await alertsByRoute(reader) }
    return last.answer
  }
}

async function watchStatus(cx: Context, snapshot: ReadCluster, options: StatusOptions): Promise<ExitCode> {
  const { clock, cluster } = snapshot
  const documents = new StatusReader(cx, snapshot, { isWatched: true })
  const watching = {
    reader: cluster.reader,
    clock,
    signal: cx.signal,
    told: (line: string) => cx.printer.note(line),
    unchanged: async (report: StatusReport) =>
      cx.printer.unchanged(await documents.document(report), statusView),
    overridesAreOpen: eusOverridesOpen(snapshot),
    alerts: alertsFor(snapshot, options),
  }
  for await (const report of statusChanges(watching))
    cx.printer.result(await documents.document(report), statusView)
  return exitCode.done
}

/** What `kvup eus` changed for a time stays so until its EUS upgrade is over. */
function eusOverridesOpen({ cluster }: ReadCluster): (namespace: string) => Promise<boolean> {
  return async (namespace) => {
    const found = await openOverrides(cluster.reader, namespace)
    return 'overrides' in found && found.overrides.some(isOfWindow)
  }
}
