import { readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
import { type EusClusterSnapshot, readEusCluster } from '../../../../src/lib/eus/plan/eus-snapshot.ts'
import { type EusPlanRequest, makeEusPlan } from '../../../../src/lib/eus/plan/eus-planner.ts'
import type { Known } from '../../../../src/lib/kube/known.ts'

const snapshot = new Map<string, Promise<EusClusterSnapshot>>()

/** What is seen of a cluster of test/examples/eus; a copy of its own for each test. */
export async function evidenceOf(name: string): Promise<EusClusterSnapshot> {
  const observed = snapshot.get(name) ?? commands(name)
  snapshot.set(name, observed)
  return structuredClone(await observed)
}

async function commands(name: string): Promise<EusClusterSnapshot> {
  const folder = new URL(`../../../examples/eus/${name}/cluster`, import.meta.url).pathname
  const cluster = await readSaved(folder)
  const at = cluster.takenAt ?? new Date(0)
  return readEusCluster(cluster, { now: () => at, sleep: async () => undefined })
}

/** The one item of a part, to be changed in place. */
export function itemIn<T>(part: Known<T>, at = 0): T {
  const item = part.known ? part.items[at] : undefined
  if (item === undefined) throw new Error('there is no such item')
  return item
}

/** Ids of what is found, by level. */
export function found(observed: EusClusterSnapshot, request: EusPlanRequest = {}): Record<string, string> {
  const { findings } = makeEusPlan(observed, request)
  return Object.fromEntries(findings.map(({ id, level }) => [id, level]))
}
