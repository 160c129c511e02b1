import type { Procedure, RunEvent, RunLimits, Step, StepState } from '../../../src/lib/engine/step.ts'
import type { Journal } from '../../../src/lib/engine/journal.ts'
import { configMapJournal } from '../../../src/lib/engine/journal-config-map.ts'
import { leaseLock } from '../../../src/lib/engine/lease.ts'
import { runProcedure } from '../../../src/lib/engine/runner.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import { FakeCluster } from './fake-cluster.ts'

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const namespace = 'kubevirt'

/** A setting that steps look at and change: data of a ConfigMap. */
export const setting = { name: 'setting', namespace }

export interface Vm {
  host?: string
  pid?: number
  alive?: readonly number[]
  clock?: Clock
  takeOver?: string
}

/** A cluster, its time, and runs on it: the real journal, lock and runner. */
export class Engine {
  readonly clock = new SimClock()
  readonly fake = new FakeCluster()
  readonly events: (RunEvent & { after: number })[] = []
  readonly stop = new AbortController()
  readonly #start = this.clock.now().getTime()

  constructor(data: Record<string, string> = {}) {
    this.fake.put(ConfigMaps, { metadata: setting, data })
  }

  get elapsed(): number {
    return this.clock.now().getTime() - this.#start
  }

  journal(clock: Clock = this.clock): Journal {
    return configMapJournal(this.fake.cluster(), { namespace, who: 'jane@here', clock })
  }

  lock({ host = 'here', pid = 1, alive = [1], clock = this.clock, takeOver }: Vm = {}) {
    const holder = {
      who: `jane@${host}`,
      host,
      machine: host,
      pid,
      isAlive: (other: number) => alive.includes(other),
    }
    return leaseLock(this.fake.cluster(), { namespace, holder, clock, takeOver })
  }

  run(procedure: Procedure, limits: Partial<RunLimits> = {}, vm: Vm = {}) {
    const clock = vm.clock ?? this.clock
    return runProcedure(procedure, {
      cluster: this.fake.cluster(),
      clock,
      journal: this.journal(clock),
      lock: this.lock(vm),
      emit: (event) => this.events.push({ ...event, after: this.elapsed }),
      signal: this.stop.signal,
      who: 'jane@here',
      limits: { timeoutMs: 60 * minute, ...limits },
    })
  }

  value(field: string): string | undefined {
    return this.fake.peek(ConfigMaps, setting)?.data?.[field]
  }

  /** As a controller or another person would. */
  set(change: Record<string, string>): void {
    const data = { ...this.fake.peek(ConfigMaps, setting)?.data, ...change }
    this.fake.put(ConfigMaps, { metadata: setting, data })
  }

  /** After so much time, not waited for. */
  later(ms: number, work: () => void): void {
    void this.clock.sleep(ms).then(work)
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind)
  }

  async history(): Promise<string[]> {
    return (await this.journal().entries()).map(({ what, step }) => (step ? `${what} ${step}` : what))
  }
}

/** Wants `setting.data[id]` to be `on`; done when `status-<id>`, or the setting itself, says so. */
export function flip(id: string, over: Partial<Step> = {}): Step {
  return {
    id,
    title: `flip ${id}`,
    patience: { every: 10 * second, atMost: 10 * minute },
    watches: [{ kind: ConfigMaps, where: { namespace, name: 'setting' } }],
    risk: { undo: 'none', safeToLeave: 'always' },
    estimate: 5 * second,
    async check({ reader }): Promise<StepState> {
      const found = await reader.get(ConfigMaps, setting)
      const value = found.is === 'object' ? found.object.data?.[id] : undefined
      return value === 'on' ? { is: 'done' } : { is: 'todo', change: `set ${id} to on` }
    },
    async apply({ writer }) {
      await writer.mergePatch(ConfigMaps, setting, { data: { [id]: 'on' } })
    },
    ...over,
  }
}

/** Only waits until `setting.data[id]` is `on`. */
export function awaitOn(id: string, over: Partial<Step> = {}): Step {
  const step: Step = {
    ...flip(id),
    async check({ reader }): Promise<StepState> {
      const found = await reader.get(ConfigMaps, setting)
      const value = found.is === 'object' ? found.object.data?.[id] : undefined
      return value === 'on' ? { is: 'done' } : { is: 'waiting', on: `${id} (now ${value ?? 'off'})` }
    },
  }
  Reflect.deleteProperty(step, 'apply')
  return { ...step, ...over }
}

export function procedureOf(...steps: Step[]): Procedure {
  return {
    name: 'flip all',
    async reached(cx) {
      const states = await Promise.all(steps.map((step) => step.check(cx)))
      return states.every(({ is }) => is === 'done')
    },
    steps: async () => steps,
  }
}
