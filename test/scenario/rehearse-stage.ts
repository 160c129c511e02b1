import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { systemClock } from '../../src/lib/kube/clock.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { Rehearsal } from '../../src/lib/rehearsal/rehearsal.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { settled } from '../lib/settled.ts'

export type Shape = Omit<Simulation, 'clock'>

/** Where snapshots lie; gone once the tests of this file have run. */
export function snapshotFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rehearse-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Saves a cluster of that shape to a file, by `kvup snapshot`. */
export async function saveCluster(
  file: string,
  shape: Shape,
  before?: (sim: SimulatedCluster, clock: SimClock) => Promise<void>,
): Promise<string> {
  const clock = new SimClock()
  const sim = await settled({ ...shape, clock })
  try {
    await clock.sleep(60_000)
    await before?.(sim, clock)
    const snapshot = runText(['snapshot', '--to-file', file], { cluster: sim.cluster(), clock })
    expect(await clock.during(snapshot)).toMatchObject({ code: 0 })
    return file
  } finally {
    await sim.stop()
  }
}

/** The index, and the objects behind it. */
export const objectsIn = (file: string): KubeObject[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as KubeObject)

export function writeObjects(file: string, objects: readonly object[]): string {
  known.clear()
  writeFileSync(file, `${objects.map((object) => JSON.stringify(object)).join('\n')}\n`)
  return file
}

/** Another cluster: each of its objects as `change` makes it. */
export function changed(from: string, file: string, change: (object: KubeObject) => object): string {
  const [index = {}, ...objects] = objectsIn(from)
  return writeObjects(file, [index, ...objects.map(change)])
}

/** Nobody asks a cluster for what is read from a file. */
export const offline = { cluster: {} as Cluster, clock: systemClock }

export async function rehearseAnew(from: string, ...flags: readonly string[]) {
  const ended = await runText(['rehearse', '--from', from, ...flags], { ...offline, columns: 100 })
  return { ...ended, said: `${ended.out}${ended.err}` }
}

const known = new Map<string, ReturnType<typeof rehearseAnew>>()

/** The same line is played once, until a file is written. */
export function rehearse(...line: Parameters<typeof rehearseAnew>): ReturnType<typeof rehearseAnew> {
  const key = JSON.stringify(line)
  const ended = known.get(key) ?? rehearseAnew(...line)
  known.set(key, ended)
  return ended
}

export async function rehearsed(from: string, ...flags: readonly string[]) {
  const { code, out } = await rehearse(from, ...flags, '-o', 'json')
  return { ...(JSON.parse(out) as Rehearsal), code }
}

/** The words of a line that was printed, without the program and what stands beside it. */
export const wordsOf = (line = ''): string[] => (line.split('     #')[0] ?? '').split(' ').slice(1)
