import { afterEach, expect, test } from 'vitest'
import { KvupError } from '../../../src/lib/kube/errors.ts'
import { ensureDeadline, parseDeadline } from '../../../src/lib/kube/duration.ts'
import fixture from './deadline.json' with { type: 'json' }

const now = new Date('2026-11-22T13:30:00Z')

/** The tests' time zone is UTC. */
test.each(fixture.times)('%s is %s', (text, time) => {
  expect(parseDeadline(text, now).toISOString()).toBe(time)
})

test('one that is over is refused by the time that is passed in, and by no other', () => {
  const over = '2026-11-22T13:30:00Z'
  expect(() => parseDeadline(over, now)).toThrow('--deadline 2026-11-22T13:30:00Z has passed already')
  expect(() => ensureDeadline(over)).not.toThrow()
})

test.each(['25:00', '14', 'tomorrow', '2026-11-22', '2026-13-22T00:00:00Z', ''])(
  '%j is no deadline at any time',
  (text) => {
    expect(() => ensureDeadline(text)).toThrow(/--deadline takes 04:30 or a time/u)
    expect(() => parseDeadline(text, now)).toThrow(/--deadline takes 04:30 or a time/u)
  },
)

test.each(['2026-11-22T04:30:00', '2026-11-22T04:30'])('%s is ambiguous: in which time zone?', (text) => {
  expect(() => ensureDeadline(text)).toThrow(/names no time zone/u)
})

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const refusalIn = (text: string, at: string): unknown => {
  process.env['TZ'] = 'Europe/Prague'
  try {
    return parseDeadline(text, new Date(at))
  } catch (error) {
    return error instanceof KvupError ? { message: error.message, remedy: error.remedy } : error
  }
}

test('a time of day that comes twice: both are named', () => {
  expect(refusalIn('02:30', '2026-10-24T20:00:00Z')).toEqual({
    message: expect.stringMatching(/^--deadline 02:30 comes twice/u) as string,
    remedy: ['--deadline 2026-10-25T00:30:00Z', '--deadline 2026-10-25T01:30:00Z'],
  })
})

test('one that does not come: the one that the clocks show instead is named', () => {
  expect(refusalIn('02:30', '2026-03-28T20:00:00Z')).toEqual({
    message: expect.stringMatching(/^--deadline 02:30 does not come/u) as string,
    remedy: ['--deadline 2026-03-29T01:30:00Z'],
  })
})

test('and the day after it is a time as any other', () => {
  expect(refusalIn('02:30', '2026-03-29T08:00:00Z')).toEqual(new Date('2026-03-30T00:30:00Z'))
})
