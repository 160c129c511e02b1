import { Option } from 'commander'
import type { Context } from '../context.ts'
import type { World } from '../lib/kube/world.ts'
import type { Cluster } from '../lib/kube/cluster.ts'
import type { Needed } from '../lib/kube/saved/saved-cluster.ts'
import type { Clock } from '../lib/kube/clock.ts'
import { ApiError, forbidden, type KvupError, usageError } from '../lib/kube/errors.ts'
import { roleRemedy } from '../lib/kube/access-rights.ts'
import { type NarrowedCommand, narrowedLine } from '../lib/kube/shell-line.ts'
import type { SelectedVms } from './workloads/vm-selection.ts'
import { knownReleases, parseReleases, type Releases } from '../lib/releases/releases.ts'
import { Leases } from '../lib/kube/kinds/core-kinds.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import { lockHolder } from '../lib/kubevirt/lease-holders.ts'
import type { ShownHolder } from '../lib/output/views/report-lines.ts'
import { isDead, leaseName, processOf } from '../lib/engine/lease.ts'

/** What a command that only reads looks at, and the time at which it does. */
export interface ReadCluster {
  /** Of a saved cluster: its Writer refuses, and its Reviewer knows what was asked when it was saved. */
  cluster: Cluster
  clock: Clock
  saved: boolean
}

export const fromOption = (): Option =>
  new Option(
    '--from <file>',
    'judge a saved cluster: what kvup snapshot or kubectl get -o yaml wrote, a file, a folder or - for stdin',
  )

/**
 * The live cluster, or the saved one that `--from` names, whose time stands still at the moment when it was saved. Throws what opening
 * a cluster throws; `usage` for files that cannot be used, or hold nothing of what is `needed`.
 */
export async function readerFor(
  cx: Context,
  from: string | undefined,
  needed?: Needed,
): Promise<ReadCluster> {
  if (from === undefined) return { cluster: await cx.cluster(), clock: cx.clock, saved: false }
  const { parseSavedCluster, readSaved } = await import('../lib/kube/saved/saved-file.ts')
  const cluster =
    from === '-'
      ? await parseSavedCluster(await cx.world.readStdin(), 'standard input', needed)
      : await readSaved(from, needed)
  const { takenAt = cx.clock.now() } = cluster
  const clock: Clock = { now: () => takenAt, sleep: async (ms, signal) => cx.clock.sleep(ms, signal) }
  return { cluster, clock, saved: true }
}

/** The end of a command that could not see all it was asked for: what is readable was done and told by then. Undefined: all of it was. */
export function partlyUnread(unread: readonly { why: string }[] = []): KvupError | undefined {
  const [first, ...more] = unread
  if (first === undefined) return undefined
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return forbidden('partly-unread', `not all of it may be read: ${first.why}${others}`, {
    remedy: roleRemedy('kvup-view'),
  })
}

/** Who may not see all namespaces may often see one: with this command, of what was asked for. */
export function oneNamespaceHelps(
  error: unknown,
  command: NarrowedCommand,
  selection: SelectedVms = {},
): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error
  const line = narrowedLine(command, { ...selection, namespace: undefined })
  const remedy = [...error.remedy, `${line} -n NAMESPACE     in a namespace that you may`]
  return forbidden('forbidden', error.message, { remedy, object: error.object, cause: error })
}

/** The built-in release data, or those of a file. Throws `usage` for one that cannot be read or is no release file. */
export async function readReleases({ readText }: Pick<World, 'readText'>, file?: string): Promise<Releases> {
  if (file === undefined) return knownReleases
  const text = await readText(file).catch((cause: unknown) => {
    throw usageError(
      'releases-unread',
      `cannot read the release file ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: 'kvup releases -o json prints one', cause },
    )
  })
  return parseReleases(text, file)
}

/**
 * Who holds kvup's lock in KubeVirt's namespace, and whether its process is gone, where it ran on this very machine. Undefined
 * where nobody holds it, or Leases may not be read.
 */
export async function getLockHolder(
  { world }: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  { cluster, clock, saved }: ReadCluster,
  namespace: string,
): Promise<ShownHolder | undefined> {
  const leases = itemsOf(await known(cluster.reader.list(Leases, { namespace, name: leaseName })))
  const found = lockHolder(
    leases.find(({ metadata }) => metadata.name === leaseName),
    clock.now(),
  )
  if (found === undefined) return undefined
  const process = saved || !isDead(found.holder, world) ? undefined : processOf(found.holder)
  return { ...found, ...(process && { gone: process }) }
}
