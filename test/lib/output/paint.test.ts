import { describe, expect, test } from 'vitest'
import {
  type ColourWish,
  isColoured,
  isLive,
  isUnicode,
  paintFor,
  sanitise,
} from '../../../src/lib/output/terminal.ts'
import fixture from './paint.json' with { type: 'json' }

type Env = Record<string, string>
test.each<[string, boolean, ColourWish, Env, boolean]>(fixture.colours as never)(
  '%s: colour',
  (...[, isTTY, wish, env, expected]) => {
    expect(isColoured({ isTTY }, wish, env)).toBe(expected)
  },
)

test.each<[Env, boolean]>(fixture.unicode as never)('%o may leave ASCII: %s', (env, expected) => {
  expect(isUnicode(env)).toBe(expected)
})

test.each<[Env, boolean]>([
  [{ TERM: 'xterm' }, true],
  [{ TERM: 'dumb' }, false],
  [{ TERM: 'xterm', CI: 'true' }, false],
])('manner 24: %o is live on a terminal: %s', (env, expected) => {
  const terminal = { write: () => undefined, isTTY: true }
  expect(isLive(terminal, env)).toBe(expected)
  expect(isLive({ ...terminal, isTTY: false }, env)).toBe(false)
})

describe('marks and bars', () => {
  test('manner 23: have a shape of their own in ASCII', () => {
    const paint = paintFor({ colour: false, unicode: false })
    const marks = Object.values(paint.mark).map(sanitise)
    expect(new Set(marks).size).toBe(6)
    expect(`${marks.join('')}${paint.bar(1, 2, 4)}`).toMatch(/^[ -~]+$/)
  })
  test.each([
    [13, 20, '███████░░░░░'],
    [0, 20, '░░░░░░░░░░░░'],
    [20, 20, '████████████'],
    [19, 20, '███████████░'],
    [25, 20, '████████████'],
    [1, 0, '░░░░░░░░░░░░'],
  ])('%i of %i', (done, total, shown) => {
    expect(paintFor({ colour: false, unicode: true }).bar(done, total, 12)).toBe(shown)
  })
})
