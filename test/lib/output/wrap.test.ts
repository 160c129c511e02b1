import { describe, expect, test } from 'vitest'
import { wrap } from '../../../src/lib/output/wrap.ts'

describe('a line on a terminal', () => {
  test('is broken between words, and goes on two columns further in', () => {
    expect(wrap('consoles and VNC sessions drop once', 20)).toEqual([
      'consoles and VNC',
      '  sessions drop once',
    ])
  })

  test('with a label goes on below its text', () => {
    expect(wrap('took   one 3s, two 4s, three 5s', 20)).toEqual(['took   one 3s, two', '       4s, three 5s'])
  })

  test('is left alone on a pipe, where it fits, and where it is a command to paste', () => {
    const long = '  → kubectl -n kubevirt describe pod virt-handler-abcde'
    expect(wrap(long, 20)).toEqual([long])
    expect(wrap('fits', 4)).toEqual(['fits'])
    expect(wrap('a b c d', Infinity)).toEqual(['a b c d'])
  })

  test('colours take no room, and a word that is too long is left to the terminal', () => {
    expect(wrap('\u001b[31mab cd\u001b[39m', 5)).toEqual(['\u001b[31mab cd\u001b[39m'])
    expect(wrap('see https://example.org/a/b', 10)).toEqual(['see', '  https://example.org/a/b'])
  })
})
