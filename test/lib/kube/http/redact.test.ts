import { describe, expect, test } from 'vitest'
import { redactBody, redactHeaders, redactUrl, traceTo } from '../../../../src/lib/kube/http/trace.ts'
import fixture from './redact.json' with { type: 'json' }

const secret = 'c2VjcmV0LXZhbHVl'
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'
const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----'
const anywhere = '/api/v1/namespaces/x/configmaps/y'

describe('nothing secret is in', () => {
  test.each(fixture.bodies as unknown as [string, object, string][])('%s', (_, body, url) => {
    const shown = redactBody(JSON.stringify(body), url)
    expect(shown).not.toContain(secret)
    expect(shown).toContain('<redacted>')
  })

  test('a private key or a token in any text', () => {
    const shown = redactBody(JSON.stringify({ data: { a: key, b: `Bearer ${jwt}` } }), anywhere)
    expect(shown).not.toMatch(/MIIabc|eyJ/)
    expect(redactBody(`log line ${jwt}`, anywhere)).toBe('log line <redacted>')
  })

  test('the headers and the address', () => {
    const shown = redactHeaders({
      authorization: `Bearer ${jwt}`,
      accept: 'x',
      'impersonate-group': ['a', 'b'],
    })
    expect(Object.fromEntries(shown)).toEqual({
      authorization: '<redacted>',
      accept: 'x',
      'impersonate-group': 'a, b',
    })
    expect(redactUrl('https://me:pw@host/path')).toBe('https://<redacted>@host/path')
  })
})

test('what is no secret stays', () => {
  const body = { kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: '1' } }
  expect(JSON.parse(redactBody(JSON.stringify(body), anywhere))).toEqual(body)
  const shown = JSON.parse(redactBody(JSON.stringify({ kind: 'Secret', data: { a: secret } }), anywhere))
  expect(shown).toEqual({ kind: 'Secret', data: { a: '<redacted>' } })
})

describe('-v', () => {
  const url = 'https://s/api/v1/configmaps'
  const asTyped = (verbosity: number) => {
    const said: string[] = []
    const trace = traceTo((line) => said.push(line), verbosity)
    trace.asked({
      method: 'GET',
      url,
      headers: { authorization: 'Bearer abc', accept: 'json' },
      body: undefined,
    })
    trace.answered({ method: 'GET', url, status: 200, ms: 12 })
    trace.body(url, JSON.stringify({ data: 'x'.repeat(5000) }))
    return said
  }

  test('5 says nothing, 6 the call and its answer', () => {
    expect(asTyped(5)).toEqual([])
    expect(asTyped(6)).toEqual([`GET ${url} 200 in 12 ms`])
  })

  test('7 adds the headers, without the token', () => {
    expect(asTyped(7)).toEqual([
      `GET ${url}`,
      '    authorization: <redacted>',
      '    accept: json',
      `GET ${url} 200 in 12 ms`,
    ])
  })

  test('8 adds the body, cut at 1 KB; 9 all of it', () => {
    expect(asTyped(8).at(-1)?.length).toBeLessThan(1100)
    expect(asTyped(8).at(-1)).toMatch(/\[\d+ more\]$/)
    expect(asTyped(9).at(-1)?.length).toBeGreaterThan(5000)
  })

  test('bodies are kept only where they are shown', () => {
    expect([5, 6, 7, 8, 9].map((verbosity) => traceTo(() => undefined, verbosity).bodies)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })
})
