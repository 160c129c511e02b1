import { expect, test } from 'vitest'
import { isBetweenSteps, isOutsideOfRolls } from '../../../src/lib/upgrade/step-traits.ts'
import fixture from './step-traits.json' with { type: 'json' }

/** Where a run stands before a step, people restart VMs; nothing rolls; or components do. */
test.each<[id: string, between: boolean, outside: boolean]>(fixture.standing as never)(
  'before %s',
  (id, between, outside) => {
    expect([isBetweenSteps(id), isOutsideOfRolls(id)]).toEqual([between, outside])
  },
)
