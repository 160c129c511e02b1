import { MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { isMasterPool } from '../../facts/openshift/pool-standing.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { keptBaseline } from './kept.ts'

interface Watching {
  /** Of the procedure. */
  name: string
  accepted: readonly string[]
}

/** The same step, but it ends as soon as somebody unpauses a pool of ours, or a pool appears (night E5): nodes would roll to a release in between. */
export function whilePaused(step: Step, watching: Watching): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is === 'done' || state.is === 'blocked') return state
      return (await disturbance(cx, watching)) ?? state
    },
  }
}

async function disturbance(
  { reader, journal }: ReadContext,
  { name, accepted }: Watching,
): Promise<StepState | undefined> {
  const [pools, loans, began] = [
    await reader.list(MachineConfigPools),
    await journal.loans(),
    await keptBaseline(journal, name),
  ]
  if (began?.way === 'plain') return undefined
  const paused = new Set(loans.filter(isPause).map(({ object }) => object.uid))
  const unpaused = pools.find(({ metadata, spec }) => paused.has(metadata.uid ?? '') && spec?.paused !== true)
  if (unpaused) return unpausedBy(unpaused.metadata.name)
  const known = began?.pools
  const appeared = pools.find(
    (pool) =>
      known !== undefined &&
      !isMasterPool(pool) &&
      pool.spec?.paused !== true &&
      (pool.status?.machineCount ?? 0) > 0 &&
      !known.includes(pool.metadata.name),
  )
  return appeared && !accepted.includes('pool-appeared') ? poolAppeared(appeared.metadata.name) : undefined
}

const isPause = ({ id }: Loan): boolean => id.startsWith('pool-paused/')

function unpausedBy(pool: string): StepState {
  return {
    is: 'blocked',
    reason: 'borrowed-changed',
    by: `somebody unpaused pool ${pool}, which kvup has paused: its nodes follow the platform now`,
    remedy: [
      'kvup eus run --accept borrowed-changed     pauses it again',
      `kvup eus restore pool-paused/${pool} --keep-current     leaves it unpaused and forgets the kept value`,
      `oc get machineconfigpool ${pool} -o yaml --show-managed-fields     shows who wrote it`,
    ],
  }
}

/** Not one of those that were there at the beginning. */
export function poolAppeared(pool: string): Extract<StepState, { is: 'blocked' }> {
  return {
    is: 'blocked',
    reason: 'pool-appeared',
    by: `pool ${pool} appeared since the window was opened, and is not paused: its nodes follow the platform`,
    remedy: [
      'kvup eus run --accept pool-appeared     pauses and keeps it as well',
      `oc patch machineconfigpool ${pool} --type=merge -p '{"spec":{"paused":true}}'     pauses it, and leaves that to you`,
    ],
  }
}
