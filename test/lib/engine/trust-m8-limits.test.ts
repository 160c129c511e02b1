import { describe, expect, test } from 'vitest'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import type { RunOutcome, Step } from '../../../src/lib/engine/step.ts'
import { runProcedure } from '../../../src/lib/engine/runner.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import { unreachable } from '../../../src/lib/kube/errors.ts'
import { awaitOn, Engine, flip, hour, minute, procedureOf, second } from './engine.ts'

/** What a server says its time is, after so many ms of a run. */
type Says = (after: number) => number

const lies: [string, Says][] = [
  ['jumps two hours ahead after 15 s', (after) => after + (after >= 15 * second ? 2 * hour : 0)],
  ['jumps two hours back after 15 s', (after) => after - (after >= 15 * second ? 2 * hour : 0)],
  ['stands still', () => 0],
  ['flaps', (after) => after + (Math.floor(after / second) % 3 === 0 ? 90 * second : 0)],
]

/** Its `now` is what a server says; its ticks are this machine's. */
function lying(engine: Engine, says: Says): Clock {
  const start = engine.clock.now().getTime()
  return {
    now: () => new Date(start + says(engine.elapsed)),
    ticks: () => engine.elapsed,
    machine: engine.clock,
    sleep: (ms, signal) => engine.clock.sleep(ms, signal),
  }
}

const run = (engine: Engine, clock: Clock, timeoutMs: number, ...steps: Step[]) =>
  engine.run(procedureOf(...steps), { timeoutMs }, { clock })

describe.each(lies)('trust M8: a Date that %s', (_, says) => {
  test('ends no run', async () => {
    const engine = new Engine()
    engine.later(40 * second, () => engine.set({ b: 'on' }))
    const outcome = await run(engine, lying(engine, says), 60 * second, flip('a'), awaitOn('b'))
    expect(outcome).toMatchObject({ is: 'finished' })
    expect(engine.elapsed).toBeGreaterThanOrEqual(40 * second)
    expect(engine.elapsed).toBeLessThan(42 * second)
  })

  test('nor prolongs it, and how long it took is told as it was', async () => {
    const engine = new Engine()
    const failed = run(engine, lying(engine, says), 60 * second, awaitOn('b'))
    await expect(failed).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('timed out after 1 m (--timeout)') as string,
    })
    expect(engine.elapsed).toBeGreaterThanOrEqual(60 * second)
    expect(engine.elapsed).toBeLessThan(64 * second)
  })

  test('neither ends nor prolongs the patience of a step', async () => {
    const engine = new Engine()
    const impatient = { patience: { every: 10 * second, atMost: 30 * second } }
    const failed = run(engine, lying(engine, says), hour, awaitOn('b', impatient))
    await expect(failed).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('30 s') as string,
    })
    expect(engine.elapsed).toBeGreaterThanOrEqual(30 * second)
    expect(engine.elapsed).toBeLessThan(34 * second)
  })

  test('is not in how long steps and runs are said to have taken', async () => {
    const engine = new Engine()
    engine.later(40 * second, () => engine.set({ b: 'on' }))
    const outcome = (await run(engine, lying(engine, says), 2 * minute, awaitOn('b'))) as Extract<
      RunOutcome,
      { is: 'finished' }
    >
    expect(Math.round(outcome.tookMs / second)).toBeGreaterThanOrEqual(40)
    expect(Math.round(outcome.tookMs / second)).toBeLessThanOrEqual(41)
    const took = engine.events.flatMap((event) => (event.kind === 'step-done' ? [event.tookMs] : []))
    expect(took.map((ms) => Math.round(ms / second))).toEqual([Math.round(outcome.tookMs / second)])
  })
})

/** From then on nothing is answered, and every request has 30 s. */
function silentFrom(engine: Engine, after: number) {
  const cluster = engine.fake.cluster()
  const hang = async (work: () => Promise<unknown>) => {
    if (engine.elapsed < after) return work()
    await engine.clock.sleep(30 * second)
    throw unreachable('silent', 'no answer within 30 s')
  }
  const silent = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function' || name === 'pages' || name === 'watch') return value
        return (...given: unknown[]) => hang(async () => value.apply(target, given) as unknown)
      },
    })
  return { ...cluster, reader: silent<Reader>(cluster.reader), writer: silent(cluster.writer) }
}

const runOn = (engine: Engine, after: number, ...steps: Step[]) =>
  runProcedure(procedureOf(...steps), {
    cluster: silentFrom(engine, after),
    clock: engine.clock,
    journal: engine.journal(),
    lock: engine.lock(),
    emit: (event) => engine.events.push({ ...event, after: engine.elapsed }),
    signal: engine.stop.signal,
    who: 'jane@here',
    limits: { timeoutMs: 40 * second },
  })

describe('trust M8: a server that says nothing any more', () => {
  test.each([5, 12, 25, 39])('from %i s on: --timeout 40s ends it after 40 s', async (after) => {
    const engine = new Engine()
    await expect(runOn(engine, after * second, awaitOn('b'))).rejects.toMatchObject({ exitCode: 4 })
    expect(engine.elapsed).toBeGreaterThanOrEqual(40 * second)
    expect(engine.elapsed).toBeLessThanOrEqual(44 * second)
  })

  test('in the middle of a change: it is left as a kill leaves it', async () => {
    const engine = new Engine()
    const cluster = silentFrom(engine, 0)
    const step = flip('a', {
      check: async () => ({ is: 'todo', change: 'set a to on' }),
      apply: async () => cluster.writer.delete({} as never, { name: 'a' }),
    })
    await expect(runOn(engine, 0, step)).rejects.toMatchObject({ exitCode: 4 })
    expect(engine.elapsed).toBeLessThanOrEqual(50 * second)
  })
})
