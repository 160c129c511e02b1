import { describe, expect, test } from 'vitest'
import { apiError } from '../../../../src/lib/kube/http/api-error.ts'
import {
  type Failure,
  failureOfSilence,
  retryDelay,
  shortened,
} from '../../../../src/lib/kube/http/failure.ts'
import { lines } from '../../../../src/lib/kube/http/watch.ts'
import { objectPath, selectors, withQuery } from '../../../../src/lib/kube/http/lists.ts'
import { requestTimeout } from '../../../../src/lib/kube/http/http-cluster.ts'
import { once, warningTexts } from '../../../../src/lib/kube/http/requests.ts'
import { ConfigMaps, Namespaces } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { KvupError } from '../../../../src/lib/kube/errors.ts'

describe('the path of an object', () => {
  test('by group, namespace, name and subresource', () => {
    expect(objectPath(ConfigMaps, { namespace: 'a', name: 'b' })).toBe('/api/v1/namespaces/a/configmaps/b')
    expect(objectPath(KubeVirts, { name: '' })).toBe('/apis/kubevirt.io/v1/kubevirts')
    expect(objectPath(Namespaces, { namespace: 'ignored', name: 'b' })).toBe('/api/v1/namespaces/b')
    expect(objectPath(KubeVirts, { namespace: 'a', name: 'b' }, 'evacuate/cancel')).toBe(
      '/apis/kubevirt.io/v1/namespaces/a/kubevirts/b/evacuate/cancel',
    )
  })

  test('a name cannot leave its place', () => {
    expect(objectPath(ConfigMaps, { namespace: 'a', name: '../../secrets/x?y' })).toBe(
      '/api/v1/namespaces/a/configmaps/..%2F..%2Fsecrets%2Fx%3Fy',
    )
  })

  test('an object in a namespace cannot be meant without one', () => {
    expect(() => objectPath(ConfigMaps, { name: 'x' })).toThrow('which namespace?')
    expect(objectPath(ConfigMaps, {})).toBe('/api/v1/configmaps')
  })

  test('a name is a field selector, beside others', () => {
    expect(selectors({ name: 'x', fields: 'status.phase=Running' })).toEqual({
      labelSelector: undefined,
      fieldSelector: 'metadata.name=x,status.phase=Running',
    })
    expect(withQuery('/p', { a: '1', b: undefined, c: 'x in (y)' })).toBe('/p?a=1&c=x+in+%28y%29')
  })
})

describe('Retry-After', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  test.each([
    ['3', 3000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (header, ms) => {
    expect(retryDelay(header, now)).toBe(ms)
  })
})

describe('--request-timeout', () => {
  test.each([
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['0', undefined],
    [undefined, 65_000],
  ])('%s', (text, ms) => {
    expect(requestTimeout(text)).toBe(ms)
  })

  test.each(['soon', '15', '5x', '-1s', '1s x'])('"%s" is refused', (text) => {
    expect(() => requestTimeout(text)).toThrow(/is not a duration/)
  })
})

describe('Warning headers', () => {
  test('one, several, and quotes inside', () => {
    expect(warningTexts('299 - "v1beta1 is deprecated"')).toEqual(['v1beta1 is deprecated'])
    expect(warningTexts('299 - "one, two", 299 - "say \\"x\\""')).toEqual(['one, two', 'say "x"'])
    expect(warningTexts(undefined)).toEqual([])
  })

  test('each text is told once', () => {
    const told: string[] = []
    const tell = once((text) => told.push(text))
    for (const text of ['a', 'b', 'a']) tell(text)
    expect(told).toEqual(['a', 'b'])
  })
})

test('lines are whole however the bytes were cut, even inside a letter', async () => {
  const bytes = Buffer.from('{"a":"ü"}\n\n{"b":2}\n{"c"')
  const pieces = (size: number) =>
    (async function* () {
      for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
    })()
  for (const size of [1, 2, 3, 7, 100]) {
    const observed: string[] = []
    for await (const line of lines(pieces(size))) observed.push(line)
    expect(observed).toEqual(['{"a":"ü"}', '{"b":2}', '{"c"'])
  }
})

test('a long message loses its middle, not its ends', () => {
  const text = `begin${'x'.repeat(5000)}end`
  const short = shortened(text)
  expect(short.length).toBeLessThanOrEqual(1000)
  expect(short).toMatch(/^beginx+ \[…\] x+end$/)
  expect(shortened('short')).toBe('short')
})

const coded = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more })

