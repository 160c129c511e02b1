import { describe, expect, test } from 'vitest'
import {
  type ColourWish,
  isColoured,
  isLive,
  isUnicode,
  paintFor,
  sanitise,
} from '../../../src/lib/output/terminal.ts'

type Env = Record<string, string>
const cases: [string, boolean, ColourWish, Env, boolean][] = [
  ['a terminal', true, 'auto', {}, true],
  ['a pipe', false, 'auto', {}, false],
  ['NO_COLOR', true, 'auto', { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', true, 'auto', { NO_COLOR: '' }, true],
  ['KVUP_NO_COLOR', true, 'auto', { KVUP_NO_COLOR: '1' }, false],
  ['NO_COLOR and FORCE_COLOR', true, 'auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['FORCE_COLOR on a pipe', false, 'auto', { FORCE_COLOR: '1' }, true],
  ['FORCE_COLOR=0', true, 'auto', { FORCE_COLOR: '0' }, false],
  ['TERM=dumb', true, 'auto', { TERM: 'dumb' }, false],
  ['--color=always on a pipe, with NO_COLOR', false, 'always', { NO_COLOR: '1' }, true],
  ['--color=never', true, 'never', { FORCE_COLOR: '1' }, false],
]
test.each(cases)('%s: colour', (...[, isTTY, wish, env, expected]) => {
  expect(isColoured({ isTTY }, wish, env)).toBe(expected)
})

test.each<[Env, boolean]>([
  [{ LANG: 'en_US.UTF-8' }, true],
  [{ LANG: 'C' }, false],
  [{ LC_ALL: 'C', LANG: 'en_US.UTF-8' }, false],
  [{ LC_ALL: '', LC_CTYPE: 'C.utf8', LANG: 'C' }, true],
  [{}, false],
  [{ WT_SESSION: 'x' }, true],
])('%o may leave ASCII: %s', (env, expected) => {
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
