import {
  ensureStepsExist,
  goingOn,
  nothingToDo,
  type Procedure,
  type ReadContext,
  reasonToStop,
  type RunContext,
  type RunOutcome,
  type Step,
  type StepState,
  type StopReason,
  type Waiting,
} from './step.ts'
import { meaningOf, OneRun, summaryOf } from './run-session.ts'
import { filled } from '../kube/known.ts'
import { isDoneWithin, unlessAborted } from '../kube/interruption.ts'
import type { Entry } from './journal.ts'
import { incomplete, stoppedBefore, waitsForApproval } from './journal-runs.ts'
import {
  ApiError,
  approvalNeeded,
  blocked,
  isConflict,
  KvupError,
  messageOf,
  ownLine,
  timedOut,
} from '../kube/errors.ts'
import { spanText } from '../kube/duration.ts'
import { readRefusal } from '../kube/access-rights.ts'

/** A journal that cannot be reached must not keep us from leaving. */
const recordExitWithin = 900

/**
 * Runs the steps in their order; where they stand is asked of the cluster, so resuming is running again. A step that is done
 * costs one read, one that is not is applied at most once, journalled before and after, and waited for: woken by what it
 * follows. Throws `blocked` (3), `timedOut` (4), `locked` (6), `forbidden` (7), or the reason of `signal`, which ends a wait
 * and never an apply; the end of the run's time leaves an apply that gets no answer, as a kill would.
 */
export async function runProcedure(procedure: Procedure, cx: RunContext): Promise<RunOutcome> {
  const { clock, journal, signal, limits } = cx
  const reading: ReadContext = { reader: cx.cluster.reader, clock, journal }
  if (await unlessAborted(nothingToDo(procedure, reading), signal)) return { is: 'nothing-to-do' }
  if (limits.until !== undefined || limits.pauseBefore !== undefined)
    ensureStepsExist(limits, await unlessAborted(procedure.steps(reading), signal))
  const remark = (text: string) => cx.emit({ kind: 'remark', at: clock.now().toISOString(), text })
  return cx.lock.hold((held) => underLock(new OneRun(procedure, cx, held)), { signal, remark })
}

async function underLock(run: OneRun): Promise<RunOutcome> {
  const sequence = new StepSequence(run)
  try {
    const outcome = await sequence.run()
    if (outcome.is === 'stopped-before') await shortly(run, leave(run))
    return outcome
  } catch (error) {
    await recordExit(run, sequence.current, error)
    throw error
  } finally {
    run.watchCache.close()
  }
}

/** Says and writes down how it ended, as far as that is still possible: who lost the lock cannot write. */
async function recordExit(run: OneRun, step: Step | undefined, error: unknown): Promise<void> {
  const why = messageOf(error)
  const awaits = error instanceof KvupError && error.reason === approvalNeeded
  const what = run.cx.signal.aborted || awaits ? 'interrupted' : 'failed'
  const during = step ? ` during "${step.title}"` : ''
  if (what === 'interrupted' && !awaits)
    run.remark(`${why}${during}; what is running in the cluster continues by itself`)
  const text = awaits ? `${waitsForApproval}: ${why}` : why
  const recorded = run.recordEnd(what, step?.id ?? '', text).catch(() => undefined)
  await shortly(run, Promise.all([leave(run), recorded]))
}

/** It is on its way out: what cannot be changed any more is told by what comes after, never by another failure. */
async function leave(run: OneRun): Promise<void> {
  const done = await run.procedure.leaving?.(run.writing).catch(() => undefined)
  if (done !== undefined) run.remark(done)
}

const shortly = (run: OneRun, work: Promise<unknown>): Promise<boolean> =>
  isDoneWithin(run.cx.clock, recordExitWithin, work)

class StepSequence {
  readonly #run: OneRun
  readonly #done = new Set<string>()
  readonly #changed: string[] = []
  #steps: readonly Step[] = []
  #unfinished: readonly Entry[] = []
  #last: Step | undefined
  #current: Step | undefined

  constructor(run: OneRun) {
    this.#run = run
  }

  get current(): Step | undefined {
    return this.#current
  }

  async run(): Promise<RunOutcome> {
    await this.#begin()
    for (;;) {
      const step = this.#steps.find(({ id }) => !this.#done.has(id))
      if (step === undefined) return this.#finish()
      const isPastLimit = this.#last !== undefined && this.#last.id === this.#run.cx.limits.until
      const because = isPastLimit ? 'until' : await this.#settle(step)
      if (because !== undefined) return this.#stop(step, because)
      this.#done.add(step.id)
      this.#last = step
      await this.#readForSteps()
    }
  }

