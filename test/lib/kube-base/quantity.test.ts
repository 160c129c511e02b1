import { expect, test } from 'vitest'
import { quantity } from '../../../src/lib/kube/quantity.ts'

test.each([
  ['2Gi', 2 ** 31],
  ['1500m', 1.5],
  ['1k', 1000],
  ['1Pi', 2 ** 50],
  ['1e3', 1000],
  ['12E', 12e18],
  [4, 4],
  ['', undefined],
  ['2 Gi', undefined],
  ['2gi', undefined],
  [undefined, undefined],
])('%j is %s', (text, amount) => {
  expect(quantity(text)).toBe(amount)
})
