import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { type MigrationsDocument, migrationsView } from '../../lib/output/views/vms/migrations.ts'
import { exitCode, type ExitCode } from '../../lib/kube/errors.ts'
import { watchMigrations } from '../../lib/vms/migrations/migration-watch.ts'
import {
  ensureReadable,
  type MigrationSnapshot,
  readAround,
  readInFlight,
} from '../../lib/vms/migrations/migration-snapshot.ts'
import { NewestFinished } from '../../lib/vms/migrations/migration-ledger.ts'
import {
  finishedItem,
  migrationsReport,
  type MigrationsReport,
  settingsFor,
  type SettingsSnapshot,
} from '../../lib/vms/migrations/migration-report.ts'
import { asksCluster, fromOption, KvupCommand } from '../command-options.ts'
import { oneNamespaceHelps, partlyUnread, type ReadCluster, readerFor } from '../../lib/kubevirt/snapshot.ts'
import { namespaceOf, notThere } from '../../lib/vms/vm.ts'

export interface MigrationsOptions {
  watch?: boolean
  history?: boolean
  from?: string
  allNamespaces?: boolean
}

export function migrationsCommand(wire: Wire): KvupCommand {
  return new KvupCommand('migrations')
    .option('-w, --watch', 'keep watching; print every change')
    .addOption(
      new Option(
        '--history',
        'also those that are over, as far as KubeVirt keeps them: five of each VM',
      ).conflicts('watch'),
    )
    .option('-A, --all-namespaces', 'all namespaces; the default without -n')
    .addOption(fromOption().conflicts('watch'))
    .manual({
      examples: [
        ['kvup workloads migrations', 'what moves, waits or fails'],
        ['kvup workloads migrations -w', 'show it again at every change'],
        ['kvup workloads migrations -n demo --history', 'also those that are over'],
        ["kvup workloads migrations -o jsonpath='{.totals.endless}'", 'how many fail every time'],
      ],
      codes: [...asksCluster, 'interrupted', 'terminated'],
    })
    .action(wire(migrations))
}

/** So many of those that are over are shown; more are only counted. */
const historyAtMost = 500

/** Exit 0 whatever it finds; reads only. Throws `forbidden` where migrations may not be read. */
export async function migrations(cx: Context, options: MigrationsOptions): Promise<ExitCode> {
  const namespace = namespaceOf(cx.flags.namespace, options)
  const snapshot = await readerFor(cx, options.from)
  if (options.watch) return watch(cx, snapshot, namespace)
  const settings = await settingsFor(snapshot, namespace)()
  const newest = new NewestFinished(options.history ? historyAtMost : 0, namespace)
  const each = (migration: Parameters<NewestFinished['add']>[0]) => newest.add(migration)
  const asked = { ...around(snapshot, namespace, settings), ...(options.history && { each }) }
  const inFlight = await readInFlight(asked).catch((error: unknown) => {
    throw oneNamespaceHelps(error, 'kvup workloads migrations')
  })
  const report = reportOf(inFlight, settings)
  const { remarks: nowhere, failure } = foundNone(report)
    ? await notThere(snapshot, { namespace }, { isScript: false, running: true, output: cx.flags.output })
    : { remarks: [] }
  print(cx, { ...report, remarks: [...report.remarks, ...nowhere] }, newest)
  const refusal = partlyUnread(inFlight.unread)
  if (refusal) throw refusal
  if (failure) throw failure
  return exitCode.done
}

const foundNone = ({ items, totals, unread = [] }: MigrationsReport): boolean =>
  items.length + totals.succeeded + totals.failed + unread.length === 0

async function watch(cx: Context, snapshot: ReadCluster, namespace: string | undefined): Promise<ExitCode> {
  const { reader } = snapshot.cluster
  const { clock } = snapshot
  const settings = settingsFor(snapshot, namespace)
  await ensureReadable(reader, namespace)
  let before = ''
  await watchMigrations({ reader, clock, namespace, signal: cx.signal }, async (ledger, lost) => {
    const now = await settings()
    const partial = namespace !== undefined
    const inFlight = await readAround(ledger, { ...around(snapshot, namespace, now), partial })
    const report = reportOf(
      lost === undefined ? inFlight : { ...inFlight, remarks: [...inFlight.remarks, lost] },
      now,
    )
    const text = JSON.stringify([report.items, report.totals, report.remarks])
    if (text === before) cx.printer.unchanged(documentOf(report), migrationsView)
    else print(cx, report)
    before = text
  })
  return exitCode.done
}

function around(
  { cluster, clock }: ReadCluster,
  namespace: string | undefined,
  { kubevirt }: SettingsSnapshot,
) {
  return { reader: cluster.reader, at: clock.now(), namespace, kubevirt }
}

function reportOf(snapshot: MigrationSnapshot, { toMove, remarks }: SettingsSnapshot): MigrationsReport {
  return migrationsReport({ ...snapshot, remarks: [...snapshot.remarks, ...remarks] }, toMove)
}

function print({ printer }: Context, report: MigrationsReport, newest?: NewestFinished): void {
  printer.result(documentOf(report, newest), migrationsView, report.unread ? 'partial' : 'complete')
}

function documentOf(report: MigrationsReport, newest?: NewestFinished): MigrationsDocument {
  const { items, ...rest } = report
  // One that failed last stands for its VM already.
  const told = new Set(items.map((item) => `${item.namespace}/${item.migration}`))
  const over = (newest?.items.map(finishedItem) ?? []).filter(
    (item) => !told.has(`${item.namespace}/${item.migration}`),
  )
  const older = over.length > 0 ? newest?.older : 0
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Migrations',
    ...rest,
    ...(older && { older }),
    items: [...items, ...over],
  }
}