  async #begin(): Promise<void> {
    const run = this.#run
    const { procedure, cx } = run
    this.#steps = await run.patiently(() => procedure.steps(run.live))
    const entries = await run.patiently(() => run.journal.entries())
    this.#unfinished = withoutAnEnd(entries.filter((entry) => entry.procedure === procedure.name))
    await run.patiently(async () => procedure.begin?.(run.writing))
    const { length } = this.#steps
    const { leads } = procedure
    const text = `${leads === undefined ? '' : `${leads}, `}${length} ${length === 1 ? 'step' : 'steps'}`
    const { findings, rehearsal } = cx.foreseen ?? {}
    const foreseen = { findings, rehearsal: rehearsal?.soFar() }
    await run.patiently(() => run.record('started', '', text, { ...procedure.between, ...foreseen }))
    for (const { id, text: words, user } of cx.accepted ?? [])
      await run.patiently(() => run.record('accepted', id, words, { user }))
    run.emit({ kind: 'run-started', procedure: procedure.name, steps: this.#steps.map(summaryOf) })
  }

  async #settle(step: Step): Promise<StopReason | undefined> {
    this.#current = step
    const index = this.#steps.indexOf(step)
    const place = this.#run.cx.placeOf?.(step.id) ?? { step: index + 1, of: this.#steps.length }
    this.#run.enter(step, place)
    const began = this.#run.ticks
    this.#run.emit({ kind: 'step-started', step: summaryOf(step), index, total: this.#steps.length })
    const settled = await new SettlingStep(step, this.#run, this.#steps).settle()
    if (settled.is === 'stopped') return settled.because
    if (settled.changed) this.#changed.push(step.id)
    // A run that was killed between its change and writing it down left an intent: what it meant is done.
    else await this.#complete(this.#unfinished.filter((entry) => isOf(entry, step.id)))
    const { changed, note } = settled
    const tookMs = Math.round(this.#run.ticks - began)
    this.#run.emit({ kind: 'step-done', step: summaryOf(step), changed, ...filled({ note }), tookMs })
    return undefined
  }

  async #complete(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries)
      await this.#run.patiently(() =>
        this.#run.record('applied', entry.step, `${entry.text} (found done after an interrupted run)`),
      )
  }

