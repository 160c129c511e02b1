import { isOfWindow, openOverrides } from '../lib/engine/overrides.ts'
import { Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import { leaseWatchOf } from '../lib/kubevirt/lease-holders.ts'
import { filled, known, notAsked } from '../lib/kube/known.ts'
import { statusChanges, statusReport, type StatusReport } from '../lib/status/status-report.ts'
import { type EarlierDump, type StatusDocument, statusView } from '../lib/output/views/status.ts'
import { overrideId, restoreUpdatesLine } from '../lib/vms/update-methods.ts'
import { countOverridden } from '../lib/vms/unblock/vm-overrides.ts'
import { clockSkew, seconds, ticks } from '../lib/kube/clock.ts'
import { type ExitCode, exitCode, KvupError } from '../lib/kube/errors.ts'
import { alertsOption, asksCluster, fromOption, manual } from './command-options.ts'
import type { AskAlerts } from '../lib/openshift/layers.ts'
import { alertsByRoute, routeQuestion, savedAlerts } from '../lib/openshift/firing-alerts.ts'
import { getLockHolder } from '../lib/vms/lock-holder.ts'
import { type ReadCluster, readerFor } from '../lib/kubevirt/snapshot.ts'

export interface StatusOptions {
  watch?: boolean
  exitCode?: boolean
  from?: string
  alerts?: 'route'
}

export function statusCommand(wire: Wire): Command {
  return new Command('status')
    .option('-w, --watch', 'go on, and print again at every change')
    .addOption(fromOption().conflicts('watch'))
    .addOption(alertsOption('without it a terminal is asked once where the platform or a pool is not idle'))
    .option('--exit-code', 'exit 0 when Healthy, 10 Updating or Waiting, 4 Stalled, 3 Degraded')
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup status', 'one look'],
          ['kvup status -w', 'and again at every change'],
          ['kvup status --exit-code', 'for a script: the verdict is the code'],
          ['kvup status --from cluster.ndjson.gz', 'of a saved cluster'],
          ['kvup status --from dumps/', 'of what oc get clusterversion,co,mcp,nodes -o yaml printed'],
          ["kvup status -o jsonpath='{.verdict}'", 'one word'],
        ],
        formats: ['github', 'prometheus'],
        codes: [...asksCluster, 'timedOut', 'asked'],
      }),
    )
    .action(wire(status))
}

const codes: Record<NonNullable<StatusReport['overall']>['verdict'], ExitCode> = {
  Healthy: exitCode.done,
  Updating: exitCode.asked,
  Waiting: exitCode.asked,
  Stalled: exitCode.timedOut,
  Degraded: exitCode.blocked,
}

/** Exit 0 whatever it finds, unless asked for the verdict, which is that over all layers; no KubeVirt and no layers, or several, is `blocked`. */
export async function status(cx: Context, options: StatusOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  if (options.watch) return watchStatus(cx, snapshot, options)
  const asks = {
    ...watchingOf(cx, snapshot),
    overridesAreOpen: eusOverridesOpen(snapshot),
    alerts: alertsFor(cx, snapshot, options),
  }
  const report = await statusReport(snapshot.cluster.reader, snapshot.clock, asks)
  cx.printer.result(await documentOf(cx, report, snapshot), statusView)
  return options.exitCode ? codes[report.overall?.verdict ?? report.verdict ?? 'Degraded'] : exitCode.done
}

/** A saved cluster stands still: nothing of it can be watched. */
function watchingOf({ signal, printer }: Context, { saved, clock }: ReadCluster) {
  if (saved) return {}
  return { leases: leaseWatchOf(clock), signal, told: (line: string) => printer.note(line) }
}

/** Prometheus is not asked at each change of a cluster that rolls. */
const alertsEvery = 30 * seconds

/** By the Route, to which this user's token goes, where a flag or a person on a terminal says so; a watch asks nobody. Of a saved cluster what its files hold. */
function alertsFor(
  { prompt }: Context,
  { clock, saved }: ReadCluster,
  { alerts, watch }: StatusOptions,
): AskAlerts {
  if (saved) return savedAlerts
  let last: { at: number; answer: Awaited<ReturnType<AskAlerts>> } | undefined
  return async (reader, busy) => {
    if (last !== undefined && ticks(clock) - last.at < alertsEvery) return last.answer
    const mayAsk = alerts === undefined && busy && !watch
    const isAllowed = alerts === 'route' || (mayAsk && (await prompt.decide?.(routeQuestion)) === true)
    if (!isAllowed) return notAsked
    last = { at: ticks(clock), answer: await alertsByRoute(reader) }
    return last.answer
  }
}

