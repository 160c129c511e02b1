import { type NarrowedCommand, narrowedLine, roleRemedy } from '../output/kvup-words.ts'
import type { CommandContext } from '../kube/world.ts'
import type { Cluster } from '../kube/cluster.ts'
import type { Needed } from '../kube/saved/saved-cluster.ts'
import type { Clock } from '../kube/clock.ts'
import { ApiError, forbidden, type KvupError } from '../kube/errors.ts'

/** What a command that only reads looks at, and the time at which it does. */
export interface ReadCluster {
  /** Of a saved cluster: its Writer refuses, and its Reviewer knows what was asked when it was saved. */
  cluster: Cluster
  clock: Clock
  saved: boolean
}

/**
 * The live cluster, or the saved one that `--from` names, whose time stands still at the moment when it was saved. Throws what opening
 * a cluster throws; `usage` for files that cannot be used, or hold nothing of what is `needed`.
 */
export async function readerFor(
  cx: Pick<CommandContext, 'cluster' | 'clock' | 'world'>,
  from: string | undefined,
  needed?: Needed,
): Promise<ReadCluster> {
  if (from === undefined) return { cluster: await cx.cluster(), clock: cx.clock, saved: false }
  const { parseSavedCluster, readSaved } = await import('../kube/saved/saved-file.ts')
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
  selection: { labels?: string; node?: string } = {},
): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error
  const line = narrowedLine(command, { ...selection, namespace: undefined })
  const remedy = [...error.remedy, `${line} -n NAMESPACE     in a namespace that you may`]
  return forbidden('forbidden', error.message, { remedy, object: error.object, cause: error })
}
