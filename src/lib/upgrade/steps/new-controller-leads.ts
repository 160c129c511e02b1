import { newControllerLeads } from '../../facts/controller.ts'
import { countUnlabelled } from '../../workloads/unlabelled.ts'
import type { Snapshot } from '../../facts/snapshot.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { minutes, seconds } from '../../system/units.ts'

/**
 * At "done" the outdated count is a stale 0 until a virt-controller of the new version holds its Lease and has labelled the
 * VMIs (lab README, Seen 10 and 15): before that nothing may be said of outdated workloads.
 */
export function newControllerAtWork(owner: Owner): Step {
  const missing = seldom(countUnlabelled)
  return {
    id: 'virt-controller-leads',
    title: 'outdated workloads are known',
    patience: { every: 3 * seconds, atMost: 5 * minutes },
    estimate: 15 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const { snapshot } = await look(cx, owner)
      const leads = newControllerLeads(snapshot)
      if (leads === false)
        return { is: 'waiting', on: 'a virt-controller of the new version to take its Lease' }
      const left = await missing(cx, snapshot)
      return left === 0
        ? { is: 'done' }
        : { is: 'waiting', on: `virt-controller to label ${left} outdated VMIs` }
    },
  }
}

type Count = (reader: ReadContext['reader'], snapshot: Snapshot) => Promise<number>

/** All VMIs are listed for it: at most every five seconds, however often the step is woken. */
function seldom(count: Count): (cx: ReadContext, snapshot: Snapshot) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }, snapshot) => {
    const now = clock.now().getTime()
    if (last === undefined || last.count === 0 || now - last.at >= 5 * seconds)
      last = { at: now, count: await count(reader, snapshot) }
    return last.count
  }
}
