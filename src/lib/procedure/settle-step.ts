import { blocked, isConflict } from '../system/errors.ts'
import { meaningOf } from './failures.ts'
import { type OneRun, summaryOf } from './one-run.ts'
import type { StopReason } from './run-context.ts'
import type { NotApplied, Step, StepState } from './step.ts'
import { reasonToStop } from './stopping.ts'
import { gaveUp } from './gave-up.ts'
import { withRemedy } from './refused.ts'
import { isWaiting, saysTheSame, type Waiting } from './waiting.ts'

export type Settled =
  | { is: 'done'; changed: boolean; note?: string | undefined }
  | { is: 'stopped'; because: StopReason }

type Todo = Extract<StepState, { is: 'todo' }>
type Blocked = Extract<StepState, { is: 'blocked' }>

/** A watch can be silently dead: so often the cluster itself is asked, however quiet it is. */
const liveAtLeastEvery = 60_000
const mostRefusals = 5
/** Takes one step to where it is done: looks, changes at most once, waits. See the promises in `run.ts`. */
export class SettlingStep {
  readonly #step: Step
  readonly #run: OneRun
  readonly #steps: readonly Step[]
  /** In ticks. */
  #since: number
  #applied = 0
  /** ms since the epoch: when the last change was begun. */
  #appliedAt = 0
  #refused = 0
  #troubles = 0
  #intended = ''
  #changed = false
  /** The change was made or refused, and the journal does not know yet. */
  #owed: { what: 'applied' | 'failed'; key: string; text: string } | undefined
  /** Why the change could not be made when it was tried last. */
  #failure: unknown
  /** The next look is at the cluster, not at what the watches say. */
  #fresh = true
  #liveAt = 0
  #shown = ''
  #last: Waiting | undefined

