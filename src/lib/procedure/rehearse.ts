import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import { KvupError } from '../system/errors.ts'
import type { JournalReader } from './journal.ts'
import { memoryJournal } from './memory-journal.ts'
import { nothingToDo } from './nothing-to-do.ts'
import type { Procedure, Risk, Step, StepContext, StepState } from './step.ts'

export interface RehearseContext {
  readonly cluster: Cluster
  readonly clock: Clock
  /** The real one: its open loans count, and it is never written. */
  readonly journal: JournalReader
  /** `server`: the API server is asked to validate and admit each change, and keeps none. */
  readonly mode: 'client' | 'server'
  readonly signal: AbortSignal
}

/** One line of `--dry-run`. `depends`: on step `dependsOn`, so that it cannot be rehearsed. */
export interface RehearsedStep {
  id: string
  title: string
  state: 'would-change' | 'already-so' | 'depends' | 'waits'
  /** What `apply` would do. */
  change?: string
  /** What is waited for. */
  on?: string
  dependsOn?: string
  estimate: number
  risk: Risk
  /** Why it would not get through: a blocked step, or the server's answer to the dry run. */
  refused?: { reason: string; message: string }
}

/** What running would change now, which is nothing once the goal is reached; waits for nothing, and writes nothing that the cluster keeps. */
export async function rehearse(procedure: Procedure, cx: RehearseContext): Promise<readonly RehearsedStep[]> {
  const { cluster, clock, signal } = cx
  const { reader, reviewer } = cluster
  const journal = memoryJournal(cx.journal)
  const acting: StepContext = { reader, reviewer, writer: reviewer.rehearsal, clock, journal, signal }
  const steps = await procedure.steps(acting)
  if (await nothingToDo(procedure, acting)) return steps.map(alreadySo)
  const rehearsed: RehearsedStep[] = []
  for (const step of steps) {
    signal.throwIfAborted()
    const changing = rehearsed.filter(({ state }) => state === 'would-change').map(({ id }) => id)
    rehearsed.push(await rehearseStep(step, changing, { acting, mode: cx.mode }))
  }
  return rehearsed
}

const alreadySo = ({ id, title, estimate, risk }: Step): RehearsedStep => ({
  id,
  title,
  state: 'already-so',
  estimate,
  risk,
})

async function rehearseStep(
  step: Step,
  changing: readonly string[],
  { acting, mode }: { acting: StepContext; mode: 'client' | 'server' },
): Promise<RehearsedStep> {
  const { id, title, estimate, risk } = step
  const line = { id, title, estimate, risk }
  const builtOn = declared(step, changing)
  if (builtOn !== undefined) return { ...line, state: 'depends', dependsOn: builtOn }
  const state = await step.check(acting)
  const last = changing.at(-1)
  if (last !== undefined && isMoving(state)) return { ...line, state: 'depends', dependsOn: last }
  if (state.is !== 'todo' || step.apply === undefined) return { ...line, ...standing(state) }
  const refused = mode === 'server' ? await refusal(() => step.apply?.(acting)) : undefined
  return { ...line, state: 'would-change', change: state.change, ...(refused && { refused }) }
}

/** The change that this step builds on: one that it names, or, where it only waits, the last one. */
function declared(step: Step, changing: readonly string[]): string | undefined {
  if (step.apply === undefined) return changing.at(-1)
  return changing.findLast((id) => step.dependsOn?.includes(id))
}

const isMoving = ({ is }: StepState): boolean => is === 'waiting' || is === 'stalled' || is === 'blocked'

function standing(state: StepState): Pick<RehearsedStep, 'state' | 'on' | 'refused'> {
  if (state.is === 'done') return { state: 'already-so' }
  if (state.is === 'todo') return { state: 'waits', on: state.change }
  if (state.is !== 'blocked') return { state: 'waits', on: state.on }
  return { state: 'waits', refused: { reason: state.reason ?? 'blocked', message: state.by } }
}

async function refusal(apply: () => Promise<void> | undefined): Promise<RehearsedStep['refused']> {
  try {
    await apply()
    return undefined
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { reason: error.reason, message: error.message }
  }
}
