import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { readOwner } from '../../workloads/find-owner.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { type DrainRoom, drainRoom } from './drain-room.ts'
import { readPool } from './pool-now.ts'

/** A pool whose nodes are about to be drained. */
export interface Draining {
  pool: { name: string }
  kubevirt: Owner
  /** Ids of the risks that were accepted. */
  accepted: readonly string[]
  /** The line that goes on, with one more of them. */
  command: string
}

/** Night E5, right before the nodes of a pool are drained; `isNext` says whether they are about to be. */
export function roomForPool(
  { pool, kubevirt, accepted, command }: Draining,
  isNext: (cx: ReadContext) => Promise<boolean>,
): Step {
  return {
    id: `room-${pool.name}`,
    title: `room for the VMs of pool ${pool.name}`,
    patience: { every: 15 * seconds, atMost: minutes },
    estimate: 5 * seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx: ReadContext): Promise<StepState> {
      if (!(await isNext(cx))) return { is: 'done' }
      const { nodes } = await readPool(cx.reader, pool.name)
      const names = new Set(nodes.map(({ metadata }) => metadata.name))
      const { blocking, tooSmall } = await drainRoom(cx.reader, await readOwner(cx.reader, kubevirt), names)
      if (blocking.length > 0 && !accepted.includes('vms-block-drains'))
        return blockedBy(blocking, pool.name, command)
      if (tooSmall && !accepted.includes('no-room')) return noRoom(tooSmall, command)
      return { is: 'done' }
    },
  }
}

function blockedBy(vms: readonly string[], pool: string, command: string): StepState {
  const [refuse, hold] = vms.length === 1 ? ['1 VM refuses', 'holds'] : [`${vms.length} VMs refuse`, 'hold']
  return {
    is: 'blocked',
    reason: 'vms-block-drains',
    by: `${refuse} to be evicted, and ${hold} the drains of pool ${pool} up: ${vms.slice(0, 10).join(', ')}`,
    remedy: [
      'kvup workloads unblock --all     lets them be evicted, once they are restarted',
      'kvup rollout restart     restarts those that wait for it',
      `${command} --accept vms-block-drains     goes on all the same`,
    ],
  }
}

function noRoom({ node, asks, free }: NonNullable<DrainRoom['tooSmall']>, command: string): StepState {
  return {
    is: 'blocked',
    reason: 'no-room',
    by: `the VMs on node ${node} ask for ${inGib(asks)}, and the other nodes have ${inGib(free)} left`,
    remedy: [
      'kvup workloads forecast     shows where VMs can go',
      `${command} --accept no-room     goes on all the same`,
    ],
  }
}

const gib = 1024 ** 3

const inGib = (bytes: number): string => `${(bytes / gib).toFixed(1)} GiB of memory`
