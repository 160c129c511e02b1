import { type Node, Nodes } from '../../../cluster/kinds/core.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../../cluster/kinds/openshift.ts'
import { whenRung } from '../../machinery/controller.ts'
import { share } from '../../machinery/share.ts'
import { type PlatformContext, seconds, writeStatus } from '../platform-context.ts'
import { poolOf } from './membership.ts'
import { nodeNote } from './names.ts'
import { isUnavailable, isUpdated, poolStatus } from './pool-status.ts'

/** How long a pool's status lags behind what happens, in ms: a pool that was just unpaused still says what it said before. */
const lag = 5000

/** Keeps the status of pools, and says to nodes of those that are not paused which configuration they are to take, maxUnavailable at a time. */
export function runPools(cx: PlatformContext): Promise<void> {
  return whenRung(
    cx,
    [{ kind: MachineConfigPools }, { kind: Nodes }],
    async () => {
      const pools = await cx.reader.list(MachineConfigPools)
      const nodes = await cx.reader.list(Nodes)
      for (const pool of pools)
        await tend(
          cx,
          pool,
          nodes.filter((node) => poolOf(node, pools) === pool),
        )
      return undefined
    },
    () => lag,
  )
}

async function tend(cx: PlatformContext, pool: MachineConfigPool, nodes: readonly Node[]): Promise<void> {
  const config = pool.spec?.configuration?.name
  if (config === undefined) return
  const fresh = nodes.filter(isNew)
  for (const node of fresh) await join(cx, node, pool.status?.configuration?.name ?? config)
  if (fresh.length > 0) return
  await writeStatus(cx, MachineConfigPools, pool, poolStatus(pool, nodes, seconds(cx)))
  for (const node of candidates(pool, nodes, config))
    await cx.writer.mergePatch(Nodes, node.metadata, {
      metadata: { annotations: { [nodeNote.desired]: config } },
    })
}

const isNew = ({ metadata }: Node): boolean => metadata.annotations?.[nodeNote.current] === undefined

/** A node that is new comes up with what its pool has. */
async function join(cx: PlatformContext, { metadata }: Node, config: string): Promise<void> {
  const annotations = { [nodeNote.current]: config, [nodeNote.desired]: config, [nodeNote.state]: 'Done' }
  await cx.writer.mergePatch(Nodes, metadata, { metadata: { annotations } })
}

/** Nodes whose turn it is, by name; none of a paused pool. */
function candidates({ spec = {} }: MachineConfigPool, nodes: readonly Node[], config: string): Node[] {
  if (spec.paused === true) return []
  const most = Math.max(1, share(spec.maxUnavailable ?? 1, nodes.length, 'down'))
  const room = most - nodes.filter(isUnavailable).length
  const due = nodes.filter((node) => !isUpdated(node, config) && isIdle(node))
  return due.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)).slice(0, Math.max(0, room))
}

const isIdle = ({ metadata }: Node): boolean => {
  const { annotations = {} } = metadata
  return (
    annotations[nodeNote.state] === 'Done' && annotations[nodeNote.current] === annotations[nodeNote.desired]
  )
}
