import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Entry } from '../../src/lib/engine/journal.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { type Death, immortal, Killed, mortal } from './mortal-cluster.ts'
import { playAnew, second, type Stage, type Terminal } from './stage.ts'

type Shape = Omit<Simulation, 'clock'>

/** Played hundreds of times: every simulated second costs. */
export const brief = { stableFor: '5s' } as const

/** What is to be killed, on a stage that was made ready for it. */
export type Command = (stage: Stage, terminal: Terminal) => Promise<{ code: number }>
type Play = (act: (stage: Stage) => Promise<void>) => Promise<void>

/** Time and revision. The simulation is deterministic, so two deaths with the same ones leave the same world. */
type World = string
const worldOf = ({ simulated, now }: Stage): World => `revision ${simulated.store.revision} at ${now}`

/** How a command can die. */
export interface Deaths {
  calls: number
  /** Before and after each of the calls; those that leave the same world behind are together. */
  deaths: Map<World, Death[]>
  /** Of each world, in which steps its deaths lie, and whether around a read or a write. */
  places: Map<World, Set<string>>
  /** The first one behind each write of kvup that is no renewal of its lock: what a resumed run can find differs by these, and else only by how far the operator has come. */
  written: readonly World[]
}

/** Runs it once to its end and notes in which world each of its calls begins and ends. */
export async function deathsOf(playIt: Play, command: Command): Promise<Deaths> {
  const written = new Map<number, World>()
  const found = { calls: 0, deaths: new Map<World, Death[]>(), places: new Map<World, Set<string>>() }
  const { deaths, places } = found
  await playIt(async (stage) => {
    let step = ''
    const onEvent = (event: RunEvent) => {
      if (event.kind === 'step-started') step = event.step.id
    }
    const { mark } = stage
    const cluster = immortal(stage.cluster, (death, call) => {
      const world = worldOf(stage)
      const count = stage.writes(mark).filter(({ resource }) => resource !== 'leases').length
      if (!written.has(count)) written.set(count, world)
      deaths.set(world, [...(deaths.get(world) ?? []), death])
      places.set(world, (places.get(world) ?? new Set()).add(`${step}: ${call}`))
    })
    expect(await command(stage, { cluster, onEvent })).toMatchObject({ code: 0 })
    found.calls = cluster.calls()
  })
  return { ...found, written: [...written.values()] }
}

/** An update that is to be killed, and what it leads to when nobody kills it. */
export interface Update extends Deaths {
  shape: Shape
  to: string
  spec: KubeVirt['spec']
}

export async function survive(shape: Shape, to: string): Promise<Update> {
  let spec: KubeVirt['spec']
  const deaths = await deathsOf(
    (act) => playAnew(shape, act),
    async (stage, terminal) => {
      const ended = await stage.upgrade(to, brief, terminal)
      spec = stage.kubevirt.spec
      return ended
    },
  )
  return { ...deaths, shape, to, spec }
}

