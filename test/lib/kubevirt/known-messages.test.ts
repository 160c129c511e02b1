import { expect, test } from 'vitest'
import { harmlessOf, isHarmless, knownFault } from '../../../src/lib/kubevirt/diagnosis/known-messages.ts'
import { complaint, lastLine } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import fixture from './known-messages.json' with { type: 'json' }

const certificate =
  '{"component":"virt-handler","level":"error","msg":"failed to load the certificate /etc/virt-handler/clientcertificates/tls.crt and /etc/virt-handler/clientcertificates/tls.key","pos":"cert-manager.go:189","reason":"open /etc/virt-handler/clientcertificates/tls.crt: no such file or directory"}'
const panic = fixture.panic.join('\n')

test('a line that is logged by design is no complaint, and not the last word of a log', () => {
  expect(isHarmless(certificate)).toBe(true)
  expect(complaint(`${certificate}\n`)).toBeUndefined()
  expect(lastLine(`I0101 10:00:00.000000  1 main.go:1] starting\n${certificate}\n`)).toBe('starting')
  expect(lastLine('{"level":"error","msg":"no kvm"}')).toBe('no kvm')
})

test.each([
  ['v1.6.6', 0],
  ['v1.7.0', 1],
  ['v1.9.0', 1],
  ['devel', 0],
  [undefined, 0],
])('what %s logs without harm: %d', (version, count) => {
  expect(harmlessOf(version)).toHaveLength(count)
})

const handler = { component: 'virt-handler', container: 'virt-handler' }
const init = { component: 'virt-handler', container: 'virt-launcher' }

test('a log that tells of a known fault names the release that mends it, of whatever release it is', () => {
  expect(knownFault(panic, { ...handler, version: 'v1.5.0' })).toMatchObject({
    sentence: expect.stringMatching(/^virt-handler v1\.4\.0 and v1\.5\.0 panic in cellToCell/u),
    remedy: ['kvup upgrade --to v1.5.1'],
  })
  expect(knownFault(panic, { ...handler, version: 'v1.4.0' })?.remedy).toEqual(['kvup upgrade --to v1.4.1'])
  expect(
    knownFault('error: Unable to query peer security context: Invalid argument', init)?.sentence,
  ).toMatch(/without SELinux .*in every release/u)
})

test.each<[string, Parameters<typeof knownFault>[1], boolean]>(fixture.suspected as never)(
  'without a log only what its release has is suspected: %s',
  (_, origin, suspected) => {
    const found = knownFault(undefined, origin)
    expect(found?.sentence.startsWith('its log was not read, but this may be the cause: ') ?? false).toBe(
      suspected,
    )
  },
)

test('a log that says something else is of no known fault', () => {
  expect(knownFault('no kvm', { ...handler, version: 'v1.5.0' })).toBeUndefined()
})
