import { describe, expect, test } from 'vitest'
import {
  backoff,
  carefulWrites,
  overloadOnly,
  type Patience,
  patientReads,
} from '../../../../src/lib/kube/http/backoff.ts'
import type { Failure } from '../../../../src/lib/kube/http/failure.ts'

const failure = (part: Partial<Failure>): Failure => ({
  status: 0,
  statusReason: '',
  message: '',
  namesObject: false,
  ...part,
})
const ask = (patience: Patience, part: Partial<Failure>, attempt = 0, met = true) =>
  patience(failure(part), { attempt, random: () => 0.5, met })

describe('backoff', () => {
  test('doubles, jittered by a quarter either way, about ten seconds in all', () => {
    expect([0, 1, 2, 3].map((attempt) => backoff(attempt, () => 0.5))).toEqual([600, 1200, 2400, 4800])
    expect([backoff(0, () => 0), backoff(0, () => 0.999999)]).toEqual([450, 750])
  })

  test('never grows beyond its cap', () => {
    expect(backoff(50, () => 0.5, 10_000)).toBe(10_000)
  })
})

describe('reads', () => {
  test.each([429, 500, 502, 503, 504])('are repeated after %i', (status) => {
    expect(ask(patientReads, { status })).toBeGreaterThan(0)
  })

  test.each([400, 401, 403, 404, 409, 410, 422, 501])('are not repeated after %i', (status) => {
    expect(ask(patientReads, { status })).toBeUndefined()
  })

  test.each(['refused', 'cut', 'unknown-host'] as const)(
    'are repeated when the connection was %s',
    (cause) => {
      expect(ask(patientReads, { cause })).toBeGreaterThan(0)
    },
  )

  test.each(['timeout', 'certificate', 'other'] as const)('are not repeated after %s', (cause) => {
    expect(ask(patientReads, { cause })).toBeUndefined()
  })

  test('wait as long as the server asks, within half a minute', () => {
    expect(ask(patientReads, { status: 429, retryAfter: 7000 })).toBe(7000)
    expect(ask(patientReads, { status: 503, retryAfter: 3_600_000 })).toBe(30_000)
  })

  test('end after the fifth try', () => {
    expect(ask(patientReads, { status: 500 }, 3)).toBeGreaterThan(0)
    expect(ask(patientReads, { status: 500 }, 4)).toBeUndefined()
  })

  test('give up sooner on a server that never answered', () => {
    expect(ask(patientReads, { cause: 'refused' }, 0, false)).toBeGreaterThan(0)
    expect(ask(patientReads, { cause: 'refused' }, 1, false)).toBeUndefined()
  })
})

describe('writes', () => {
  test('are repeated where the server surely did not act', () => {
    expect(ask(carefulWrites, { cause: 'refused' })).toBeGreaterThan(0)
    expect(ask(carefulWrites, { status: 429, retryAfter: 1000 })).toBe(1000)
    expect(ask(carefulWrites, { status: 503, retryAfter: 1000 })).toBe(1000)
  })

  test('and nowhere else', () => {
    expect(ask(carefulWrites, { cause: 'cut' })).toBeUndefined()
    expect(ask(carefulWrites, { cause: 'timeout' })).toBeUndefined()
    for (const status of [429, 500, 502, 503, 504]) expect(ask(carefulWrites, { status })).toBeUndefined()
    expect(ask(carefulWrites, { status: 500, retryAfter: 1000 })).toBeUndefined()
  })
})

test('following waits for an overloaded server only', () => {
  expect(ask(overloadOnly, { status: 429 })).toBeGreaterThan(0)
  expect(ask(overloadOnly, { status: 500 })).toBeUndefined()
  expect(ask(overloadOnly, { cause: 'refused' })).toBeUndefined()
})