describe('no answer', () => {
  test.each([
    [coded('ECONNREFUSED'), 'refused'],
    [coded('ETIMEDOUT', { syscall: 'connect' }), 'refused'],
    [coded('ETIMEDOUT', { syscall: 'read' }), 'cut'],
    [coded('ECONNRESET'), 'cut'],
    [coded('UND_ERR_SOCKET'), 'cut'],
    [coded('ENOTFOUND'), 'unknown-host'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate'],
    [new AggregateError([coded('ECONNREFUSED')]), 'refused'],
    [new Error('outer', { cause: coded('ECONNRESET') }), 'cut'],
    [new DOMException('too late', 'TimeoutError'), 'timeout'],
    [new Error('who knows'), 'other'],
  ])('%s is %s', (error, cause) => {
    expect(failureOfSilence(error, 1000).cause).toBe(cause)
  })
})

describe('an error in words', () => {
  const to = { server: 'https://s:6443', file: '/k/config', context: 'prod', user: 'jane', proxy: undefined }
  const subject = {
    verb: 'patch',
    resource: 'kubevirts.kubevirt.io',
    namespace: 'kubevirt',
    name: 'kubevirt',
  }
  const of = (part: Partial<Failure>, about = subject) =>
    apiError({ status: 0, statusReason: '', message: 'why', namesObject: false, ...part }, about, to)

  test('403: verb, resource, namespace, as whom, and the Role that helps', () => {
    const message =
      'kubevirts.kubevirt.io "kubevirt" is forbidden: User "eve" cannot patch resource "kubevirts" in API group "kubevirt.io" in the namespace "kubevirt"'
    const error = of({ status: 403, statusReason: 'Forbidden', message })
    expect(error.message).toBe('eve may not patch kubevirts.kubevirt.io/kubevirt in namespace kubevirt')
    const bound = '     then bind it to this user'
    expect(error.remedy).toEqual([`kvup rbac kvup-upgrade | kubectl --context prod apply -f -${bound}`])
    expect(error).toMatchObject({ exitCode: 7, reason: 'forbidden' })
    const reading = { ...subject, verb: 'list', resource: 'virtualmachineinstances.kubevirt.io' }
    expect(of({ status: 403, statusReason: 'Forbidden', message }, reading).remedy).toEqual([
      `kvup rbac kvup-view | kubectl --context prod apply -f -${bound}`,
    ])
  })

  test('403 of a HyperConverged: the Role that has it', () => {
    const about = { verb: 'get', resource: 'hyperconvergeds.hco.kubevirt.io', namespace: 'virt', name: 'hco' }
    const message = 'forbidden: User "eve" cannot get resource "hyperconvergeds"'
    const error = of({ status: 403, statusReason: 'Forbidden', message }, about)
    expect(error.remedy).toEqual([
      'kvup rbac kvup-settings | kubectl --context prod apply -f -     then bind it to this user',
    ])
  })

  test('403 from a webhook is no question of Roles', () => {
    const error = of({ status: 403, message: 'admission webhook "x" denied the request: no' })
    expect(error.message).toContain('denied the request: no')
    expect(error.remedy).toEqual([])
  })

  test('401 says whose credentials, and how to check', () => {
    const error = of({ status: 401, message: 'Unauthorized' })
    expect(error.message).toContain('the credentials of jane')
    expect(error.remedy.join()).toContain('auth whoami')
    expect(error.exitCode).toBe(7)
  })

  test('a write that was cut says that its outcome is unknown, a read does not', () => {
    expect(of({ cause: 'cut' }).message).toContain('the outcome is unknown')
    expect(of({ cause: 'cut' }).statusReason).toBe('OutcomeUnknown')
    expect(of({ cause: 'cut' }, { ...subject, verb: 'get' }).message).not.toContain('unknown')
    expect(of({ cause: 'refused' }).message).not.toContain('unknown')
    expect(of({ status: 504 }).message).toContain('the outcome is unknown')
  })

  test('no server: exit 8, its address and how to check', () => {
    const error = of({ cause: 'refused', message: 'connect ECONNREFUSED' })
    expect(error).toMatchObject({ exitCode: 8, reason: 'unreachable', status: 0 })
    expect(error.message).toContain('https://s:6443')
    expect(error.remedy[0]).toBe('kubectl --context prod get --raw /readyz')
    expect(error).toBeInstanceOf(KvupError)
  })
})
