import { expect, test } from 'vitest'
import { brokenRule, parseStopRule } from '../../../src/lib/availability/stop-rules.ts'
import { measureRequest } from '../../../src/lib/availability/measure-request.ts'
import { KvupError } from '../../../src/lib/kube/errors.ts'

const failure = (work: () => unknown): KvupError => {
  try {
    work()
  } catch (error) {
    if (error instanceof KvupError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test.each([
  ['api.unavailable>30s', { is: 'unavailable', probe: 'api', moreThanMs: 30_000 }],
  [' create.unavailable > 1m30s ', { is: 'unavailable', probe: 'create', moreThanMs: 90_000 }],
  ['tcp.unavailable>0s', { is: 'unavailable', probe: 'tcp', moreThanMs: 0 }],
  ['vms.interrupted>0', { is: 'interrupted', moreThan: 0 }],
] as const)('%s', (typed, rule) => {
  expect(parseStopRule(typed)).toMatchObject(rule)
})

test.each([
  ['', 'is no rule'],
  ['api', 'is no rule'],
  ['api.unavailable>30', 'it needs a unit'],
  ['api.unavailable<30s', 'is no rule'],
  ['api.unavailable>30s; rm', 'is no rule'],
  ['apis.unavailable>30s', 'did you mean api.unavailable?'],
  ['vms.unavailable>30s', 'is no rule'],
  ['vms.interrupted>many', 'many is not a number of VMs'],
  ['vms.interrupted>-1', '-1 is not a number of VMs'],
])('%j is refused with the list, exit 2', (typed, why) => {
  const { exitCode, message, remedy } = failure(() => parseStopRule(typed))
  expect(exitCode).toBe(2)
  expect([message, ...remedy].join('\n')).toContain(why)
  expect(remedy).toContain('the rules are: PROBE.unavailable>DURATION, vms.interrupted>NUMBER')
  expect(remedy).toContain('the probes are: api, create, list, get, subresource, discovery, tcp')
})

test('a rule is broken once its figure is over it, and not before', () => {
  const rules = ['create.unavailable>10s', 'vms.interrupted>1'].map(parseStopRule)
  const said = (createMs: number, interruptedVms: number) =>
    brokenRule(rules, { unavailableMs: (probe) => (probe === 'create' ? createMs : 1e6), interruptedVms })
  expect(said(10_000, 1)).toBeUndefined()
  expect(said(10_001, 1)).toBe('create was unavailable for 10 s (--stop-if create.unavailable>10s)')
  expect(said(0, 2)).toBe('2 VMs were interrupted (--stop-if vms.interrupted>1)')
})

test.each([
  [{ stopIf: ['api.unavailable>30s'] }, '--stop-if'],
  [{ tcp: ['a:1'], measureNamespace: 'x' }, '--measure-namespace, --tcp'],
])('%j says something of a measurement that nobody asked for', (options, flags) => {
  const { exitCode, message } = failure(() => measureRequest(options))
  expect({ exitCode, message }).toEqual({
    exitCode: 2,
    message: `${flags} needs --measure: nothing is measured without it`,
  })
})

test.each(['www.example.com', 'a:0', 'a:70000', '-a:1', 'a b:1', 'ns/a/b:1', 'http://a:1', '[::1]:1'])(
  '--tcp %s is no address',
  (tcp) => {
    expect(failure(() => measureRequest({ measure: true, tcp: [tcp] })).exitCode).toBe(2)
  },
)

test('--tcp takes a DNS name, or a Service with its namespace', () => {
  expect(measureRequest({ measure: true, tcp: ['www.example.com:443', 'shop/web:80'] })?.tcp).toEqual([
    { text: 'www.example.com:443', host: 'www.example.com', port: 443 },
    { text: 'shop/web:80', host: 'web', port: 80, namespace: 'shop' },
  ])
})
