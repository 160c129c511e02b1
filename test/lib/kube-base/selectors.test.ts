import { expect, test } from 'vitest'
import { selectorTest } from '../../../src/lib/kube/selectors.ts'
import fixture from './selectors.json' with { type: 'json' }

const labels = { app: 'db', tier: 'test' }

test.each<[string, object | null, boolean]>(fixture.selectors as never)(
  'a selector of objects, %s',
  (_, selector, selects) => {
    expect(selectorTest(selector ?? undefined)(labels)).toBe(selects)
  },
)
