import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import { KvupError } from '../system/errors.ts'
import type { JournalReader, Loan } from './journal.ts'
import { memoryJournal } from './memory-journal.ts'
import { nothingToDo } from './nothing-to-do.ts'
import { Recording } from './recording-writer.ts'
import type { RehearsedChange } from './rehearsed-change.ts'
import { type RehearsalMode, rehearsing } from './rehearsing-writer.ts'
import type { Procedure, Risk, Step, StepContext, StepState } from './step.ts'

export interface RehearseContext {
  readonly cluster: Cluster
  readonly clock: Clock
  /** The real one: its open loans count, and it is never written. */
  readonly journal: JournalReader
  /**
   * `server`: the API server is asked to validate and admit each change, and keeps none. `client`: nothing is sent, kvup works the
   * changes out itself. `auto`: by the server, and by kvup where it may not be asked or knows no dry run of such a change.
   */
  readonly mode: RehearsalMode
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
  /** What becomes of which object; absent where nothing of it is known. */
  changes?: readonly RehearsedChange[]
  /** Settings that are borrowed: written down, and given back later. */
  keeps?: readonly KeptValue[]
  /** Why it would not get through: a blocked step, or the server's answer to the dry run. */
  refused?: { reason: string; message: string }
}

/** A value that is kept while a setting is borrowed; none where the setting was absent. */
export interface KeptValue {
  loan: string
  /** JSON pointer: `/spec/workloadUpdateStrategy/workloadUpdateMethods`. */
  path: string
  value?: unknown
  /** Id of the step that gives it back; absent where it stays borrowed at the end. */
  givenBackBy?: string
}

/** What running would change now, which is nothing once the goal is reached; waits for nothing, and writes nothing that the cluster keeps. */
export async function rehearse(procedure: Procedure, cx: RehearseContext): Promise<readonly RehearsedStep[]> {
  const { cluster, clock, signal } = cx
  const { reader, reviewer } = cluster
  const journal = memoryJournal(cx.journal)
  const reading = { reader, clock, journal }
  const steps = await procedure.steps(reading)
  if (await nothingToDo(procedure, reading)) return steps.map(alreadySo)
  const rehearsed: RehearsedStep[] = []
  for (const [index, step] of steps.entries()) {
    signal.throwIfAborted()
    const changing = rehearsed.filter(({ state }) => state === 'would-change').map(({ id }) => id)
    const recording = new Recording(reader, (seen) => rehearsing(cx.mode, reviewer, seen))
    const quiet = quietly(
      reviewer,
      new Recording(reader, (seen) => rehearsing(cx.mode, reviewer, seen)).writer,
    )
    const acting = { ...reading, reader: recording.reader, writer: recording.writer, reviewer: quiet, signal }
    rehearsed.push(await rehearseStep(step, changing, { acting, recording, later: steps.slice(index + 1) }))
  }
  return rehearsed
}

/** What a step tries before it writes is rehearsed as its writes are, and not shown: a client dry run sends nothing. */
const quietly = (reviewer: Cluster['reviewer'], rehearsal: Cluster['writer']): Cluster['reviewer'] => ({
  can: async (access) => reviewer.can(access),
  whoAmI: async () => reviewer.whoAmI(),
  rehearsal,
})

const alreadySo = ({ id, title, estimate, risk }: Step): RehearsedStep => ({
  id,
  title,
  state: 'already-so',
  estimate,
  risk,
})

interface Rehearsal {
  acting: StepContext
  recording: Recording
  /** The steps behind this one. */
  later: readonly Step[]
}

async function rehearseStep(
  step: Step,
  changing: readonly string[],
  { acting, recording, later }: Rehearsal,
): Promise<RehearsedStep> {
  const { id, title, estimate, risk } = step
  const line = { id, title, estimate, risk }
  const builtOn = declared(step, changing)
  if (builtOn !== undefined) return { ...line, state: 'depends', dependsOn: builtOn }
  const state = await (step.due?.(acting) ?? step.check(acting))
  const last = changing.at(-1)
  if (last !== undefined && isMoving(state)) return { ...line, state: 'depends', dependsOn: last }
  if (state.is !== 'todo' || step.apply === undefined) return { ...line, ...standing(state) }
  const owed = await acting.journal.loans()
  const refused = await refusal(() => step.apply?.(acting))
  const { changes } = recording
  const givesBack = later.find((other) => other.apply && other.dependsOn?.includes(id))
  const keeps = keptBy(owed, await acting.journal.loans(), givesBack?.id)
  return {
    ...line,
    state: 'would-change',
    change: state.change,
    ...(changes.length > 0 && { changes }),
    ...(keeps.length > 0 && { keeps }),
    ...(refused && { refused }),
  }
}

/** The loans that were opened in between. */
function keptBy(
  before: readonly Loan[],
  after: readonly Loan[],
  givenBackBy: string | undefined,
): KeptValue[] {
  return after.flatMap(({ id, path, was }) => {
    if (before.some((loan) => loan.id === id)) return []
    const kept = { loan: id, path, ...(was.present && { value: was.value }) }
    return [givenBackBy === undefined ? kept : { ...kept, givenBackBy }]
  })
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

async function refusal(
  apply: () => ReturnType<NonNullable<Step['apply']>> | undefined,
): Promise<RehearsedStep['refused']> {
  try {
    const answer = await apply()
    return answer ? { reason: 'refused', message: answer.notApplied } : undefined
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { reason: error.reason, message: error.message }
  }
}
