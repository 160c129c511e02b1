import { expect, test } from 'vitest'
import { pullFailure } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import fixture from './pull-failure.json' with { type: 'json' }

test.each<[string, string | null]>(fixture.texts as never)('%s', (text, expected) => {
  expect(pullFailure(text)).toBe(expected ?? undefined)
})