  constructor(step: Step, run: OneRun, steps: readonly Step[]) {
    this.#step = step
    this.#run = run
    this.#steps = steps
    this.#since = run.ticks
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
    const looked = await this.#run.tolerantly(() => this.#look())
    const next = looked.ok ? await this.#act(looked.value) : this.#trouble()
    // A look that was cut off at the end was the last one as well.
    if (next === undefined && (isLast || (!looked.ok && this.#isLate)))
      throw gaveUp(this.#step, this.#last, this.#lateness(looked))
    return next
  }

  async #look(): Promise<StepState> {
    const { eyes } = this.#run
    eyes.look()
    const seen = this.#fresh ? undefined : await this.#inTime(this.#step.check(this.#run.watching))
    if (seen && isWaiting(seen) && this.#run.ticks - this.#liveAt < liveAtLeastEvery) return seen
    const state = await this.#inTime(this.#step.check(this.#run.live))
    if (seen && isWaiting(seen) && !saysTheSame(seen, state)) eyes.reopen()
    this.#liveAt = this.#run.ticks
    this.#fresh = false
    return state
  }

  async #act(state: StepState): Promise<Settled | 'look-again' | undefined> {
    // That it can be looked at says nothing of the change: it is tried less and less often.
    if (state.is !== 'todo') this.#troubles = 0
    if (!(await this.#paid())) return this.#trouble()
    const because = this.#applied === 0 ? this.#stopReason(state) : undefined
    if (because !== undefined) return { is: 'stopped', because }
    if (state.is === 'done') return { is: 'done', changed: this.#changed, note: state.note }
    if (state.is === 'todo') return this.#todo(state)
    if (state.is === 'blocked') throw this.#blocked(state)
    return this.#show(state)
  }

  #blocked({ by, reason = 'blocked', remedy }: Blocked): Error {
    return blocked(reason, `${this.#step.title}: ${by}`, { remedy })
  }

  #stopReason(state: StepState): StopReason | undefined {
    return reasonToStop(this.#step, state, {
      limits: this.#run.cx.limits,
      steps: this.#steps,
      now: this.#run.now,
    })
  }

  async #todo(state: Todo): Promise<'look-again' | undefined> {
    if (this.#step.apply === undefined) return this.#show({ is: 'waiting', on: state.change })
    if (this.#isLate) return undefined
    const most = this.#step.repeats?.atMost ?? 1
    if (this.#applied >= most) throw await this.#undone(state, most)
    const key = this.#step.repeats ? `${this.#step.id}#${this.#applied + 1}` : this.#step.id
    this.#fresh = true
    try {
      await this.#apply(key, state.change)
      return 'look-again'
    } catch (error) {
      return this.#refusal(error)
    }
  }

  /** Never raced with the signal: what was begun is brought to its end, and written down; but at the end of the run's time it is left, as by a kill. */
  async #apply(key: string, change: string): Promise<void> {
    const intent = `${key} ${change}`
    if (this.#intended !== intent) await this.#inTime(this.#run.record('intends', key, change))
    this.#intended = intent
    this.#appliedAt = this.#run.now
    const { notApplied } = (await this.#run.unlessLate(this.#change())) ?? {}
    this.#applied++
    this.#refused = 0
    this.#failure = undefined
    this.#troubles = 0
    this.#run.taken()
    this.#since = this.#run.ticks
    this.#owe(key, change, notApplied)
    await this.#paid()
  }

  async #change(): Promise<NotApplied | void> {
    return this.#step.apply?.(this.#run.writingIn(this.#step))
  }

  #owe(key: string, change: string, notApplied: string | undefined): void {
    if (notApplied === undefined) {
      this.#changed = true
      this.#owed = { what: 'applied', key, text: change }
      this.#run.emit({ kind: 'step-applied', step: summaryOf(this.#step), change })
    } else {
      this.#owed = { what: 'failed', key, text: `${change}: ${notApplied}` }
      this.#run.emit({ kind: 'remark', text: this.#owed.text })
    }
  }

  /** Writes down what was changed; false when the journal cannot be reached just now. */
  async #paid(): Promise<boolean> {
    if (this.#owed === undefined) return true
    const { what, key, text } = this.#owed
    const { ok } = await this.#run.tolerantly(() => this.#run.unlessLate(this.#run.record(what, key, text)))
    if (ok) this.#owed = undefined
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
    const message = `${this.#step.title}: somebody else keeps writing the same object, gave up after ${mostRefusals} tries: ${error.message}`
    return blocked('contested', message, { cause: error })
  }

  async #undone({ change }: Todo, most: number): Promise<Error> {
    const { title, repeats, shows } = this.#step
    if (repeats)
      return blocked('too-many-repeats', `${title}: not done after ${most} times; still to do: ${change}`)
    const who = await this.#step.blame?.(this.#run.live, new Date(this.#appliedAt))
    const by = who ? ` It was ${who}` : ''
    return blocked('undone', `${title}: something undid our change (${change}).${by}`, {
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
    const shown = JSON.stringify(state)
    if (shown === this.#shown) return
    this.#shown = shown
    const until = new Date(this.#run.now + this.#ends - this.#run.ticks).toISOString()
    this.#run.emit({ kind: 'step-waiting', step: summaryOf(this.#step), state, until })
  }

  async #wait(): Promise<void> {
    const { eyes, signal, cx } = this.#run
    const left = Math.max(1, this.#ends - this.#run.ticks)
    if (this.#troubles > 0) await cx.clock.sleep(Math.min(1000 * this.#troubles, 5000, left), signal)
    else {
      eyes.follow(this.#step.follows)
      await eyes.changeWithin(Math.min(this.#step.patience.every, left), signal)
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

  get #ends(): number {
    return Math.min(this.#since + this.#step.patience.atMost, this.#run.ends)
  }

  #lateness(looked: { ok: true } | { ok: false; error: unknown }) {
    const whole = this.#run.ends <= this.#since + this.#step.patience.atMost
    const tookMs = this.#run.ticks - (whole ? this.#run.hopBegan : this.#since)
    return {
      whole,
      tookMs,
      at: this.#run.now,
      trouble: looked.ok ? undefined : looked.error,
      failure: this.#failure,
    }
  }
}
