import type { Change, Cluster, Where } from '../kube/cluster.ts'
import { type Clock, ownClock, ticks } from '../kube/clock.ts'
import { messageOf, usageError } from '../kube/errors.ts'
import { VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import { type DaemonSet, DaemonSets, type Deployment, Deployments } from '../kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import type { CommandContext } from '../kube/world.ts'
import { type Availability, journaled, promiseOf, summaryOf } from './availability.ts'
import type { RunEvent, RunMeasurement } from '../engine/step.ts'
import { MeasuredVms } from './measured-vms.ts'
import { ApiOutages, type Going, inSeconds, MeasuredCalls } from './outage-log.ts'
import { type Answered, apiProbes, patience, period, probesOfApi } from './probes.ts'

/** What is measured, and where. */
export interface MeasureRequest {
  /** Where a VM is created as a dry run; absent: KubeVirt's own. */
  namespace?: string | undefined
  /** Label selector of the VMIs that are watched; absent: all. */
  selector?: string | undefined
}

/** As commander hands them over. */
export interface MeasureOptions {
  measure?: boolean
  measureNamespace?: string
  measureSelector?: string
}

/** Undefined where nothing is to be measured. Throws `usage` for what says something of a measurement that nobody asked for. */
export function measureRequest(options: MeasureOptions): MeasureRequest | undefined {
  const { measure = false, measureNamespace: namespace, measureSelector: selector } = options
  if (measure) return { namespace, selector }
  const given = Object.entries({ '--measure-namespace': namespace, '--measure-selector': selector })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag)
  if (given.length === 0) return undefined
  throw usageError('contradiction', `${given.join(', ')} needs --measure: nothing is measured without it`, {
    remedy: 'add --measure',
  })
}

/** A measurement that has not begun; undefined where none was asked for. Throws what `measureRequest` throws. */
export function measurementOf(
  { clock, printer }: Pick<CommandContext, 'clock' | 'printer'>,
  options: MeasureOptions,
  where: { cluster: Cluster; namespace: string },
): Measurement | undefined {
  const request = measureRequest(options)
  return request && new Measurement({ ...where, clock, request, warn: (line) => printer.warn(line) })
}

interface MeasureTools {
  cluster: Cluster
  clock: Clock
  /** KubeVirt's own namespace. */
  namespace: string
  request: MeasureRequest
  /** Told of a probe that is not asked, or not any more. */
  warn: (line: string) => void
}

const late = 'no answer within 2 s'

/**
 * Asks each probe once a second and watches VMIs and the components that roll, from `begin` to `end`. It writes nothing: its one write is a dry run. Whatever answers or not, it goes on, and
 * it takes the same room after a day as after a minute.
 */
export class Measurement implements RunMeasurement {
  readonly #tools: MeasureTools
  readonly #end = new AbortController()
  readonly #vms: MeasuredVms
  /** Names of the DaemonSets and Deployments that are rolling. */
  readonly #rolling = new Set<string>()
  readonly #api = new ApiOutages()
  #measured: readonly MeasuredCalls[] = []
  #step: string | undefined
  #began: number | undefined
  #ended: number | undefined
  #lostMs = 0

  constructor(tools: MeasureTools) {
    this.#tools = tools
    this.#vms = new MeasuredVms(tools.request.selector)
  }

  get callsPerMinute(): number {
    return apiProbes.length * (60_000 / period)
  }

  get hasBegun(): boolean {
    return this.#began !== undefined
  }

  /** Before the first write: what is not taken now is not measured, and said. Throws `usage` where no cluster is behind it. */
  async begin(): Promise<void> {
    if (this.hasBegun) return
    const { cluster, namespace, request } = this.#tools
    const ask = cluster.askOnce?.(patience)
    if (ask === undefined) throw usageError('not-measurable', 'a saved cluster cannot be measured')
    await this.#ensureSelects()
    const someVmi = () => this.#vms.someRunning()
    this.#began = this.#ticks
    this.#measured = probesOfApi({ ask, namespace: request.namespace ?? namespace, someVmi }).map(
      (probe) => new MeasuredCalls(probe),
    )
    this.#watch()
    await this.#tryCreate()
    void this.#heartbeat()
    for (const [index, one] of this.#measured.entries())
      if (!one.hasEnded) void this.#ask(one, Math.round((index * period) / this.#measured.length))
  }

