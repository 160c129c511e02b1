import { expect, test } from 'vitest'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import {
  type RestartCandidate,
  type RestartSnapshot,
  RestartRun,
} from '../../../../src/lib/vms/waves/restart-run.ts'
import { restartWaves } from '../../../../src/lib/vms/waves/restart-procedure.ts'
import type { WaveRunWanted } from '../../../../src/lib/vms/waves/waves.ts'
import { aCandidate } from '../waves/a-candidate.ts'

const { apiVersion, kind } = KubeVirts
const kubevirt = { apiVersion, kind, metadata: { name: 'kubevirt', namespace: 'kubevirt' } }
const wanted: WaveRunWanted = {
  selection: {},
  exclude: new Set<string>(),
  waves: { order: 'name', first: [], canaries: 0 },
  waveBy: { is: 'namespace' },
  maxFailures: 1,
  pacing: { parallel: 1, pause: 0, soak: 0, windows: [] },
  backWithin: 1000,
}

const run = (through: readonly string[] = [], canaries = 0): RestartRun => {
  const waves = { ...wanted.waves, canaries }
  const made = new RestartRun({ ...wanted, waves }, { began: 0, kubevirt })
  for (const id of through) made.through.add(id)
  return made
}

const one = (vm: string): RestartCandidate => ({
  ...aCandidate(vm, { wave: vm.split('/')[0] ?? '', by: 'restart' }),
  since: 0,
  onlyOnce: false,
  loses: [],
})

const snapshotOf = (candidates: readonly RestartCandidate[]): RestartSnapshot => ({
  now: 0,
  candidates: new Map(candidates.map((candidate) => [candidate.vm, candidate])),
  left: new Map(),
  unread: [],
  restarts: [],
})

const told = (waves: ReturnType<typeof restartWaves>) =>
  waves.map(({ id, vms }) => `${id}: ${vms.map(({ vm }) => vm).join(' ')}`)

test('a VM whose wave is through comes late, where no other wave is left, and once', () => {
  const both = snapshotOf([one('a/1'), one('b/1')])
  expect(told(restartWaves(run(), both))).toEqual(['wave-a: a/1', 'wave-b: b/1'])
  expect(told(restartWaves(run(['wave-a']), both))).toEqual(['wave-b: b/1'])
  expect(told(restartWaves(run(['wave-a', 'wave-b']), both))).toEqual(['late: a/1 b/1'])
  expect(told(restartWaves(run(['wave-a', 'wave-b', 'late']), both))).toEqual([])
  expect(restartWaves(run(), snapshotOf([]))).toEqual([])
})

test('what is under way is waited for in a wave of its own', () => {
  const state = { is: 'under-way' } as RestartSnapshot['restarts'][number]['state']
  const open = { ...snapshotOf([]), restarts: [{ vm: 'a/1', state } as RestartSnapshot['restarts'][number]] }
  expect(told(restartWaves(run(), open))).toEqual(['late: '])
})

/** How often the name of a candidate is looked at: each comparison of two does so twice. */
function looksAtNames(count: number, through: readonly string[], canaries = 0): number {
  let looks = 0
  const counted = (vm: string): RestartCandidate =>
    Object.defineProperty(one(vm), 'vm', { enumerable: true, get: () => (looks++, vm) })
  const all = Array.from({ length: count }, (_, i) => counted(`ns-${i % 20}/vm-${(i * 7919) % count}`))
  const there = snapshotOf(all)
  looks = 0
  const waves = restartWaves(run(through, canaries), there)
  expect(waves.reduce((sum, { vms }) => sum + vms.length, 0)).toBe(count)
  return looks
}

const everyWave = Array.from({ length: 20 }, (_, i) => `wave-ns-${i}`)

test.each([
  ['in their waves', [], 0],
  ['with a canary', [], 5],
  ['late, all of them', everyWave, 0],
] as const)('4,000 VMs are not compared each with each: %s', (_, through, canaries) => {
  // Sorting looks at each of them some 15 times, twice for each; each with each would be 2,000 times.
  expect(looksAtNames(4000, through, canaries)).toBeLessThan(4000 * 100)
})