/** Kills it so, and waits until nothing of it is left. Who dies while it lets go of the lock has nothing left to say but the end. */
export async function kill(stage: Stage, command: Command, death: Death): Promise<void> {
  const cluster = mortal(stage.cluster, death)
  const killed = command(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  const end = await killed
  expect(end instanceof Killed || (end as { code: number }).code === 0).toBe(true)
}

/** Tries every death, and not a sample: `.ci/run` does so for image tag and manifest. */
export const isEvery = process.env['KVUP_EVERY_DEATH'] === '1'

/** In an order of its own for each commit (vitest.config.ts sets and prints the seed). */
export function shuffled<T>(items: Iterable<T>, nameOf: (item: T) => string): T[] {
  const key = (item: T) =>
    createHash('sha256')
      .update(`${process.env['KVUP_SEED']} ${nameOf(item)}`)
      .digest('hex')
  return [...items].toSorted((a, b) => key(a).localeCompare(key(b)))
}

/**
 * So many of its worlds, drawn by the seed, that there is a death in each step around a read, and one around a write. `each` step: one in
 * each, around a write where it has any; a read leaves what the write before it left, only later.
 */
export function drawn({ deaths, places }: Deaths, each: 'call' | 'step' = 'call'): [World, Death[]][] {
  if (isEvery) return [...deaths]
  const met = new Set<string>()
  const placesOf = (world: World) => [...(places.get(world) ?? [])]
  const worlds = shuffled(deaths.keys(), (world) => world)
  const writes =
    each === 'step' ? worlds.filter((world) => placesOf(world).some((one) => one.endsWith(': write'))) : []
  const chosen = [...new Set([...writes, ...worlds])].filter((world) => {
    const all = placesOf(world).map((place) => (each === 'step' ? place.replace(/: \w+$/u, '') : place))
    const fresh = all.filter((place) => !met.has(place))
    for (const place of fresh) met.add(place)
    return fresh.length > 0
  })
  return chosen.map((world) => [world, deaths.get(world) ?? []])
}

/** Calls that nobody dies before, or after. */
export function callsWithoutDeath(calls: number, deaths: readonly Death[]): readonly number[] {
  const all = new Set(deaths.map((death) => JSON.stringify(death)))
  const has = (death: Death) => all.has(JSON.stringify(death))
  const numbers = Array.from({ length: calls }, (_, at) => at + 1)
  return numbers.filter((call) => !has({ beforeCall: call }) || !has({ afterCall: call }))
}

/** That no call is left out where deaths are drawn. */
export function testCalls(...all: readonly Deaths[]): void {
  test('every call is among the deaths, before it and after it', () => {
    for (const { calls, deaths } of all)
      expect(callsWithoutDeath(calls, [...deaths.values()].flat())).toEqual([])
  })
}

/** The tests of an update that is killed before and after each of its calls. */
export function testDeaths(update: Update, worlds = drawn(update)): void {
  testCalls(update)

  for (const [world, deaths] of worlds)
    test(`${deaths.length} deaths at ${world}: resumed, it ends as if nobody had killed it`, async () => {
      for (const death of deaths.slice(0, 1)) expect(await killAndResume(update, world, death)).toBe(0)
    })
}

/** So many of the deaths behind a write, drawn by the seed. */
export function drawnWrites({ deaths, written }: Deaths, most: number): [World, Death[]][] {
  const worlds = isEvery ? written : shuffled(written, (world) => world).slice(0, most)
  return worlds.map((world) => [world, deaths.get(world) ?? []])
}

/** Kills it so, runs it again on another machine, expects what the undisturbed run left, and gives its exit code. */
export async function killAndResume(
  { shape, to, spec, calls }: Update,
  world: World,
  death: Death,
): Promise<number | undefined> {
  let code: number | undefined
  await playAnew(shape, async (stage) => {
    const cluster = mortal(stage.cluster, death)
    const killed = stage.upgrade(to, brief, { cluster, host: 'dead' }).catch((error: unknown) => error)
    await cluster.death
    expect(worldOf(stage)).toBe(world)
    const resumed = await stage.upgrade(to, brief, { host: 'other' })
    const began = resumed.events.find(({ kind }) => kind === 'run-started')
    // Where a leader of KubeVirt is just replaced its Lease is waited for, before the lock is looked at.
    const locked = resumed.events.find(({ kind }) => kind === 'remark')?.after ?? 0
    expect(locked).toBeLessThan(5 * second)
    expect((began?.after ?? locked) - locked).toBeLessThanOrEqual(15 * second)
    expect(began === undefined || stage.holder === '').toBe(true)
    await expectEnd(stage, spec)
    // The lock is given back by the last call: nothing is asked behind it that could die, and giving it back may fail.
    expect(outcomeOf(await killed)).toBe(isLast(death, calls) ? 0 : 'killed')
    code = resumed.code
  })
  return code
}

const outcomeOf = (end: unknown): unknown =>
  end instanceof Killed ? 'killed' : (end as { code?: unknown }).code

const isLast = (death: Death, calls: number) =>
  ('afterCall' in death ? death.afterCall : 'beforeCall' in death ? death.beforeCall : 0) >= calls

/** The CR as it should be, nothing borrowed, the journal whole. */
export async function expectEnd(stage: Stage, spec: KubeVirt['spec']): Promise<void> {
  expect(stage.kubevirt.spec).toEqual(spec)
  expect(await stage.journal.overrides()).toEqual([])
  expectWhole(await stage.journal.entries())
}

/** Every intent has its end, every loan was given back. */
export function expectWhole(entries: readonly Entry[]): void {
  const of = (...what: string[]) => entries.filter((entry) => what.includes(entry.what))
  for (const { step, text } of of('intends')) {
    const ends = of('applied', 'failed').filter((entry) => entry.step === step)
    expect(ends, `${step}: ${text}`).not.toHaveLength(0)
  }
  expect(of('restored')).toHaveLength(of('saved').length)
}
