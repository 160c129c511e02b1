import { expect, test } from 'vitest'
import { asPlanned, sealedRequest, type UpgradeOptions } from '../../src/lib/upgrade/plan/upgrade-options.ts'

const typed = {
  method: 'auto',
  stableFor: '30s',
  timeout: '60m',
  pauseUpdates: true,
  migrations: 'wait',
  migrationsTimeout: '30m',
  accept: [],
  pauseBefore: [],
} as const satisfies UpgradeOptions
const login = 'https://me:secret@mirror.example/kubevirt'
const base = 'https://mirror.example/kubevirt'
const sealed = (more: Partial<UpgradeOptions>, sum?: string) =>
  sealedRequest(
    { ...typed, to: 'v1.9.0', ...more },
    {
      method: 'operator-manifest',
      ...(sum !== undefined && { manifestSha256: sum }),
    },
  )
const carriedOut = (request: object, more: object = {}) =>
  asPlanned({ ...typed, accept: [], pauseBefore: [], ...more }, request as Record<string, unknown>, [])

test.each(['manifest', 'manifestBase'] as const)('a login is not kept in a plan: %s', (flag) => {
  const request = sealed({ [flag]: login })
  expect(request[flag]).toBe(base)
  expect(JSON.stringify(request)).not.toContain('secret')
  expect(carriedOut(request, { [flag]: login })[flag]).toBe(login)
  expect(carriedOut(request)[flag]).toBe(base)
})

test('another base is another plan', () => {
  const other = { manifestBase: 'https://evil.example/kubevirt' }
  expect(() => carriedOut(sealed({ manifestBase: login }), other)).toThrow(
    '--manifest-base contradicts the plan (',
  )
})

test('the manifest may lie elsewhere only where its checksum is sealed', () => {
  const elsewhere = { manifest: 'moved.yaml' }
  expect(carriedOut(sealed({ manifest: 'a.yaml' }, 'abc'), elsewhere).manifest).toBe('moved.yaml')
  expect(() => carriedOut(sealed({ manifest: 'a.yaml' }), elsewhere)).toThrow(
    '--manifest contradicts the plan (',
  )
  expect(() => carriedOut(sealed({}), elsewhere)).toThrow('--manifest contradicts the plan (')
})
