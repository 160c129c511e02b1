import { Nodes } from '../../cluster/kinds/core.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { hours, seconds } from '../../system/units.ts'
import type { Meanwhile } from '../../workloads/restore.ts'
import type { PausablePool } from '../run/pausable-pools.ts'
import { poolPaused } from '../loans/fields.ts'
import { loanNamed } from '../loans/find-borrowed.ts'
import { giveField } from '../loans/give.ts'
import { keepPool, keptPool } from './kept.ts'
import { type Draining, roomForPool } from './room-for-pool.ts'
import { behind, poolBefore, poolFollows, type PoolNow, readPool, untilUpdated } from './pool-now.ts'

export interface Unpausing extends Draining {
  pool: PausablePool
  /** Of the procedure. */
  name: string
  /** What to do where somebody else unpaused it. Default: ask. */
  meanwhile?: Meanwhile
}

/**
 * One pool back to work: room for its largest node and no VM that blocks its drain, then unpaused, then waited for until it has rolled. The next pool
 * comes after it (night E5).
 */
export function unpausePool(unpausing: Unpausing): readonly Step[] {
  const { pool } = unpausing
  const isOurs = async ({ journal }: ReadContext) =>
    loanNamed(await journal.loans(), `pool-paused/${pool.name}`) !== undefined
  return [roomForPool(unpausing, isOurs), unpause(unpausing), rolledPool(unpausing)]
}

function unpause({ pool, name, meanwhile = 'ask' }: Unpausing): Step {
  const give = giveField(poolPaused(pool), {
    id: `unpause-${pool.name}`,
    title: `unpause pool ${pool.name}`,
    meanwhile,
    dependsOn: [`pause-${pool.name}`],
  })
  return {
    ...give,
    risk: {
      undo: 'pausing it again keeps what is not yet updated as it is',
      safeToLeave: 'always: it goes on by itself',
    },
    async apply(cx) {
      await keepPool(cx.journal, name, pool.name, poolBefore(await readPool(cx.reader, pool.name)))
      return give.apply?.(cx)
    },
  }
}

type Rolling = Pick<Unpausing, 'pool' | 'name'> & Partial<Pick<Unpausing, 'accepted' | 'command'>>

/** A new Updating transition where something waited for it, then Updated, and the kubelets those of the control plane (ocp 3.5). */
export function rolledPool(
  { pool, name, accepted = [], command = 'kvup eus run' }: Rolling,
  { id, dependsOn }: Pick<Step, 'id' | 'dependsOn'> = {
    id: `rolled-${pool.name}`,
    dependsOn: [`unpause-${pool.name}`],
  },
): Step {
  return {
    id,
    title: `nodes of pool ${pool.name}`,
    patience: { every: 15 * seconds, atMost: 24 * 24 * hours },
    estimate: pool.rollsFor,
    follows: [...poolFollows, { kind: Nodes, where: {} }],
    ...(dependsOn && { dependsOn }),
    risk: { undo: 'none', safeToLeave: 'always: it goes on by itself' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const now = await readPool(reader, pool.name)
      const { standing, nodes, kubernetes } = now
      const before = await keptPool(journal, name, pool.name)
      if (standing.paused)
        return whilePausedByOthers(now, { isOurs: before !== undefined, accepted, command })
      const waiting = untilUpdated(now)
      if (waiting) return waiting
      if (before?.pending && poolBefore(now).updating === before.updating)
        return { is: 'waiting', on: `pool ${pool.name} to begin` }
      const old = behind(nodes, kubernetes)
      return old.length === 0
        ? { is: 'done', note: `${standing.updated} of ${standing.machines} machines at ${kubernetes}` }
        : { is: 'waiting', on: `the kubelets of ${old.slice(0, 10).join(', ')} to be those of ${kubernetes}` }
    },
  }
}

/**
 * Who kept a pool paused all along is left to it. One that kvup has unpaused, and that was paused again before it was through, has nodes behind: the window is not over for
 * them, unless that is accepted by name.
 */
function whilePausedByOthers(
  { standing, nodes, kubernetes }: PoolNow,
  { isOurs, accepted, command }: Required<Pick<Rolling, 'accepted' | 'command'>> & { isOurs: boolean },
): StepState {
  const { name, state, updated, machines } = standing
  const isThrough = state === 'updated' && behind(nodes, kubernetes).length === 0
  if (!isOurs || isThrough || accepted.includes('pool-paused-already'))
    return { is: 'done', note: 'paused by somebody else: left as it is' }
  return {
    is: 'blocked',
    reason: 'pool-paused-already',
    by: `somebody paused pool ${name} again after kvup had unpaused it, with ${updated} of ${machines} machines updated: the others stay at the older release`,
    remedy: [
      `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     lets it go on; then the same command again`,
      `${command} --accept pool-paused-already     leaves it paused, and ends without it`,
      `oc get machineconfigpool ${name} -o yaml --show-managed-fields     shows who wrote it`,
    ],
  }
}
