import { expect } from 'vitest'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Entry } from '../../src/lib/engine/journal.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { type Death, immortal, Killed, mortal } from './mortal-cluster.ts'
import { play, second, type Stage } from './stage.ts'

type Shape = Omit<Simulation, 'clock'>

/** Played hundreds of times: every simulated second costs. */
export const brief = { stableFor: '5s' } as const

/** An update that is to be killed, and what it leads to when nobody kills it. */
export interface Update {
  shape: Shape
  to: string
  calls: number
  spec: KubeVirt['spec']
  /** Every death there is: before and after each of the calls. Those that leave the same world behind are together. */
  deaths: Map<World, Death[]>
}

/** Time and revision. The simulation is deterministic, so two deaths with the same ones leave the same world. */
type World = string
const worldOf = ({ simulated, now }: Stage): World => `revision ${simulated.store.revision} at ${now}`

/** Runs it once to its end and notes in which world each of its calls begins and ends. */
export async function survive(shape: Shape, to: string): Promise<Update> {
  const deaths = new Map<World, Death[]>()
  let update: Update | undefined
  await play(shape, async (stage) => {
    const cluster = immortal(stage.cluster, (death) => {
      const world = worldOf(stage)
      deaths.set(world, [...(deaths.get(world) ?? []), death])
    })
    expect(await stage.upgrade(to, brief, { cluster })).toMatchObject({ code: 0 })
    update = { shape, to, calls: cluster.calls(), spec: stage.kubevirt.spec, deaths }
  })
  if (!update) throw new Error('it did not survive')
  return update
}

/**
 * One death after each write of kvup that is no renewal of its lock: what a resumed run can find differs by these, and else only
 * by how far the operator has come.
 */
export async function deathsAfterWrites(update: Update): Promise<Map<World, Death[]>> {
  const first = new Map<number, World>()
  await play(update.shape, async (stage) => {
    const cluster = immortal(stage.cluster, () => {
      const count = stage.writes().filter(({ resource }) => resource !== 'leases').length
      if (!first.has(count)) first.set(count, worldOf(stage))
    })
    await stage.upgrade(update.to, brief, { cluster })
  })
  return new Map([...first.values()].map((world) => [world, update.deaths.get(world) ?? []]))
}

/** Kills it so, runs it again on another machine, expects what the undisturbed run left, and gives its exit code. */
export async function killAndResume(
  { shape, to, spec, calls }: Update,
  world: World,
  death: Death,
): Promise<number | undefined> {
  let code: number | undefined
  await play(shape, async (stage) => {
    const cluster = mortal(stage.cluster, death)
    const killed = stage.upgrade(to, brief, { cluster, host: 'dead' }).catch((error: unknown) => error)
    await cluster.death
    expect(worldOf(stage)).toBe(world)
    const resumed = await stage.upgrade(to, brief, { host: 'other' })
    const began = resumed.events.find(({ kind }) => kind === 'run-started')
    expect(began?.after ?? 0).toBeLessThanOrEqual(15 * second)
    if (began) expect(stage.holder).toBe('')
    await expectEnd(stage, spec)
    // The lock is given back by the last call: nothing is asked behind it that could die, and giving it back may fail.
    if (isLast(death, calls)) expect(await killed).toMatchObject({ code: 0 })
    else expect(await killed).toBeInstanceOf(Killed)
    code = resumed.code
  })
  return code
}

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
