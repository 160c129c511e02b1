import { expect, test } from 'vitest'
import { trimmed } from '../../../src/lib/kube/saved/recording-reader.ts'
import objects from './trimmed-platform.json' with { type: 'json' }

const secret = 'sesame'

/** What is saved of a kind: what must not be in it is the secret, what must is in `kept`. */
test.each(objects)('$name', ({ whole, kept }) => {
  const saved = JSON.parse(JSON.stringify(trimmed(whole))) as object
  expect(JSON.stringify(saved)).not.toContain(secret)
  expect(saved).toEqual({ apiVersion: 'x/v1', kind: whole.kind, metadata: { name: 'a' }, ...kept })
})
