import { describe, expect, test } from 'vitest'
import { type Candidate, otherCanaryLine, wavesOf } from '../../../../src/lib/vms/waves/waves.ts'
import { aCandidate } from './a-candidate.ts'

const one = (vm: string, more: Partial<Candidate> = {}): Candidate =>
  aCandidate(`demo/${vm}`, { uid: vm, ...more })
const plain = { order: 'name', first: [], canaries: 0 } as const
const told = (waves: ReturnType<typeof wavesOf>) =>
  waves.map(({ id, vms }) => `${id}: ${vms.map(({ uid }) => uid).join(' ')}`)

test('without anything it is one wave', () => {
  expect(told(wavesOf([one('b'), one('a')], plain))).toEqual(['wave: a b'])
  expect(wavesOf([], { ...plain, canaries: 2 })).toEqual([])
})

test('waves come as they were named, then by name, and those without a value last', () => {
  const vms = [
    one('p', { wave: 'prod' }),
    one('x'),
    one('d', { wave: 'dev' }),
    one('a', { wave: 'acc' }),
    one('t', { wave: 'test' }),
  ]
  expect(told(wavesOf(vms, { ...plain, first: ['test', 'dev', 'no-such'] }))).toEqual([
    'wave-test: t',
    'wave-dev: d',
    'wave-acc: a',
    'wave-prod: p',
    'wave: x',
  ])
})

test('the canary is the first of the order that migrates, and is not in a wave again', () => {
  const vms = [one('a', { by: 'restart' }), one('b', { bornAt: 2 }), one('c', { bornAt: 1 })]
  expect(told(wavesOf(vms, { ...plain, order: 'oldest', canaries: 1 }))).toEqual(['canary: c', 'wave: a b'])
  expect(told(wavesOf(vms, { ...plain, order: 'newest', canaries: 1 }))).toEqual(['canary: b', 'wave: c a'])
})

test('canaries that were moved already are not chosen again', () => {
  const vms = [one('a'), one('b')]
  expect(told(wavesOf(vms, { ...plain, canaries: 3 }, { passed: 2 }))).toEqual(['canary: a', 'wave: b'])
  expect(told(wavesOf(vms, { ...plain, canaries: 3 }, { passed: 3 }))).toEqual(['wave: a b'])
})

test('a VM that failed before is the canary where no other is left, one that failed as the canary after all others', () => {
  const vms = [one('a'), one('b'), one('c')]
  const failing = new Set(['demo/a', 'demo/b'])
  const canaryOf = (canaries: number, chosen: readonly string[] = [], failed = failing) =>
    told(wavesOf(vms, { ...plain, canaries }, { passed: 0, failing: failed, chosen: new Set(chosen) }))[0]
  expect(canaryOf(1)).toBe('canary: c')
  expect(canaryOf(2)).toBe('canary: c a')
  expect(canaryOf(1, ['demo/a'])).toBe('canary: c')
  expect(canaryOf(3, ['demo/a'])).toBe('canary: c b a')
  expect(canaryOf(1, ['demo/c'], new Set())).toBe('canary: c')
})

describe('the line that tries another canary', () => {
  const all = [one('a'), one('b'), one('c', { canary: true }), one('d', { canary: true })]
  const line = (typed: string, failed: string, left: readonly Candidate[]) =>
    otherCanaryLine(typed, { failed: [failed], left, known: all })?.split('     ')[0]

  test('is the typed one without the VM that failed', () => {
    const typed = "kvup workloads update -n demo --canary 1 --window 'Sat 22:00-04:00'"
    expect(line(typed, 'demo/a', all.slice(1))).toBe(`${typed} --exclude demo/a`)
  })

  test('keeps the label while an outdated VM has it, and then as many others as had it', () => {
    const typed = "kvup workloads update --canary-label 'tier in (a)' --parallel 2"
    expect(line(typed, 'demo/c', [all[3] as Candidate])).toBe(`${typed} --exclude demo/c`)
    expect(line(typed, 'demo/c', all.slice(0, 2))).toBe(
      'kvup workloads update --parallel 2 --canary 2 --exclude demo/c',
    )
    expect(line('kvup workloads update --canary-label=t=1', 'demo/c', all.slice(0, 1))).toBe(
      'kvup workloads update --canary 2 --exclude demo/c',
    )
  })

  test('there is none where no other VM is left', () => {
    expect(line('kvup workloads update --canary 1', 'demo/a', [])).toBeUndefined()
  })
})

test('where only restarts are left, one of them is the canary', () => {
  expect(told(wavesOf([one('a', { by: 'restart' })], { ...plain, canaries: 1 }))).toEqual(['canary: a'])
})

test('a canary label means all that have it', () => {
  const vms = [one('a'), one('b', { canary: true }), one('c', { canary: true })]
  expect(told(wavesOf(vms, plain))).toEqual(['canary: b c', 'wave: a'])
})

test.each([
  ['smallest', ['b', 'c', 'a']],
  ['largest', ['a', 'b', 'c']],
] as const)('%s, and what is equal by name', (order, expected) => {
  const vms = [one('a', { memory: 4 }), one('c', { memory: 2 }), one('b', { memory: 2 })]
  expect(wavesOf(vms, { ...plain, order })[0]?.vms.map(({ uid }) => uid)).toEqual(expected)
})
