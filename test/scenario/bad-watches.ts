import { type Change, type Cluster, readerWith, type Where } from '../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'

/** `silent`: after the first sync nothing more is said. `dying`: the stream is lost after so many changes, each time. */
export type Badness = { is: 'silent' } | { is: 'dying'; after: number }

/** The cluster, but with watches that do not do what they promise. */
export function withBadWatches({ reader, writer, reviewer }: Cluster, badness: Badness): Cluster {
  return {
    reader: readerWith(reader, {
      async *watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) {
        const changes = reader.watch(kind, where, signal)
        yield* badness.is === 'silent' ? untilSynced(changes, signal) : dying(changes, badness.after)
      },
    }),
    writer,
    reviewer,
  }
}

async function* untilSynced<T>(changes: AsyncIterable<Change<T>>, signal: AbortSignal) {
  for await (const change of changes) {
    yield change
    if (change.type === 'synced') break
  }
  if (!signal.aborted)
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
}

async function* dying<T>(changes: AsyncIterable<Change<T>>, after: number): AsyncGenerator<Change<T>> {
  let count = 0
  let synced = false
  for await (const change of changes) {
    yield change
    synced ||= change.type === 'synced'
    if (synced && ++count > after) {
      yield { type: 'lost', why: 'the proxy cut the connection' }
      return
    }
  }
}
