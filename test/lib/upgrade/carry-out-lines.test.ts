import { expect, test } from 'vitest'
import { afterPlan, carryingOut } from '../../../src/commands/upgrade/carry-out-lines.ts'

test.each([
  ['kvup plan --to v1.9.0', 'kvup upgrade --to v1.9.0'],
  ['kvup --context a plan --to v1.9.0 -o yaml', 'kvup --context a upgrade --to v1.9.0'],
  ['kubectl kvup plan -ojson --to v1.9.0 --exit-code', 'kubectl kvup upgrade --to v1.9.0'],
  ["kvup plan --to v1.9.0 --to-file='my plan.yaml' --leave-held", 'kvup upgrade --to v1.9.0 --leave-held'],
  ['kvup upgrade --to v1.9.0 --dry-run=server --output json', 'kvup upgrade --to v1.9.0'],
  ['kvup upgrade --plan plan.yaml --dry-run=server', 'kvup upgrade --plan plan.yaml'],
  ['kvup upgrade --to v1.9.0 --dry-run client -o=yaml', 'kvup upgrade --to v1.9.0'],
])('%s is carried out by %s', (typed, line) => {
  expect(carryingOut(typed)).toBe(line)
})

test('with a file it is the file that is carried out', () => {
  expect(afterPlan('kvup plan --to v1.9.0 --to-file x', 'my plan.yaml')).toEqual([
    "kvup upgrade --plan 'my plan.yaml'",
  ])
  expect(afterPlan('kvup plan --to v1.9.0', undefined)[1]).toMatch(
    /^kvup plan --to v1\.9\.0 --to-file plan\.yaml {2,}/,
  )
})
