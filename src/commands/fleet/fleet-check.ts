import type { Context } from '../../context.ts'
import { acceptedRisks } from '../../lib/checks/explanations.ts'
import {
  checkRowOf,
  checksInOrder,
  commonFindings,
  failedCheckRow,
  type FleetCheckRow,
  fleetCheckCode,
} from '../../lib/fleet/fleet-checks.ts'
import { failedRow } from '../../lib/fleet/fleet-rows.ts'
import { ownClock } from '../../lib/kube/clock.ts'
import { ensureFetched } from '../../lib/checks/check-definition.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { withKnownGroups } from '../../lib/kube/read-cache.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { type FleetCheckDocument, fleetCheckView } from '../../lib/output/views/fleet-check.ts'
import { readReleases } from '../../lib/releases/releases.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import { checkDocument, type CheckOptions, manifestObjects } from '../check/check.ts'
import type { FleetMember } from '../../lib/fleet/fleet-file.ts'
import {
  acceptedBy,
  eachOpen,
  fleetMembers,
  type FleetOptions,
  linesFor,
  openFleet,
  type OpenMember,
} from './members.ts'

/** What of `kvup check` is meant for many clusters: none makes pods, and none reads a saved one. */
export type FleetCheckOptions = FleetOptions &
  Pick<CheckOptions, 'to' | 'method' | 'manifest' | 'releases' | 'accept' | 'strict'>

/** `kvup fleet check`: `kvup check` on each cluster, one line each, and what several have in common. Exit as that of the worst. */
export async function fleetCheck(cx: Context, options: FleetCheckOptions): Promise<ExitCode> {
  const members = await fleetMembers(cx, options)
  const asked = await askedOnce(cx, options, members)
  const { open, failed } = await openFleet(cx, members, options)
  const again = (member: Pick<FleetMember, 'context' | 'kubeconfig'>) => checkLine(member, options)
  const rows = await eachOpen(cx, open, options, {
    work: (one) => checkRow(one, asked, again(one.member)),
    failed: ({ place, member }, error) => failedCheckRow(failedRow(place, error), again(member)),
  })
  const lost = failed.map((row) =>
    failedCheckRow(row, again(members.find(({ name }) => name === row.name) ?? row)),
  )
  const items = checksInOrder([...lost, ...rows])
  const document: FleetCheckDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'FleetCheck',
    takenAt: ownClock(cx.clock).now().toISOString(),
    ...(options.to !== undefined && { to: options.to }),
    strict: options.strict ?? false,
    items,
    common: commonFindings(items),
  }
  const isWhole = items.every(({ error, notChecked = 0 }) => error === undefined && notChecked === 0)
  cx.printer.result(document, fleetCheckView, isWhole ? 'complete' : 'partial')
  const code = fleetCheckCode(items)
  const unread = asked.read?.manifestUnread
  if (code === exitCode.blocked && unread !== undefined)
    ensureFetched(
      items.flatMap(({ findings }) =>
        findings.map((one) => (one.id === unread.id ? unread : { ...one, remedy: [] })),
      ),
    )
  return code
}

/** What is typed wrong is told before a cluster is asked, and what is read for all of them is read once. */
async function askedOnce(
  cx: Context,
  options: FleetCheckOptions,
  members: readonly FleetMember[],
): Promise<CheckOptions> {
  const { to, method, manifest, releases: file, accept, strict } = options
  const version = to === undefined ? undefined : parseVersion(to)
  const releases = await readReleases(cx.world, file)
  for (const one of members) acceptedRisks(acceptedBy(one, accept), releases)
  const read = await manifestObjects(cx, manifest, version)
  return {
    method,
    accept,
    ...(to !== undefined && { to }),
    ...(file !== undefined && { releases: file }),
    read,
    ...(strict !== undefined && { strict }),
  }
}

async function checkRow(
  { cx, member, place }: OpenMember,
  asked: CheckOptions,
  again: string,
): Promise<FleetCheckRow> {
  const read = await readerFor(cx, undefined)
  const reader = await withKnownGroups(read.cluster)
  const own: Context = {
    ...cx,
    // Lines to type are of this one.
    printer: { ...cx.printer, awaiting: () => undefined },
    world: { ...cx.world, commandLine: again },
  }
  const accept = acceptedBy(member, asked.accept)
  const document = await checkDocument(own, { ...asked, accept }, async () => ({
    ...read,
    cluster: { ...read.cluster, reader },
  }))
  const row = checkRowOf(place, document, again)
  const [next] = row.next === undefined ? [] : linesFor(member, [row.next])
  return next === undefined ? row : { ...row, next }
}

/** The line that checks this cluster alone in the same way. */
function checkLine(
  { context, kubeconfig }: Pick<FleetMember, 'context' | 'kubeconfig'>,
  options: FleetCheckOptions,
): string {
  const { to, method, manifest, releases, accept, strict } = options
  const flags: readonly (readonly [string, string | undefined])[] = [
    ['--kubeconfig', kubeconfig],
    ['--context', context],
    ['--to', to],
    ['--method', method === 'auto' ? undefined : method],
    ['--manifest', manifest],
    ['--releases', releases],
    ...accept.map((risk) => ['--accept', risk] as const),
  ]
  const words = flags.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(value)}`]))
  return ['kvup check', ...words, ...(strict ? ['--strict'] : [])].join(' ')
}
