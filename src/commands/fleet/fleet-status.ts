import type { Context } from '../../context.ts'
import { failedRow, fleetCode, type FleetRow, inOrder, rowOf } from '../../lib/fleet/fleet-rows.ts'
import { ownClock, seconds } from '../../lib/kube/clock.ts'
import type { ExitCode } from '../../lib/kube/errors.ts'
import { oncePaged, withKnownGroups } from '../../lib/kube/read-cache.ts'
import { leaseWatchOf } from '../../lib/kubevirt/lease-holders.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { type FleetStatusDocument, fleetStatusView } from '../../lib/output/views/fleet.ts'
import { readClusterState } from '../status/status-document.ts'
import { eachOpen, fleetMembers, type FleetOptions, linesFor, openFleet, type OpenMember } from './members.ts'

export interface FleetStatusOptions extends FleetOptions {
  watch?: boolean
  exitCode?: boolean
}

/** `kvup fleet status`: a line per cluster, by the judgement of `kvup status`. Exit as that of the worst cluster which could not be read; with --exit-code the verdicts count as well. */
export async function fleetStatus(cx: Context, options: FleetStatusOptions): Promise<ExitCode> {
  const members = await fleetMembers(cx, options)
  const readAll = async () => {
    const { open, failed } = await openFleet(cx, members, { ...options, mostSockets: 2 })
    return [...failed, ...(await readRows(cx, open, options))]
  }
  if (options.watch) return watchFleet(cx, readAll)
  const rows = await readAll()
  tell(cx, rows)
  return fleetCode(rows, options.exitCode ?? false)
}

const readEvery = 10 * seconds

/** Until Ctrl-C: all of it is read again, and told where it reads differently. */
async function watchFleet(cx: Context, readAll: () => Promise<readonly FleetRow[]>): Promise<ExitCode> {
  let before = ''
  for (;;) {
    const rows = await readAll()
    const text = JSON.stringify(rows)
    if (text === before) cx.printer.unchanged(documentOf(cx, rows), fleetStatusView)
    else tell(cx, rows)
    before = text
    await ownClock(cx.clock).sleep(readEvery, cx.signal)
  }
}

function tell(cx: Context, rows: readonly FleetRow[]): void {
  const isWhole = rows.every(({ error }) => error === undefined)
  cx.printer.result(documentOf(cx, rows), fleetStatusView, isWhole ? 'complete' : 'partial')
}

const documentOf = ({ clock }: Context, rows: readonly FleetRow[]): FleetStatusDocument => ({
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'FleetStatus',
  takenAt: ownClock(clock).now().toISOString(),
  items: inOrder(rows),
})

/** The row of each. */
export const readRows = (
  cx: Context,
  open: readonly OpenMember[],
  options: FleetOptions,
): Promise<readonly FleetRow[]> =>
  eachOpen(cx, open, options, { work: readRow, failed: ({ place }, error) => failedRow(place, error) })

/** The line of one cluster, by the judgement of `kvup status`. */
export async function readRow({
  cx,
  place,
  member,
}: Pick<OpenMember, 'cx' | 'place' | 'member'>): Promise<FleetRow> {
  const read = await readerFor(cx, undefined, 'platform')
  const reader = oncePaged(await withKnownGroups(read.cluster))
  const snapshot = { ...read, cluster: { ...read.cluster, reader } }
  const asks = { leases: leaseWatchOf(snapshot.clock), signal: cx.signal }
  // Which release is offered is asked of one cluster, by `kvup status`.
  const { report, state } = await readClusterState(cx, snapshot, asks, { isOffered: false })
  const row = rowOf(place, report, state)
  const [next] = row.next === undefined ? [] : linesFor(member, [row.next])
  return next === undefined ? row : { ...row, next }
}
