import { Nodes } from '../../cluster/kinds/core.ts'
import { MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { Doorbell } from '../machinery/doorbell.ts'
import { machineRelease } from './machine-config/release-images.ts'
import { nodesOfPool } from './nodes.ts'
import { machineConfigPool } from './objects.ts'
import type { PlatformContext } from './platform-context.ts'
import type { PoolShape } from './shape.ts'

/** What other people do while an update is under way, when the fault is switched on: once each. */
export async function runInterference(cx: PlatformContext): Promise<void> {
  const bell = new Doorbell(cx.clock, cx.signal)
  const unpaused = new Set<string>()
  cx.faults.onChange(() => bell.ring(), cx.signal)
  while (!cx.signal.aborted) {
    const { addedPool, unpausedPools = [] } = cx.faults.on
    if (addedPool) await addPool(cx, addedPool)
    for (const name of unpausedPools.filter((one) => !unpaused.has(one))) {
      unpaused.add(name)
      await cx.writer.mergePatch(MachineConfigPools, { name }, { spec: { paused: false } })
    }
    for (const name of unpaused) if (!unpausedPools.includes(name)) unpaused.delete(name)
    await bell.wait()
  }
}

/** New machines are of the release that the platform has now. */
async function addPool(cx: PlatformContext, pool: PoolShape): Promise<void> {
  const { reader, writer, shape } = cx
  if ((await reader.find(MachineConfigPools, pool)).is !== 'absent') return
  const version = (await machineRelease(cx))?.version ?? shape.version
  for (const node of nodesOfPool({ ...shape, version }, pool)) {
    if ((await reader.find(Nodes, node.metadata)).is !== 'absent') continue
    const { status = {} } = node
    await writer.create(Nodes, node)
    await writer.mergePatch(Nodes, node.metadata, { status }, 'status')
  }
  await writer.create(MachineConfigPools, machineConfigPool(pool))
}