  /** Stops asking. What is known is told by `report`. */
  end(): void {
    if (this.#began === undefined || this.#ended !== undefined) return
    this.#ended = this.#ticks
    // What is still under way is not waited for: its answer is nobody's any more.
    this.#end.abort(ended)
  }

  hear(event: RunEvent): void {
    if (event.kind === 'step-started') this.#step = event.step.id
    else if (event.kind === 'step-done') this.#step = undefined
    this.#noteGoing()
  }

  journaled(): ReturnType<typeof journaled> | undefined {
    return this.hasBegun ? journaled(this.report()) : undefined
  }

  report(): Availability {
    const now = this.#now
    const at = (when: number) => this.#timeOf(when)
    const seconds = inSeconds(now - (this.#began ?? now))
    const probes = [
      {
        probe: 'api' as const,
        what: 'any of the five below',
        calls: this.#measured.reduce((sum, { calls }) => sum + calls, 0),
        ...this.#api.log.figures(now, at),
      },
      ...this.#measured.map((one) => one.report(now, at)),
    ]
    const vms = this.#vms.report()
    const notMeasuredSeconds = inSeconds(this.#lostMs)
    const promise = promiseOf(probes, { seconds, notMeasuredSeconds })
    return {
      summary: summaryOf({ probes, vms, promise }),
      begin: at(this.#began ?? now),
      end: at(now),
      seconds,
      callsPerMinute: this.callsPerMinute,
      calls: probes[0]?.calls ?? 0,
      promise,
      notMeasuredSeconds,
      probes,
      vms,
    }
  }

  get #ticks(): number {
    return ticks(this.#tools.clock)
  }

  get #now(): number {
    return this.#ended ?? this.#ticks
  }

  get #going(): Going {
    return { rolling: [...this.#rolling], step: this.#step }
  }

  #timeOf(when: number): string {
    return new Date(this.#tools.clock.now().getTime() - (this.#ticks - when)).toISOString()
  }

  #noteGoing(): void {
    for (const { log } of this.#measured) log.note(this.#going)
    this.#api.log.note(this.#going)
  }

  /** What is not accepted while nothing was changed yet says nothing of the change. */
  async #tryCreate(): Promise<void> {
    const create = this.#measured.find(({ probe }) => probe.name === 'create')
    const answered = create && (await this.#once(create))
    if (answered === undefined || answered.is === 'answered') return
    this.#endProbe(create, `not accepted before the first change: ${answered.why}`)
  }

  /** Throws what the server says of a selector that is none; warns of one that no VMI has. */
  async #ensureSelects(): Promise<void> {
    const { cluster, request, warn } = this.#tools
    const { selector: labels } = request
    if (labels === undefined) return
    const found = await cluster.reader.list(VirtualMachineInstances, { labels })
    if (found.length === 0) warn(`No running VM has the labels ${labels}: no VM is watched yet.`)
  }

  /** One call, with an end. Never rejects. */
  async #once(one: MeasuredCalls): Promise<Answered> {
    // Of this machine, whose network it is: a simulated cluster may be faster than that.
    const clock = ownClock(this.#tools.clock)
    const answered = new AbortController()
    const over = clock
      .sleep(patience, answered.signal)
      .then((): Answered => ({ is: 'unavailable', why: late }))
    try {
      return await Promise.race([one.call(), over])
    } finally {
      over.catch(() => undefined)
      answered.abort(ended)
    }
  }

  /** A call a second, never two at a time; what was missed while one took longer is not made up for. */
  async #ask(one: MeasuredCalls, offset: number): Promise<void> {
    let due = this.#ticks + offset
    while (await this.#sleepUntil(due)) {
      const sent = this.#ticks
      const answered = await this.#once(one)
      if (this.#end.signal.aborted) return
      this.#take(one, answered, { sent, answered: this.#ticks })
      if (one.hasEnded) return
      // A timer may go off a moment early.
      const missed = Math.max(0, Math.floor((this.#ticks - due) / period))
      due += period * (missed + 1)
    }
  }

  #take(
    one: MeasuredCalls,
    answered: Answered,
    { sent, answered: at }: { sent: number; answered: number },
  ): void {
    if (answered.is === 'unavailable') {
      one.log.down(sent, answered.why, this.#going)
      this.#api.down(one.probe.name, sent, answered.why, this.#going)
      return
    }
    // A refusal is an answer.
    one.log.up(at)
    this.#api.up(one.probe.name, at)
    if (answered.is === 'refused') this.#endProbe(one, answered.why)
  }

  #endProbe(one: MeasuredCalls | undefined, why: string): void {
    if (!one) return
    const had = one.calls > 1 ? 'is not measured any more' : 'is not measured'
    one.endWith(this.#ticks, why)
    this.#tools.warn(`${one.probe.name} ${had} (${one.probe.what}): ${why}`)
  }

  /** Whether this process gets its turns: what it slept through it did not measure. */
  async #heartbeat(): Promise<void> {
    const wall = ownClock(this.#tools.clock)
    // Ticks stand still in a computer that is suspended; its time of day does not.
    const suspended = () => wall.now().getTime() - ticks(wall)
    let [due, before] = [this.#ticks + period, suspended()]
    while (await this.#sleepUntil(due)) {
      const now = suspended()
      const behind = Math.max(0, this.#ticks - due) + Math.max(0, now - before)
      if (behind > period) this.#lostMs += behind
      due = this.#ticks + period
      before = now
    }
  }

  async #sleepUntil(due: number): Promise<boolean> {
    const { signal } = this.#end
    try {
      await this.#tools.clock.sleep(Math.max(0, due - this.#ticks), signal)
      return !signal.aborted
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }

  #watch(): void {
    const { namespace, request, clock } = this.#tools
    this.#follow(VirtualMachineInstances, { labels: request.selector }, (change) =>
      this.#vms.take(change, clock.now().toISOString()),
    )
    this.#followRolls(DaemonSets, namespace, isDaemonSetRolling)
    this.#followRolls(Deployments, namespace, isDeploymentRolling)
  }

  #followRolls<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string,
    isRolling: (object: T) => boolean,
  ): void {
    this.#follow(kind, { namespace }, (change) => {
      if (change.type !== 'synced' && change.type !== 'lost') {
        const { name } = change.object.metadata
        if (change.type !== 'deleted' && isRolling(change.object)) this.#rolling.add(name)
        else this.#rolling.delete(name)
      }
      this.#noteGoing()
    })
  }

  #follow<T extends KubeObject>(kind: Kind<T>, where: Where, take: (change: Change<T>) => void): void {
    const { signal } = this.#end
    const { reader } = this.#tools.cluster
    void (async () => {
      do
        try {
          for await (const change of reader.watch(kind, where, signal)) take(change)
        } catch (error) {
          if (!signal.aborted) take({ type: 'lost', why: messageOf(error) })
        }
      while (await this.#sleepUntil(this.#ticks + rewatchAfter))
    })()
  }
}

/** Nobody reads it. */
const ended = new Error('the measurement has ended')
/** A watch that ended by itself, or was refused, is begun anew, ms. */
const rewatchAfter = 30_000

function isDaemonSetRolling({ metadata, status = {} }: DaemonSet): boolean {
  const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled = 0, numberReady = 0 } = status
  const isWhole = updatedNumberScheduled >= wanted && numberReady >= wanted
  return status.observedGeneration !== metadata.generation || !isWhole
}

function isDeploymentRolling({ metadata, spec, status = {} }: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status
  const wanted = spec?.replicas ?? 1
  const isWhole = updatedReplicas >= wanted && readyReplicas >= wanted && replicas <= wanted
  return status.observedGeneration !== metadata.generation || !isWhole
}
