import type { Procedure, ReadContext, Step, StepState } from '../../procedure/step.ts'
import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import { seconds } from '../../system/units.ts'
import { clusterEvictionOf } from '../cluster-eviction.ts'
import { readOwner } from '../find-owner.ts'
import { countMoving } from '../forecast.ts'
import { holdWorkloadUpdates } from '../hold.ts'
import { methodsIn, type SettingsOwner } from '../strategy/owner.ts'
import { methodsOf } from '../update-methods.ts'
import type { UpdateLook } from './look.ts'
import { whatTheyShare } from './likeness.ts'
import { movedIn } from './moved.ts'
import type { Rollout } from './rollout.ts'

/** In the journal: the hold that the guard opens stays open until a person has looked. */
const guardName = 'watch workload updates'

export interface Guarding {
  owner: SettingsOwner
  rollout: Rollout
  who: string
  /** ms. */
  timeoutMs: number
}

/**
 * Follows KubeVirt's own updater until it has moved what it moves; two launchers for one VMI, or as many VMs as are taken failing for one
 * reason: workload updates are held again (night W5). Holds nothing before (night W6).
 */
export function guardProcedure(guarding: Guarding): Procedure {
  const step = guardStep(guarding)
  return {
    name: guardName,
    loans: [],
    reached: async (cx) => (await step.check(cx)).is === 'done',
    steps: async () => [step],
  }
}

function guardStep({ owner, rollout, who, timeoutMs }: Guarding): Step {
  const hold = holdWorkloadUpdates(owner, { who, procedure: guardName })
  let tripped: StepState | undefined
  return {
    id: 'kubevirt-updates',
    title: "KubeVirt's own updates",
    patience: { every: 5 * seconds, atMost: timeoutMs },
    estimate: 600 * seconds,
    follows: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    risk: { undo: 'kvup workloads restore', safeToLeave: 'always: KubeVirt goes on by itself' },
    async check(cx) {
      const holds = methodsIn(await readOwner(cx.reader, owner), owner).length === 0
      if (holds) return tripped ?? nobodyMoves
      const look = await rollout.look(cx)
      const harm = await harmIn(cx, rollout, look)
      if (harm === undefined) return movingOn(cx, { owner, rollout, look })
      tripped = {
        is: 'blocked',
        reason: harm.reason,
        by: `${harm.text}; workload updates are held again`,
        remedy: waysOn,
      }
      return { is: 'todo', change: `hold workload updates: ${harm.text}` }
    },
    apply: async (cx) => hold.apply?.(cx),
  }
}

const nobodyMoves: StepState = {
  is: 'blocked',
  reason: 'nobody-moves',
  by: 'workloadUpdateMethods is empty, so that KubeVirt moves nothing',
  remedy: [
    'kvup workloads update     moves VMs itself',
    'kvup workloads restore     gives back what was held',
    'kvup workloads strategy set --methods LiveMigrate',
  ],
}

const waysOn = [
  'kvup workloads migrations --history     shows what failed, and of what',
  'kvup workloads update --canary 1     goes on by hand, one first',
  'kvup workloads restore     lets KubeVirt go on',
]

interface Harm {
  reason: 'two-launchers' | 'too-many-failures'
  text: string
}

async function harmIn(
  { reader }: ReadContext,
  rollout: Rollout,
  look: UpdateLook,
): Promise<Harm | undefined> {
  const { split } = await rollout.launchers.look(reader, movedIn(look, rollout.known), look.now)
  if (split.length > 0) {
    const alike = await whatTheyShare(reader, split)
    return {
      reason: 'two-launchers',
      text: `two launchers run for ${split.join(', ')}, which can destroy its data (${alike.join('; ')}; kubevirt issue 18670)`,
    }
  }
  const failing = [...look.fleet.candidates.keys()].flatMap((vm) => {
    const [last] = look.moves.failures(look.ledger, vm)
    return last === undefined ? [] : [{ vm, reason: last.failureReason ?? 'no reason is told' }]
  })
  const [worst] = [...Map.groupBy(failing, ({ reason }) => reason)].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  if (worst === undefined || worst[1].length < rollout.wanted.maxFailures) return undefined
  const [reason, vms] = worst
  const alike = await whatTheyShare(
    reader,
    vms.map(({ vm }) => vm),
  )
  return {
    reason: 'too-many-failures',
    text: `${vms.length} VMs failed for one reason: ${reason} (${alike.join('; ')}${upstream(reason)})`,
  }
}

const upstream = (reason: string): string =>
  /guest CPU|extra features/u.test(reason) ? '; kubevirt issue 16386' : ''

async function movingOn(
  { reader }: ReadContext,
  { owner, rollout, look }: Pick<Guarding, 'owner' | 'rollout'> & { look: UpdateLook },
): Promise<StepState> {
  const kubevirt = await readOwner(reader, owner.kubevirt)
  const rules = { methods: methodsOf(kubevirt), clusterEviction: clusterEvictionOf(kubevirt) }
  const { moving, staying } = await countMoving(reader, rules, outdatedLabel)
  const note = staying > 0 ? { note: `${staying} stay outdated` } : {}
  if (moving === 0 && look.ledger.open.length === 0) return { is: 'done', ...note }
  const total = Math.max(rollout.known.size, moving)
  const text = moving === 1 ? '1 outdated VM to move' : `${moving} outdated VMs to move`
  return { is: 'waiting', on: text, progress: { done: total - moving, total } }
}
