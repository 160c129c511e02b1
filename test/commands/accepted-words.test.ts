import { afterAll, beforeAll, expect, test } from 'vitest'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { acceptedWords } from '../../src/commands/command-options.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, version: 'v1.8.4', workers: 1, controlPlanes: 1 })
})
afterAll(() => sim.stop())

test.each([
  ['node-ready', ['node-ready']],
  ['node-ready,healthy-now', ['node-ready', 'healthy-now']],
  ['node-ready, healthy-now,', ['node-ready', 'healthy-now']],
  ['node-ready=seen, and known', ['node-ready=seen, and known']],
  ['healthy-now,node-ready=seen, and known', ['healthy-now', 'node-ready=seen, and known']],
])('--accept %j: %j', (value, words) => {
  expect(acceptedWords(value, ['first'])).toEqual(['first', ...words])
})

test.each([
  'check',
  'plan --to v1.8.4',
  'upgrade --to v1.8.4 --dry-run=client',
  'workloads pause-updates --dry-run=client',
])('%s takes names with commas, and names the one that there is not', async (line) => {
  const run = (accept: string) =>
    runText([...line.split(' '), '--accept', accept], { cluster: sim.cluster(), clock })
  expect((await run('node-ready,healthy-now')).err).not.toContain('no finding is named')
})

test('one of several that is no finding is named alone', async () => {
  const place = { cluster: sim.cluster(), clock }
  const { code, err } = await runText(['check', '--accept', 'node-ready,nosuch-thing'], place)
  expect(code).toBe(2)
  expect(err).toContain('no finding is named "nosuch-thing"')
})
