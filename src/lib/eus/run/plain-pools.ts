import type { Reader } from '../../cluster/cluster.ts'
import type { Step } from '../../procedure/step.ts'
import { readPlatform } from '../steps/read-platform.ts'
import { isAccepted, type Stop } from '../steps/at-stop.ts'
import { readPool } from '../steps/pool-now.ts'
import { roomForPool } from '../steps/room-for-pool.ts'
import { rolledPool } from '../steps/unpause-pool.ts'
import { pausable, type PausablePool, pausablePools } from './pausable-pools.ts'
import { type EusWindow, keyOf } from './window.ts'

/**
 * On a plain way the drains begin by themselves once the platform is asked for: so room, and the VMs that block them, are judged before it (night E5). A
 * single node is not drained.
 */
export async function roomsBefore(
  { plan, kubevirt, request }: EusWindow,
  stop: Stop,
  reader: Reader,
): Promise<readonly Step[]> {
  if (plan.topology === 'single-node') return []
  const { accepted, command } = request
  const isNext = async (cx: { reader: Reader }) => !isAccepted((await readPlatform(cx.reader)).standing, stop)
  return (await rollingPools(plan.topology, reader)).map((pool) =>
    roomForPool({ pool, kubevirt, accepted, command }, isNext),
  )
}

/** Where there are no others the master pool carries the VMs. */
async function rollingPools(
  topology: EusWindow['plan']['topology'],
  reader: Reader,
): Promise<readonly PausablePool[]> {
  if (topology !== 'compact') return pausablePools(reader)
  return [pausable((await readPool(reader, undefined)).pool)]
}

/** The other pools follow the control plane on a plain way, and are through before the operator and the next release. */
export async function poolsBehind({ name }: EusWindow, stop: Stop, reader: Reader): Promise<readonly Step[]> {
  return (await pausablePools(reader)).map((pool) => {
    const id = stop.version === undefined ? `rolled-${pool.name}` : `rolled-${pool.name}-${stop.version}`
    return rolledPool({ pool, name }, { id, dependsOn: [`request-${keyOf(stop)}`] })
  })
}
