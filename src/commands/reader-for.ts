import { Option } from 'commander'
import type { Context } from '../context.ts'
import type { Cluster } from '../lib/cluster/cluster.ts'
import type { Needed } from '../lib/cluster/saved/saved-cluster.ts'
import type { Clock } from '../lib/system/clock.ts'

/** What a command that only reads looks at, and the time at which it does. */
export interface LookedAt {
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
export async function readerFor(cx: Context, from: string | undefined, needed?: Needed): Promise<LookedAt> {
  if (from === undefined) return { cluster: await cx.cluster(), clock: cx.clock, saved: false }
  const { parseSavedCluster, readSaved } = await import('../lib/cluster/saved/read-saved.ts')
  const cluster =
    from === '-'
      ? await parseSavedCluster(await cx.world.readStdin(), 'standard input', needed)
      : await readSaved(from, needed)
  const { takenAt = cx.clock.now() } = cluster
  const clock: Clock = { now: () => takenAt, sleep: async (ms, signal) => cx.clock.sleep(ms, signal) }
  return { cluster, clock, saved: true }
}
