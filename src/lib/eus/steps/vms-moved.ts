import type { Reader } from '../../cluster/cluster.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes } from '../../system/units.ts'
import { forecastOutdated } from '../../workloads/eviction-finding.ts'
import { readOwner } from '../../workloads/find-owner.ts'
import { methodsOf, type Owner } from '../../workloads/update-methods.ts'
import { type WhoHolds, workloadsMoved } from '../../workloads/workloads-moved.ts'
import type { EusRequest } from '../run/window.ts'

type Taken = Pick<EusRequest, 'accepted' | 'command'>
type Unmoved = Extract<StepState, { is: 'waiting' | 'stalled' }>

const risk = 'vms-that-stay'

/**
 * Waits until KubeVirt has moved what it can. A VM that its methods would move, and that no node has room for, is waited for as long as nobody has taken it that
 * VMs stay; from then on it is not (ocp 6.3: none outdated, or accepted by name).
 */
export function vmsMoved(kubevirt: Owner, holds: WhoHolds, { accepted, command }: Taken): Step {
  const step = workloadsMoved(kubevirt, holds)
  const stuck = stuckNow(kubevirt)
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'waiting' && state.is !== 'stalled') return state
      const staying = await stuck(cx)
      if (state.is === 'waiting' && staying === 0) return state
      return accepted.includes(risk)
        ? { is: 'done', note: `not waited for: ${state.is === 'stalled' ? state.why : cannotMove(staying)}` }
        : withWayOn(state, staying, command)
    },
  }
}

const cannotMove = (count: number): string =>
  `${count} outdated ${count === 1 ? 'VM has' : 'VMs have'} nowhere to go as things are`

function withWayOn(state: Unmoved, staying: number, command: string): StepState {
  const remedy = [
    ...(state.remedy ?? []),
    'kvup workloads forecast     shows what keeps each where it is',
    `${command} --accept ${risk}     goes on without them`,
  ]
  return state.is === 'stalled'
    ? { ...state, remedy }
    : { ...state, trouble: state.trouble ?? cannotMove(staying), remedy }
}

/** Nodes, their room and each outdated VM are asked for once a minute, however often a migration changes. */
const every = minutes

/** How many outdated VMs stay where they are, where that is all that is left of them; 0 as long as one of them moves. */
function stuckNow(kubevirt: Owner): (cx: ReadContext) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }) => {
    const at = clock.now().getTime()
    if (last === undefined || at - last.at >= every) last = { at, count: await stuckIn(reader, kubevirt) }
    return last.count
  }
}

async function stuckIn(reader: Reader, owner: Owner): Promise<number> {
  const kubevirt = await readOwner(reader, owner)
  const { counts } = await forecastOutdated(reader, kubevirt, methodsOf(kubevirt))
  const { stays, ...moving } = counts
  return Object.values(moving).some((count) => count > 0) ? 0 : stays
}
