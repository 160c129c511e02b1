import { expect, test } from 'vitest'
import { lacking } from './on-screen.ts'
import type { Screen } from './scenario-screens.ts'

/** What a screen lacks of these lines below the command line. */
const lacks = (
  kind: Screen['kind'],
  lines: readonly string[],
  more: { code?: number; scenario?: string } = {},
) => {
  const { scenario = 'wrong-tag', ...rest } = more
  return lacking({ title: 'kvup', kind, lines: ['$ kvup', ...lines], ...rest }, scenario)
}

test('healthy without anything newer is all that has to be said', () => {
  expect(lacks('bare', ['KubeVirt v1.8.4 on prod-eu: healthy.'])).toEqual([])
})

test('an update that is available takes a line to type', () => {
  const said = 'KubeVirt v1.7.4 on prod-eu: healthy. Update available: v1.8.4'
  expect(lacks('bare', [said])).toEqual(['next line'])
  expect(lacks('bare', [said, 'Next: kvup upgrade --to v1.8.4'])).toEqual([])
})

test('help is no verdict, and a verdict may go on in the next lines', () => {
  expect(lacks('bare', ['Upgrade:', '  wait       Wait until KubeVirt is healthy'])).toContain('verdict')
  expect(lacks('after', ['Upgrade v1.7.4 → v1.8.4 on', '  prod-eu interrupted by', '  root'])).toEqual([
    'next line',
  ])
})

test('who is stalled is told the cause, broken into lines or not', () => {
  const head = 'KubeVirt v1.8.4: STALLED for 20 s'
  const next = 'Next: kubectl -n kubevirt describe pod x'
  expect(lacks('stalled', [head, next])).toEqual(['cause'])
  expect(lacks('stalled', [head, 'cannot pull quay.io/kubevirt/virt-op', 'erator:v1.8.5', next])).toEqual([])
})

test('a check ends with READY or NOT READY, a run with its mark or its error, and who gives up with the cause', () => {
  expect(lacks('check', ['59 checks', '→ kvup upgrade --to v1.8.4'])).toEqual(['verdict'])
  expect(lacks('demo', ['✔ KubeVirt v1.8.4', '  → kvup workloads outdated'], { code: 0 })).toEqual([])
  expect(lacks('demo', ['error: timed out', '  → kvup upgrade --to v1.8.5'], { code: 4 })).toEqual(['cause'])
})
