import { earliest } from '../facts/elapsed.ts'
import { outdatedOnes } from '../facts/workload-count.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../cluster/kinds/virtual-machines.ts'
import type { ReadContext, Step, StepState } from '../procedure/step.ts'
import { readOwner } from './find-owner.ts'
import { countMoving } from './forecast.ts'
import { type HeldUp, heldUpVms } from './held-up.ts'
import { guardsLoan, heldForHarm } from './left-held.ts'
import { type NodesNow, nodesNow } from './nodes-now.ts'
import { onKubeVirt, type SettingsOwner } from './strategy/owner.ts'
import { type HoldAgain, holdAgain, stoppedBy, waysOn } from './update/hold-again.ts'
import { MovesWatch } from './update/moves-watch.ts'
import { toEnd } from './update/to-end.ts'
import { keptMethods, methodsOf, type Owner } from './update-methods.ts'
import { hours, seconds } from '../system/units.ts'
import { clusterEvictionOf } from './cluster-eviction.ts'

const every = 15 * seconds

/** Who holds again where VMs come to harm. */
export interface WhoHolds {
  who: string
  /** Somebody else owns the setting: nothing is written, and it has to be committed. */
  follow: boolean
  /** When the run began, ms since the epoch. */
  since: number
  /** Whose the settings are, where that is not the KubeVirt itself. */
  settings?: SettingsOwner
}

/**
 * Waits until no VM is outdated but those that the present methods leave where they are. Two launchers for one VMI, or three VMs that
 * fail for one reason: workload updates are held again (night W5), by whoever owns them.
 */
export function workloadsMoved(owner: Owner, { who, follow, since, settings }: WhoHolds): Step {
  const holder = settings ?? onKubeVirt(owner)
  const again = holdAgain(holder, who)
  const watch = new MovesWatch(since)
  const heldUp = heldUpNow()
  const nodes = nodesNow()
  return {
    id: 'workloads',
    title: 'virtual machines on the new virt-launcher',
    patience: { every, atMost: 24 * hours },
    estimate: 600 * seconds,
    follows: [
      { kind: VirtualMachineInstances, where: outdatedOnes },
      { kind: VirtualMachineInstanceMigrations, where: {} },
    ],
    dependsOn: changesBefore,
    risk: {
      undo: follow ? 'none' : 'kvup workloads restore, where it had to hold workload updates again',
      safeToLeave: 'always: KubeVirt goes on by itself',
    },
    async check(cx): Promise<StepState> {
      const found = await outdatedNow(cx, owner, { again, holder, nodes })
      if ('is' in found) return found
      const { moving, note } = found
      const now = cx.clock.now()
      const { harm, ...ending } = await watch.look(cx.reader, moving, now.getTime())
      if (harm && follow) return stoppedBy(harm, 'nothing is held, for kvup writes nothing here', commitHold)
      if (harm) return again.trip(harm)
      const on = toEnd({ outdated: moving.size, ...ending })
      if (on === undefined) return { is: 'done', ...note }
      return moving.size === 0
        ? { is: 'waiting', on }
        : heldUpOr(await heldUp(cx.reader, now), moving.size, on)
    },
    ...(!follow && { apply: (cx) => again.apply(cx) }),
  }
}

/** A dry run cannot tell what becomes of VMs before these. */
const changesBefore = [
  'hold-workload-updates',
  'lift-image-tag',
  'apply-operator-manifest',
  'set-image-tag',
  'put-image-tag-in',
  'give-back-workload-updates',
]

const commitHold = [
  'commit workloadUpdateMethods: []     holds workload updates',
  ...waysOn.filter((line) => !line.startsWith('kvup workloads restore')),
]

/** Whether no VM is left that is to move: one look, without the guard. */
export async function areWorkloadsMoved(
  cx: ReadContext,
  owner: Owner,
  holder: Pick<SettingsOwner, 'uid'> = owner,
): Promise<boolean> {
  const found = await outdatedNow(cx, owner, { holder, nodes: nodesNow() })
  return !('is' in found) && found.moving.size === 0
}

interface Outdated {
  moving: ReadonlyMap<string, string>
  note: { note?: string }
}

/** What a guard holds is to move all the same: it is not done while such a VM is left. */
async function outdatedNow(
  cx: ReadContext,
  owner: Owner,
  { again, holder, nodes }: { again?: HoldAgain; holder: Pick<SettingsOwner, 'uid'>; nodes: NodesNow },
): Promise<Outdated | StepState> {
  const kubevirt = await readOwner(cx.reader, owner)
  const loan = methodsOf(kubevirt).length === 0 ? await guardsLoan(cx.journal, holder) : undefined
  const methods = loan ? keptMethods(loan) : methodsOf(kubevirt)
  const rules = rulesOf(kubevirt, methods)
  const count = (more: { nodes?: number }) => countMoving(cx.reader, { ...rules, ...more })
  const first = await count({})
  // On one node nothing migrates: it is asked for only where that would keep us waiting.
  const { moving, staying } =
    first.moving.size === 0 ? first : await count(await nodes(cx.reader, cx.clock.now()))
  if (loan && again?.tripped) return again.tripped
  if (loan && moving.size > 0) return heldForHarm(loan, moving.size)
  return { moving, note: staying > 0 ? { note: `${staying} stay outdated` } : {} }
}

const rulesOf = (kubevirt: KubeVirt, methods: readonly string[]) => ({
  methods,
  clusterEviction: clusterEvictionOf(kubevirt),
})

/** Events are not followed: they are listed as often as is waited at most, not with every change of a migration. */
function heldUpNow(): typeof heldUpVms {
  let last: { at: number; found: readonly HeldUp[] } | undefined
  return async (reader, now) => {
    if (last === undefined || now.getTime() - last.at >= every)
      last = { at: now.getTime(), found: await heldUpVms(reader, now) }
    return last.found
  }
}

/** Stalled where none of those that are to move can. */
function heldUpOr(found: readonly HeldUp[], moving: number, on: string): StepState {
  if (found.length === 0) return { is: 'waiting', on }
  const why = found.map(({ sentence }) => sentence).join('; ')
  const remedy = found.flatMap(({ look }) => look)
  const held = new Set(found.flatMap(({ vms }) => vms))
  if (held.size < moving) return { is: 'waiting', on, trouble: why, remedy }
  const from = earliest(found.map(({ since }) => since))
  return { is: 'stalled', on, why, remedy, ...(from !== undefined && { since: from }) }
}
