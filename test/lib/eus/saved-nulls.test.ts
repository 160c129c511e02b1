import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import { runText } from '../run-text.ts'

const folder = 'test/examples/eus/4.18-to-4.20/cluster'

/** Each object once, typed lists unfolded. */
function objects(): Record<string, unknown>[] {
  return readdirSync(folder)
    .flatMap((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as Record<string, unknown>[])
    .flatMap((value) => (value['items'] as Record<string, unknown>[] | undefined) ?? [value])
}

/** Sets that field to null, where an object of the kind has it. */
function nulled(kind: string, path: string): { stdin: string; hits: number } {
  const names = path.split('.')
  let hits = 0
  const all = objects()
  for (const object of all.filter((one) => one['kind'] === kind)) {
    const above = names
      .slice(0, -1)
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], object)
    if (typeof above !== 'object' || above === null || !(names.at(-1) ?? '' in above)) continue
    Object.assign(above, { [names.at(-1) ?? '']: null })
    hits++
  }
  return { stdin: all.map((one) => JSON.stringify(one)).join('\n'), hits }
}

const nowhere = { cluster: {} as Cluster, clock: systemClock }

test.each([
  ['ClusterVersion', 'spec'],
  ['ClusterVersion', 'status'],
  ['ClusterVersion', 'status.history'],
  ['ClusterVersion', 'status.conditions'],
  ['ClusterVersion', 'status.availableUpdates'],
  ['ClusterOperator', 'status'],
  ['MachineConfigPool', 'spec'],
  ['MachineConfigPool', 'status'],
  ['Node', 'spec'],
  ['Node', 'status'],
  ['HyperConverged', 'spec'],
  ['HyperConverged', 'status'],
  ['Subscription', 'status'],
  ['ClusterServiceVersion', 'status'],
  ['CatalogSource', 'status'],
  ['PackageManifest', 'status.channels'],
])('%s with %s: null in a file is judged as if it were absent, and is no bug', async (kind, path) => {
  const { stdin, hits } = nulled(kind, path)
  expect(hits).toBeGreaterThan(0)
  for (const line of ['status', 'eus status', 'eus plan']) {
    const { code, err } = await runText([...line.split(' '), '--from', '-'], { ...nowhere, stdin })
    expect([line, code === 1 ? err : 'foreseen']).toEqual([line, 'foreseen'])
  }
})

test('an element of a list that is null is none', async () => {
  const all = objects().map((one) => {
    const status = one['status'] as { channels?: unknown[] } | undefined
    if (one['kind'] === 'PackageManifest') status?.channels?.unshift(null)
    return JSON.stringify(one)
  })
  const { code } = await runText(['eus', 'plan', '--from', '-'], { ...nowhere, stdin: all.join('\n') })
  expect(code).not.toBe(1)
})
