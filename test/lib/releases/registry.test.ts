import { expect, test } from 'vitest'
import { parseRegistry } from '../../../src/lib/manifests/image-registry.ts'
import fixture from './registry.json' with { type: 'json' }

test.each(fixture.good)('%s is a registry', (text, is) => {
  expect(parseRegistry(text)).toBe(is)
})

test.each(fixture.refused)('%j is exit 2', (text, why) => {
  expect(() => parseRegistry(text)).toThrow(
    expect.objectContaining({
      exitCode: 2,
      reason: 'not-a-registry',
      message: expect.stringContaining(why) as string,
    }),
  )
})
