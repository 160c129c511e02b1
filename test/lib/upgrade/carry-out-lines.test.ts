import { expect, test } from 'vitest'
import { afterPlan, carryingOut } from '../../../src/lib/upgrade/run-report.ts'
import { goesOn } from '../../../src/lib/engine/change.ts'
import fixture from './carry-out-lines.json' with { type: 'json' }

test.each(fixture.carried)('%s takes effect by %s', (typed, line) => {
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

test.each(fixture.goesOn)('%s goes on by %s', (typed, line) => {
  expect(goesOn(typed)).toBe(`${line}     goes on from here`)
})
