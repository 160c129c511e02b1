import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import { isEvery, shuffled } from '../killed.ts'
import { type Death, immortal, Killed, mortal } from '../mortal-cluster.ts'
import { kvupUser, type Stage } from '../stage.ts'
import type { Command, playLent } from './lending-window.ts'

/**
 * All objects with their resourceVersions, but Leases: what a resumed run can find. Two deaths at the same one differ only by how long ago the last change was, for
 * nothing but the lock was written in between, and a lock runs out.
 */
type World = string

/** Deaths that leave the same world behind: one of them stands for all. */
export interface SameDeaths {
  world: World
  deaths: readonly Death[]
  /** Lasting writes that were made by then. */
  writes: number
  /** The last change to this world was a write of kvup, not of the cluster. */
  isAfterWrite: boolean
}

/** Every death that a command can die, before and after each of its API calls, in the order of time. */
export interface Deaths {
  calls: number
  /** Of the exit of who is not killed. */
  code: number
  worlds: readonly SameDeaths[]
}

function worldOf({ simulated: { store } }: Stage): World {
  const hash = createHash('sha256')
  for (const { kind, metadata } of store.everything())
    if (kind !== 'Lease') hash.update(`${kind} ${metadata.uid} ${metadata.resourceVersion}\n`)
  return hash.digest('base64url').slice(0, 12)
}

/** Renewals of the lock change nothing that a resumed run can find. */
class LastingWrites {
  readonly #stage: Stage
  #read: number
  count = 0

  constructor(stage: Stage) {
    this.#stage = stage
    this.#read = stage.mark
  }

  now(): number {
    const { audit } = this.#stage.simulated.store
    for (; this.#read < audit.length; this.#read++) {
      const record = audit[this.#read]
      const isOurs = record?.user === kvupUser && isWrite(record)
      if (isOurs && record.resource !== 'leases') this.count++
    }
    return this.count
  }
}

/**
 * Plays it to its end. What is loaded when it is first needed comes in real time, and simulated time goes on meanwhile: to be called where the same was played
 * in this process before.
 */
export async function deathsOf(playIt: typeof playLent, command: Command): Promise<Deaths> {
  const worlds = new Map<World, SameDeaths & { deaths: Death[] }>()
  let [calls, code] = [0, NaN]
  await playIt(async (stage) => {
    const writes = new LastingWrites(stage)
    let observed = { revision: -1, world: '', writes: 0 }
    const cluster = immortal(stage.cluster, (death) => {
      const { revision } = stage.simulated.store
      const world = revision === observed.revision ? observed.world : worldOf(stage)
      const isAfterWrite = writes.now() > observed.writes
      observed = { revision, world, writes: writes.now() }
      const there = worlds.get(world)
      if (there) there.deaths.push(death)
      else worlds.set(world, { world, deaths: [death], writes: writes.now(), isAfterWrite })
    })
    code = (await command(stage, { cluster })).code
    calls = cluster.calls()
  })
  return { calls, code, worlds: [...worlds.values()] }
}

/** Dies as the first or the last of these, in the very world that they are said to leave behind: the simulation is deterministic. */
export async function die(stage: Stage, command: Command, { world, deaths }: SameDeaths): Promise<void> {
  const death = deaths.at(deaths.length % 2 === 0 ? 0 : -1)
  if (death === undefined) throw new Error('nobody dies here')
  const cluster = mortal(stage.cluster, death)
  const dying = command(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  expect(worldOf(stage)).toBe(world)
  // Who dies while it lets go of the lock has nothing left to say but the end.
  const end = await dying
  expect(end instanceof Killed || (end as { code: number }).code === 0).toBe(true)
}

/** Default: so many of those right after a write, drawn by the seed, others for each question. */
export function chosen({ worlds }: Deaths, most: number, question = ''): readonly SameDeaths[] {
  if (isEvery) return worlds
  const afterWrites = worlds.filter(({ isAfterWrite }) => isAfterWrite)
  return shuffled(afterWrites, ({ world }) => `${question}${world}`).slice(0, most)
}

/** For the name of a test. */
export const named = (deaths: readonly SameDeaths[]): [string, SameDeaths][] =>
  deaths.map((same, at) => [`${same.writes} writes, world ${at + 1} (${same.deaths.length} deaths)`, same])
