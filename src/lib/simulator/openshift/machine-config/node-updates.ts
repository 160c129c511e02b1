import { type Node, Nodes } from '../../../cluster/kinds/core.ts'
import { ApiError } from '../../../system/errors.ts'
import { untilAborted } from '../../machinery/controller.ts'
import type { PlatformContext } from '../platform-context.ts'
import { nodeNote } from './names.ts'
import { updateNode } from './node-update.ts'

/** How long a node is left alone after the API refused something, in ms. */
const retry = 5000

/** The machine-config-daemon of every node: takes each to the configuration that it is told. Rejects with a bug of the simulator. */
export async function runNodeUpdates(cx: PlatformContext): Promise<void> {
  const underway = new Map<string, Promise<void>>()
  const bug = new AbortController()
  const own = { ...cx, signal: AbortSignal.any([cx.signal, bug.signal]) }
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.follow(Nodes, {}, own.signal)) {
      if (change.type !== 'added' && change.type !== 'modified') continue
      const { name } = change.object.metadata
      if (!isDue(change.object) || underway.has(name)) continue
      const work = untilDone(own, name).catch((error: unknown) => bug.abort(error))
      underway.set(
        name,
        work.finally(() => underway.delete(name)),
      )
    }
  })
}

function isDue({ metadata }: Node): boolean {
  const { annotations = {} } = metadata
  const current = annotations[nodeNote.current]
  return current !== undefined && annotations[nodeNote.desired] !== current
}

/** Until the node has what it is to have, which may change meanwhile. */
async function untilDone(cx: PlatformContext, name: string): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for (;;) {
      const found = await cx.reader.find(Nodes, { name })
      if (found.is !== 'object' || !isDue(found.object)) return
      await tried(cx, name)
    }
  })
}

async function tried(cx: PlatformContext, name: string): Promise<void> {
  try {
    await updateNode(cx, name)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await cx.clock.sleep(retry, cx.signal)
  }
}
