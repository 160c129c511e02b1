import { expect, test } from 'vitest'
import { afterPlan, carryingOut } from '../../../src/lib/upgrade/run-report.ts'
import { goesOn } from '../../../src/lib/engine/change.ts'

test.each([
  ['kvup plan --to v1.9.0', 'kvup upgrade --to v1.9.0'],
  ['kvup --context a plan --to v1.9.0 -o yaml', 'kvup --context a upgrade --to v1.9.0'],
  ['kubectl kvup plan -ojson --to v1.9.0 --exit-code', 'kubectl kvup upgrade --to v1.9.0'],
  [
    "kvup plan --to v1.9.0 --to-file='my plan.yaml' --leave-paused",
    'kvup upgrade --to v1.9.0 --leave-paused',
  ],
  ['kvup upgrade --to v1.9.0 --dry-run=server --output json', 'kvup upgrade --to v1.9.0'],
  ['kvup upgrade --plan plan.yaml --dry-run=server', 'kvup upgrade --plan plan.yaml'],
  ['kvup upgrade --to v1.9.0 --dry-run client -o=yaml', 'kvup upgrade --to v1.9.0'],
  [
    "kvup plan --accept 'a=looked at with -o json' --to v1.9.0",
    "kvup upgrade --accept 'a=looked at with -o json' --to v1.9.0",
  ],
  ['kvup --context plan plan --to v1.9.0', 'kvup --context plan upgrade --to v1.9.0'],
  ['kvup -n upgrade plan --to v1.9.0', 'kvup -n upgrade upgrade --to v1.9.0'],
  ['kvup --yes plan --to v1.9.0', 'kvup --yes upgrade --to v1.9.0'],
])('%s takes effect by %s', (typed, line) => {
  expect(carryingOut(typed)).toBe(line)
})

test('with a file it is the file that takes effect', () => {
  expect(afterPlan('kvup plan --to v1.9.0 --to-file x', 'my plan.yaml')).toEqual([
    "kvup upgrade --plan 'my plan.yaml'",
  ])
  expect(afterPlan("kvup plan --to v1.9.0 --releases='my own.json' --to-file x", 'x')).toEqual([
    "kvup upgrade --plan x --releases='my own.json'",
  ])
  expect(afterPlan('kvup plan --to v1.9.0', undefined)[1]).toMatch(
    /^kvup plan --to v1\.9\.0 --to-file plan\.yaml {2,}/,
  )
})

test.each([
  ['kvup upgrade --to v1.9.0 --until settled --yes', 'kvup upgrade --to v1.9.0 --yes'],
  [
    "kvup upgrade --to v1.9.0 --deadline='2026-11-22 04:30' --pause-before settled",
    'kvup upgrade --to v1.9.0',
  ],
  [
    "kvup upgrade --to v1.9.0 --accept 'a=not --until noon'",
    "kvup upgrade --to v1.9.0 --accept 'a=not --until noon'",
  ],
  [
    "kvup upgrade --to v1.9.0 --accept 'a=it'\\''s -- fine'",
    "kvup upgrade --to v1.9.0 --accept 'a=it'\\''s -- fine'",
  ],
])('%s goes on by %s', (typed, line) => {
  expect(goesOn(typed)).toBe(`${line}     goes on from here`)
})
