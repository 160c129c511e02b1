import type { Override } from '../engine/journal.ts'
import type { JournalReader, Procedure, ReadContext, Step, StepContext, StepState } from '../engine/step.ts'
import { VirtualMachineInstanceMigrations } from '../kube/kinds/kubevirt-kinds.ts'
import { seconds } from '../kube/clock.ts'
import { clusterEvictionOf, type Selection } from './vm.ts'
import { methodsIn, readOwner, type SettingsOwner } from './strategy/settings-owner.ts'
import { countMoving } from './forecast/vm-forecast.ts'
import { heldLines, methodsOf, openOverride, overrideOn, type Owner } from './update-methods.ts'
import { type Harm, readHarm } from './migration-harm.ts'
import type { UpdateSnapshot } from './waves/update-fleet.ts'
import type { UpdateRun } from './waves/update-run.ts'
import { pauseWorkloadUpdates } from './pause-updates.ts'
import { narrowedLine } from '../output/kvup-words.ts'

interface Guarding {
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
  const again = pauseAgain(owner, who)
  return {
    id: 'kubevirt-updates',
    title: "KubeVirt's own updates",
    patience: { every: 5 * seconds, atMost: timeoutMs },
    estimate: 600 * seconds,
    watches: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    risk: { undo: 'kvup workloads restore', safeToLeave: 'always: KubeVirt goes on by itself' },
    async check(cx) {
      const holds = methodsIn(await readOwner(cx.reader, owner), owner).length === 0
      if (holds)
        return again.tripped ?? nobodyMoves(overrideOn(owner, await cx.journal.loans()), run.wanted.selection)
      const look = await run.look(cx)
      const observed = { ...look, outdated: look.fleet.candidates.keys(), known: run.known }
      const { launchers, wanted } = run
      const { harm, doubtful } = await readHarm(cx.reader, observed, {
        launchers,
        maxFailures: wanted.maxFailures,
      })
      return harm === undefined ? movingOn(cx, { owner, run, look, doubtful }) : again.trip(harm)
    },
    apply: (cx) => again.apply(cx),
  }
}

/** Methods that are borrowed cannot be set. */
const nobodyMoves = (loan: Override | undefined, selection: Selection): StepState => ({
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
  look: UpdateSnapshot
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

/** In the journal: a hold that the guard opened stays open until a person has looked. */
const guardName = 'watch workload updates'

/** Whether the guard took it: nobody but `kvup workloads restore` gives it back. */
export const isGuards = ({ procedure }: Override): boolean => procedure === guardName

type Blocked = Extract<StepState, { is: 'blocked' }>

/** What a guard does with harm: it holds workload updates again, journal first, and says why it ends (night W5). */
export interface PauseAgain {
  /** Why it was held; undefined: it was not, by this one. */
  readonly tripped: Blocked | undefined
  /** There is harm: what is to be done now. */
  trip(harm: Harm): StepState
  apply(cx: StepContext): Promise<void>
}

export function pauseAgain(owner: SettingsOwner, who: string): PauseAgain {
  const hold = pauseWorkloadUpdates(owner, { who, procedure: guardName })
  let tripped: Blocked | undefined
  return {
    get tripped() {
      return tripped
    },
    trip(harm) {
      tripped = stoppedBy(harm, 'workload updates are held again', resumeHints)
      return { is: 'todo', change: `hold workload updates: ${harm.text}` }
    },
    apply: async (cx) => {
      await hold.apply?.(cx)
    },
  }
}

export const stoppedBy = (
  { reason, text }: Harm,
  consequence: string,
  remedy: readonly string[],
): Blocked => ({ is: 'blocked', reason, by: `${text}; ${consequence}`, remedy })

/** By hand, or by KubeVirt again: both, and what to look at before. */
export const resumeHints: readonly string[] = [
  'kvup workloads migrations --history     shows what failed, and of what',
  'kvup workloads update --canary 1     goes on by hand, one first',
  'kvup workloads restore     lets KubeVirt go on',
]

interface NotEnded {
  /** VMs that are to move. */
  outdated: number
  /** Migrations that have not ended. */
  open: number
  /** VMs whose former launcher has not ended. */
  doubtful: number
}

/** What is waited for while KubeVirt moves VMs; undefined: nothing any more. Pure. */
export function toEnd({ outdated, open, doubtful }: NotEnded): string | undefined {
  if (outdated > 0) return `${outdated} outdated ${outdated === 1 ? 'VM' : 'VMs'} to move`
  if (open > 0) return `${open} ${open === 1 ? 'migration' : 'migrations'} to end`
  if (doubtful === 0) return undefined
  return `the virt-launchers that ${doubtful} ${doubtful === 1 ? 'VM has' : 'VMs have'} left to end`
}

/** The hold that a guard took because VMs came to harm (night W5), while it is open. */
export async function guardsOverride(
  journal: JournalReader,
  { uid }: Pick<SettingsOwner, 'uid'>,
): Promise<Override | undefined> {
  const loan = openOverride(await journal.loans(), uid)
  return loan && isGuards(loan) ? loan : undefined
}

/** Gives back, but not into the trouble that made a guard hold: that stays until a person has looked. `holder`: whose the settings are. */
export function unlessLeftPaused(
  giveBack: Step,
  owner: Owner,
  holder: Pick<SettingsOwner, 'uid'> = owner,
): Step {
  return {
    ...giveBack,
    async check(cx): Promise<StepState> {
      const loan = await guardsOverride(cx.journal, holder)
      const isHeld = loan && methodsOf(await readOwner(cx.reader, owner)).length === 0
      return isHeld ? { is: 'done', note: leftPausedText(loan) } : giveBack.check(cx)
    },
  }
}

/** `left held: VMs came to harm … `, for a step and for the plan. */
export const leftPausedText = ({ at, by }: Pick<Override, 'at' | 'by'>): string =>
  `workload updates stay held: VMs came to harm when KubeVirt moved them (${by}, ${at}); kvup workloads restore gives them back`

/** Nobody moves them now, and waiting does not mend it. */
export function pausedForHarm({ at, by }: Override, outdated: number): StepState {
  const vms = outdated === 1 ? '1 outdated VM' : `${outdated} outdated VMs`
  return {
    is: 'blocked',
    reason: 'held-for-harm',
    by: `${vms} to move, and workload updates were held again at ${at} by ${by}, because VMs came to harm when KubeVirt moved them`,
    remedy: ['kvup history     shows what happened', ...resumeHints],
  }
}
