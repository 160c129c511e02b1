import type { Loan } from '../../procedure/journal.ts'
import type { Procedure, ReadContext, Step, StepState } from '../../procedure/step.ts'
import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import { seconds } from '../../system/units.ts'
import { clusterEvictionOf } from '../cluster-eviction.ts'
import { readOwner } from '../find-owner.ts'
import { countMoving } from '../forecast.ts'
import { heldLines } from '../held-lines.ts'
import { loanOn } from '../loan-on.ts'
import { narrowedLine } from '../../system/narrowed-line.ts'
import type { Selection } from '../outdated/selection.ts'
import { methodsIn, type SettingsOwner } from '../strategy/owner.ts'
import { methodsOf } from '../update-methods.ts'
import { lookForHarm } from './harm.ts'
import { guardName, holdAgain } from './hold-again.ts'
import type { UpdateLook } from './look.ts'
import type { UpdateRun } from './update-run.ts'
import { toEnd } from './to-end.ts'

export interface Guarding {
  owner: SettingsOwner
  run: UpdateRun
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

function guardStep({ owner, run, who, timeoutMs }: Guarding): Step {
  const again = holdAgain(owner, who)
  return {
    id: 'kubevirt-updates',
    title: "KubeVirt's own updates",
    patience: { every: 5 * seconds, atMost: timeoutMs },
    estimate: 600 * seconds,
    follows: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    risk: { undo: 'kvup workloads restore', safeToLeave: 'always: KubeVirt goes on by itself' },
    async check(cx) {
      const holds = methodsIn(await readOwner(cx.reader, owner), owner).length === 0
      if (holds)
        return again.tripped ?? nobodyMoves(loanOn(owner, await cx.journal.loans()), run.wanted.selection)
      const look = await run.look(cx)
      const seen = { ...look, outdated: look.fleet.candidates.keys(), known: run.known }
      const { launchers, wanted } = run
      const { harm, doubtful } = await lookForHarm(cx.reader, seen, {
        launchers,
        maxFailures: wanted.maxFailures,
      })
      return harm === undefined ? movingOn(cx, { owner, run, look, doubtful }) : again.trip(harm)
    },
    apply: (cx) => again.apply(cx),
  }
}

/** Methods that are borrowed cannot be set. */
const nobodyMoves = (loan: Loan | undefined, selection: Selection): StepState => ({
  is: 'blocked',
  reason: 'nobody-moves',
  by: 'workloadUpdateMethods is empty, so that KubeVirt moves nothing',
  remedy: [
    `${narrowedLine('kvup workloads update', selection)}     moves VMs itself`,
    ...(loan === undefined
      ? ['kvup workloads strategy set --methods LiveMigrate']
      : heldLines(loan, '     gives back what was held')),
  ],
})

interface MovingOn extends Pick<Guarding, 'owner' | 'run'> {
  look: UpdateLook
  doubtful: number
}

async function movingOn(
  { reader }: ReadContext,
  { owner, run, look, doubtful }: MovingOn,
): Promise<StepState> {
  const kubevirt = await readOwner(reader, owner.kubevirt)
  const rules = { methods: methodsOf(kubevirt), clusterEviction: clusterEvictionOf(kubevirt) }
  const { moving, staying } = await countMoving(reader, rules)
  const total = Math.max(run.known.size, moving.size)
  const on = toEnd({ outdated: moving.size, open: look.ledger.open.length, doubtful })
  if (on === undefined) return { is: 'done', ...(staying > 0 && { note: `${staying} stay outdated` }) }
  return { is: 'waiting', on, progress: { done: total - moving.size, total } }
}