/** Until Ctrl-C. */
async function watchStatus(cx: Context, snapshot: ReadCluster, options: StatusOptions): Promise<ExitCode> {
  const { clock, cluster } = snapshot
  const watching = {
    reader: cluster.reader,
    clock,
    signal: cx.signal,
    told: (line: string) => cx.printer.note(line),
    overridesAreOpen: eusOverridesOpen(snapshot),
    alerts: alertsFor(cx, snapshot, options),
  }
  for await (const report of statusChanges(watching))
    cx.printer.result(await documentOf(cx, report, snapshot), statusView)
  return exitCode.done
}

/** With what is borrowed and who has the lock: both are part of where a cluster stands. */
async function documentOf(cx: Context, report: StatusReport, snapshot: ReadCluster): Promise<StatusDocument> {
  const { ahead } = snapshot.clock
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Status',
    ...report,
    ...(ahead && { clock: clockSkew(ahead) }),
    ...(await ofFolder(snapshot)),
  } as const
  if (!report.installation) return document
  const { namespace } = report.installation
  const overriding = overriddenSettings(snapshot, namespace)
  const [settings, vms, running] = await Promise.all([
    overriding,
    vmOverrides(snapshot, overriding),
    report.running && getLockHolder(cx, snapshot, namespace),
  ])
  const remarks = [report.remarks, settings.remarks, vms.remarks].flatMap((some) => some ?? [])
  const overrides = { ...settings.overrides, ...vms.overrides }
  return {
    ...document,
    ...(running && { running }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(remarks.length > 0 && { remarks }),
  }
}

/** Of a folder of dumps: as of when it is judged, what was passed over, and what the dumps of other moments say, each for itself. */
async function ofFolder(snapshot: ReadCluster): Promise<Pick<StatusDocument, 'saved' | 'earlier'>> {
  const { files = [], passedOver = [], earlier = [], clock } = snapshot
  if (files.length === 0) return {}
  const before = await Promise.all(earlier.map(earlierDump))
  return {
    saved: { asOf: clock.now().toISOString(), ...(passedOver.length > 0 && { passedOver }) },
    ...(before.length > 0 && { earlier: before }),
  }
}

async function earlierDump(read: ReadCluster): Promise<EarlierDump> {
  const { cluster, clock, files = [], otherCluster } = read
  const dump = { asOf: clock.now().toISOString(), files, ...filled({ otherCluster }) }
  try {
    const { overall, layers, window } = await statusReport(cluster.reader, clock)
    return { ...dump, ...filled({ overall, layers, window }) }
  } catch (error) {
    if (error instanceof KvupError) return { ...dump, why: error.message }
    throw error
  }
}

/** What `kvup eus` borrows it has until its window is over. */
function eusOverridesOpen({ cluster }: ReadCluster): (namespace: string) => Promise<boolean> {
  return async (namespace) => {
    const found = await openOverrides(cluster.reader, namespace)
    return 'overrides' in found && found.overrides.some(isOfWindow)
  }
}

type Overridden = Pick<StatusDocument, 'overrides' | 'remarks'>

async function overriddenSettings({ cluster }: ReadCluster, namespace: string): Promise<Overridden> {
  const found = await openOverrides(cluster.reader, namespace)
  return 'overrides' in found
    ? { overrides: { settings: found.overrides } }
    : { remarks: [`what is borrowed: ${found.unread}`] }
}

/** A saved cluster need not hold its VMs: that is no news. */
async function vmOverrides(
  { cluster, saved }: ReadCluster,
  overriding: Promise<Overridden>,
): Promise<Overridden> {
  const counted = await known(countOverridden(cluster.reader).then((count) => [count]))
  if (!counted.known) return saved ? {} : { remarks: [`what VMs were lent: ${counted.why}`] }
  const [vms = 0] = counted.items
  if (vms === 0) return {}
  const { overrides: { settings = [] } = {} } = await overriding
  return { overrides: { vms, restore: restoreUpdatesLine(settings.find(({ id }) => id === overrideId)) } }
}