  /** Where the step of an intent is not among the steps any more, its change made it superfluous. */
  async #completeRest(): Promise<void> {
    const known = this.#steps.map(({ id }) => id)
    await this.#complete(this.#unfinished.filter((entry) => !known.some((id) => isOf(entry, id))))
  }

  async #readForSteps(): Promise<void> {
    const steps = await this.#run.patiently(() => this.#run.procedure.steps(this.#run.live))
    const isSame = JSON.stringify(steps.map(summaryOf)) === JSON.stringify(this.#steps.map(summaryOf))
    this.#steps = steps
    if (!isSame) this.#run.emit({ kind: 'steps-known', steps: steps.map(summaryOf) })
  }

  async #finish(): Promise<RunOutcome> {
    const { procedure, began } = this.#run
    await this.#completeRest()
    const changed = this.#changed
    const done = changed.length > 0 ? `changed: ${changed.join(', ')}` : 'nothing to change'
    const shortfall = await this.#run.patiently(async () => procedure.shortfall?.(this.#run.live))
    const text = shortfall === undefined ? done : `${incomplete}: ${shortfall}; ${done}`
    const compared = await this.#run.cx.foreseen?.rehearsal?.compared({ isFinished: true })
    await this.#run.patiently(() => this.#run.recordEnd('finished', '', text, compared))
    const tookMs = Math.round(this.#run.ticks - began)
    this.#run.emit({ kind: 'run-finished', procedure: procedure.name, tookMs, ...filled({ shortfall }) })
    return { is: 'finished', changed, tookMs }
  }

  async #stop(step: Step, because: StopReason): Promise<RunOutcome> {
    await this.#completeRest()
    const compared = await this.#run.cx.foreseen?.rehearsal?.compared({ isFinished: false })
    await this.#run.patiently(() =>
      this.#run.recordEnd('interrupted', step.id, `${stoppedBefore}: ${because}`, compared),
    )
    const on = goingOn(this.#steps.slice(this.#steps.indexOf(step)))
    return {
      is: 'stopped-before',
      step: summaryOf(step),
      because,
      changed: this.#changed,
      ...filled({ safeToLeave: this.#last?.risk.safeToLeave }),
      ...(on.length > 0 && { goesOn: on }),
      tookMs: Math.round(this.#run.ticks - this.#run.began),
    }
  }
}

const isOf = ({ step }: Entry, id: string): boolean => step === id || step.startsWith(`${id}#`)

function withoutAnEnd(entries: readonly Entry[]): readonly Entry[] {
  const open = new Map<string, Entry>()
  for (const entry of entries)
    if (entry.what === 'intends') open.set(entry.step, entry)
    else if (entry.what === 'applied' || entry.what === 'failed') open.delete(entry.step)
  return [...open.values()]
}

type Settled =
  | { is: 'done'; changed: boolean; note?: string | undefined }
  | { is: 'stopped'; because: StopReason }

type Todo = Extract<StepState, { is: 'todo' }>

/** A watch can be silently dead: so often the cluster itself is asked, however quiet it is. */
const liveAtLeastEvery = 60_000
const mostRefusals = 5
/** Takes one step to where it is done: looks, changes at most once, waits. What a run promises stands at `runProcedure`. */
class SettlingStep {
  readonly #step: Step
  readonly #run: OneRun
  readonly #steps: readonly Step[]
  /** In ticks in which the cluster answered, as all spans of a step. */
  #since: number
  #applied = 0
  /** ms since the epoch: when the last change was begun. */
  #appliedAt = 0
  #refused = 0
  #troubles = 0
  #intended = ''
  #changed = false
  /** The change was made or refused, and the journal does not know yet. */
  #unwritten: { what: 'applied' | 'failed'; key: string; text: string } | undefined
  #failure: unknown
  /** The next look is at the cluster, not at what the watches say. */
  #fresh = true
  #liveAt = 0
  #shown = ''
  #last: Waiting | undefined
  #stalledAt: number | undefined

  constructor(step: Step, run: OneRun, steps: readonly Step[]) {
    this.#step = step
    this.#run = run
    this.#steps = steps
    this.#since = run.heard
  }

  async settle(): Promise<Settled> {
    for (;;) {
      this.#run.signal.throwIfAborted()
      const settled = await this.#advance()
      if (settled === undefined) await this.#wait()
      else if (settled !== 'look-again') return settled
    }
  }

  async #advance(): Promise<Settled | 'look-again' | undefined> {
    const isLast = this.#isLate
    const isTooLong = this.#stallEnds <= this.#run.heard
    // What ends a run is asked of the cluster itself.
    if (isTooLong) this.#fresh = true
    const snapshot = await this.#run.tolerantly(() => this.#read())
    const next = snapshot.ok ? await this.#act(snapshot.value) : this.#trouble()
    // A look that was cut off at the end was the last one as well; one that got no answer is none.
    if (next === undefined && this.#isLate && (isLast || !snapshot.ok))
      throw this.#gaveUp(snapshot.ok ? undefined : snapshot.error)
    if (next === undefined && snapshot.ok && isTooLong && this.#last?.is === 'stalled')
      throw this.#stalledTooLong(this.#last)
    return next
  }

  async #read(): Promise<StepState> {
    const { watchCache } = this.#run
    watchCache.refresh()
    const stepState = this.#fresh ? undefined : await this.#inTime(this.#step.check(this.#run.watching))
    if (stepState && isWaiting(stepState) && this.#run.ticks - this.#liveAt < liveAtLeastEvery)
      return stepState
    const state = await this.#inTime(this.#step.check(this.#run.live))
    if (stepState && isWaiting(stepState) && !saysTheSame(stepState, state)) watchCache.reopen()
    this.#liveAt = this.#run.ticks
    this.#fresh = false
    return state
  }

  async #act(state: StepState): Promise<Settled | 'look-again' | undefined> {
    // That it can be looked at says nothing of the change: it is tried less and less often.
    if (state.is !== 'todo') this.#troubles = 0
    if (!(await this.#paid())) return this.#trouble()
    const stop = { limits: this.#run.cx.limits, steps: this.#steps, now: this.#run.now }
    const because = this.#applied === 0 ? reasonToStop(this.#step, state, stop) : undefined
    if (because !== undefined) return { is: 'stopped', because }
    if (state.is === 'done') return { is: 'done', changed: this.#changed, note: state.note }
    if (state.is === 'todo') return this.#todo(state)
    if (state.is !== 'blocked') return this.#show(state)
    const { by, reason = 'blocked', isStall, remedy } = state
    const { title } = this.#step
    const isNamed = reason === approvalNeeded || by.startsWith(`the ${title} `)
    throw (isStall ? timedOut : blocked)(reason, isNamed ? by : `${title}: ${by}`, { remedy })
  }

  async #todo(state: Todo): Promise<'look-again' | undefined> {
    if (this.#step.apply === undefined) return this.#show({ is: 'waiting', on: state.change })
    if (this.#isLate) return undefined
    const most = this.#step.repeats?.atMost ?? 1
    if (this.#applied >= most) throw await this.#undone(state, most)
    const key = this.#step.repeats ? `${this.#step.id}#${this.#applied + 1}` : this.#step.id
    this.#fresh = true
    const began = this.#run.ticks
    try {
      await this.#apply(key, state.change)
      return 'look-again'
    } catch (error) {
      if (meaningOf(error) === 'retry' && !(error instanceof ApiError)) this.#run.silent(began)
      return this.#refusal(error)
    }
  }

  /** Never raced with the signal: what was begun is brought to its end, and written down; but at the end of the run's time it is left, as by a kill. */
  async #apply(key: string, change: string): Promise<void> {
    const intent = `${key} ${change}`
    if (this.#intended !== intent) await this.#inTime(this.#run.record('intends', key, change))
    this.#intended = intent
    this.#appliedAt = this.#run.now
    const applying = async () => this.#step.apply?.(this.#run.writingIn(this.#step))
    const { notApplied } = (await this.#run.unlessLate(applying())) ?? {}
    this.#applied++
    this.#refused = 0
    this.#failure = undefined
    this.#troubles = 0
    this.#run.taken()
    this.#since = this.#run.heard
    this.#recordLater(key, change, notApplied)
    await this.#paid()
  }

  #recordLater(key: string, change: string, notApplied: string | undefined): void {
    if (notApplied === undefined) {
      this.#changed = true
      this.#unwritten = { what: 'applied', key, text: change }
      this.#run.emit({ kind: 'step-applied', step: summaryOf(this.#step), change })
    } else {
      this.#unwritten = { what: 'failed', key, text: `${change}: ${notApplied}` }
      this.#run.emit({ kind: 'remark', text: this.#unwritten.text })
    }
  }

  /** Writes down what was changed; false when the journal cannot be reached just now. */
  async #paid(): Promise<boolean> {
    if (this.#unwritten === undefined) return true
    const { what, key, text } = this.#unwritten
    const { ok } = await this.#run.tolerantly(() => this.#run.unlessLate(this.#run.record(what, key, text)))
    if (ok) this.#unwritten = undefined
    return ok
  }

  async #refusal(error: unknown): Promise<'look-again' | undefined> {
    const meaning = meaningOf(error)
    if (meaning === 'fatal' || (meaning === 'decide-again' && ++this.#refused > mostRefusals))
      throw isConflict(error) ? this.#contested(error) : withRemedy(error)
    if (meaning !== 'decide-again') {
      this.#failure = error
      this.#run.notTaken(error)
      this.#show({ is: 'waiting', on: 'the change to be taken' })
      return this.#trouble()
    }
    await this.#run.cx.clock.sleep(200 * this.#refused, this.#run.signal)
    return 'look-again'
  }

  #contested(error: Error): Error {
    const message = `${this.#step.title}: someone else keeps changing the same object; kvup gave up after ${mostRefusals} tries: ${error.message}`
    return blocked('contested', message, { cause: error })
  }

  async #undone({ change }: Todo, most: number): Promise<Error> {
    const { title, repeats, shows } = this.#step
    if (repeats)
      return blocked('too-many-repeats', `${title}: not done after ${most} times; still to do: ${change}`)
    const who = await this.#step.blame?.(this.#run.live, new Date(this.#appliedAt))
    const by = who ? ` It was ${who}` : ''
    return blocked('undone', `${title}: something reverted kvup's change (${change}).${by}`, {
      remedy: [
        ...(shows === undefined ? [] : [`${shows}     shows who writes it`]),
        'stop what writes it, and run the same command again',
      ],
    })
  }

  #trouble(): undefined {
    this.#troubles++
    this.#fresh = true
  }

  #show(state: Waiting): undefined {
    this.#last = state
    this.#stalledAt = state.is === 'stalled' ? (this.#stalledAt ?? this.#run.heard) : undefined
    const shown = JSON.stringify(state)
    if (shown === this.#shown) return
    this.#shown = shown
    const until = new Date(this.#run.now + this.#ends - this.#run.ticks).toISOString()
    this.#run.emit({ kind: 'step-waiting', step: summaryOf(this.#step), state, until })
  }

  async #wait(): Promise<void> {
    const { watchCache, signal, cx } = this.#run
    const left = Math.max(1, Math.min(this.#ends - this.#run.ticks, this.#stallEnds - this.#run.heard))
    if (this.#troubles > 0) await cx.clock.sleep(Math.min(1000 * this.#troubles, 5000, left), signal)
    else {
      watchCache.follow(this.#step.watches)
      await watchCache.changeWithin(Math.min(this.#step.patience.every, left), signal)
    }
    if (this.#isLate) this.#fresh = true
  }

  /** What is read has until the end of this step's time. */
  #inTime<T>(work: Promise<T>): Promise<T> {
    return this.#run.within(this.#ends, work)
  }

  get #isLate(): boolean {
    return this.#run.ticks >= this.#ends
  }

  /** In ticks. As long as nobody answers only the run's own limit ends it. */
  get #ends(): number {
    const { ticks, heard, ends, isSilent } = this.#run
    return isSilent ? ends : Math.min(ticks + this.#since + this.#step.patience.atMost - heard, ends)
  }

  get #stallEnds(): number {
    const { stalledMs } = this.#run.cx.limits
    return stalledMs === undefined || this.#stalledAt === undefined ? Infinity : this.#stalledAt + stalledMs
  }

  /** Exit 4: what was waited for, why it did not come, and since when. */
  #gaveUp(trouble: unknown): KvupError {
    const { title, doing } = this.#step
    const run = this.#run
    const last = this.#last
    const failure = this.#failure
    const whole = this.#ends === run.ends
    const tookMs = Math.round(whole ? run.ticks - run.hopBegan : run.heard - this.#since)
    const limit = `timed out after ${spanText(tookMs)}${whole ? ' (--timeout)' : ''}`
    const first = `${limit} ${doing === undefined ? `at "${title}"` : `while ${doing}`}`
    const more = [
      last && waitedFor(last, run.now),
      failure instanceof Error ? `the last attempt to change it failed: ${failure.message}` : undefined,
      trouble instanceof Error ? `kvup could not reach the cluster: ${trouble.message}` : undefined,
    ]
    const lines = [first, ...more.filter((line) => line !== undefined).map(ownLine)]
    const remedy = last?.remedy ?? remedyOf(failure)
    return timedOut('timed-out', lines.join('\n'), { remedy, cause: trouble ?? failure })
  }

  /** Exit 4: nothing moved for as long as `--stalled-after` allows. */
  #stalledTooLong({ why, remedy = [] }: Extract<Waiting, { is: 'stalled' }>): KvupError {
    const limit = spanText(this.#run.cx.limits.stalledMs ?? 0)
    const { title } = this.#step
    const at = why.startsWith(title) ? '' : ` at ${title}`
    return timedOut('stalled', `stalled for ${limit} (--stalled-after)${at}: ${why}`, { remedy })
  }
}

const isWaiting = (state: StepState): state is Waiting => state.is === 'waiting' || state.is === 'stalled'

/** Whether the watches told what the cluster says; ages and counts move on by themselves. */
function saysTheSame(observed: Waiting, state: StepState): boolean {
  if (!isWaiting(state)) return false
  return observed.is === state.is && observed.on.replaceAll(/\d+/g, '') === state.on.replaceAll(/\d+/g, '')
}

/** `at`: now, in ms since the epoch. */
function waitedFor(state: Waiting, at: number): string {
  const span = state.since === undefined ? '' : ` for ${spanText(at - Date.parse(state.since))}`
  if (state.is === 'stalled')
    return `${(state.verdict ?? 'Stalled').toLowerCase()}${span} while waiting for ${state.on}: ${state.why}`
  return `waiting${span} for ${state.on}${state.trouble === undefined ? '' : `; ${state.trouble}`}`
}

function remedyOf(failure: unknown): readonly string[] {
  if (!(failure instanceof ApiError)) return []
  if (failure.remedy.length > 0) return failure.remedy
  const namespace = /in namespace (\S+)/.exec(failure.object ?? '')?.[1] ?? 'default'
  return readRefusal(failure.message, namespace)?.commands ?? []
}

function withRemedy(failure: unknown): unknown {
  const remedy = remedyOf(failure)
  if (!(failure instanceof ApiError) || remedy.length === 0) return failure
  const { status, statusReason, message, object, notes } = failure
  return new ApiError(status, statusReason, message, { object, notes, remedy, cause: failure })
}
