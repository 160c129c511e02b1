import { newControllerLeads } from '../../facts/controller.ts'
import type { Doubt } from '../../facts/doubts.ts'
import { holderOf } from '../../facts/leader.ts'
import { countUnlabelled } from '../../workloads/unlabelled.ts'
import type { Snapshot } from '../../facts/snapshot.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { Patience } from '../patience.ts'
import { ticks } from '../../system/clock.ts'
import { minutes, seconds } from '../../system/units.ts'
import { waitingFor } from './settled.ts'

/**
 * At "done" the outdated count is a stale 0 until a virt-controller of the new version holds its Lease and has labelled the
 * VMIs (lab README, Seen 10 and 15): before that nothing may be said of outdated workloads. Both are doubts: another release may
 * elect and label otherwise, so they are waited for no longer than the patience lasts.
 */
export function newControllerAtWork(owner: Owner, patience: Patience = new Patience()): Step {
  const missing = seldom(countUnlabelled)
  return {
    id: 'virt-controller-leads',
    title: 'outdated workloads are known',
    patience: { every: 3 * seconds, atMost: 60 * minutes },
    estimate: 15 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const seen = await look(cx, owner)
      const now = ticks(cx.clock)
      patience.saw(seen, now)
      const doubt = await controllerDoubt(seen.snapshot, () => missing(cx, seen.snapshot))
      if (!doubt) return { is: 'done' }
      const [waited] = patience.waitsFor([doubt], now)
      return waited ? waitingFor(waited) : { is: 'done', note: doubt.sentence }
    },
  }
}

/** What keeps counts of outdated VMs from being believed; `missing` says how many VMIs are not labelled and should be. */
export async function controllerDoubt(
  snapshot: Snapshot,
  missing: () => Promise<number>,
): Promise<Doubt | undefined> {
  const namespace = snapshot.kubevirts.known ? snapshot.kubevirts.items[0]?.metadata.namespace : undefined
  if (newControllerLeads(snapshot) === false) {
    const holder = holderOf(snapshot, 'virt-controller', namespace) ?? 'nobody'
    return {
      id: 'controller-lease',
      sentence: `the Lease of virt-controller is held by ${holder}, which is no pod of the new version: outdated VMs may not be counted yet`,
      look: [`kubectl -n ${namespace ?? ''} get lease virt-controller -o yaml`],
    }
  }
  const left = await missing()
  if (left === 0) return undefined
  return {
    id: 'vms-not-labelled',
    sentence: `virt-controller has not labelled ${left} ${left === 1 ? 'VM' : 'VMs'} on an old virt-launcher as outdated`,
    look: ['kubectl get vmi -A -l kubevirt.io/outdatedLauncherImage'],
  }
}

type Count = (reader: ReadContext['reader'], snapshot: Snapshot) => Promise<number>

/** All VMIs are listed for it: at most every five seconds, however often the step is woken. */
function seldom(count: Count): (cx: ReadContext, snapshot: Snapshot) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }, snapshot) => {
    const now = ticks(clock)
    if (last === undefined || last.count === 0 || now - last.at >= 5 * seconds)
      last = { at: now, count: await count(reader, snapshot) }
    return last.count
  }
}
