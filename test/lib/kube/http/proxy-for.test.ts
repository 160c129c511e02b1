import { expect, test } from 'vitest'
import { proxyFor } from '../../../../src/lib/kube/http/kubeconfig.ts'

const proxy = { HTTPS_PROXY: 'http://proxy:3128' }

test.each([
  ['https://api.example.com:6443', proxy, 'http://proxy:3128'],
  ['https://api.example.com', { https_proxy: 'proxy:3128' }, 'http://proxy:3128'],
  ['http://api.example.com', proxy, undefined],
  ['http://api.example.com', { HTTP_PROXY: 'http://plain:1' }, 'http://plain:1'],
  ['https://api.example.com', {}, undefined],
  ['https://127.0.0.1:6443', proxy, undefined],
  ['https://localhost:6443', proxy, undefined],
  ['https://[::1]:6443', proxy, undefined],
])('%s with %o goes through %s', (server, env, expected) => {
  expect(proxyFor(new URL(server), env)).toBe(expected)
})

test.each([
  ['api.example.com', true],
  ['example.com', true],
  ['.example.com', true],
  ['*.example.com', true],
  ['ample.com', false],
  ['other.com, example.com', true],
  ['*', true],
  ['api.example.com:6443', true],
  ['api.example.com:443', false],
  ['', false],
])('NO_PROXY=%s exempts api.example.com:6443: %s', (noProxy, exempt) => {
  const through = proxyFor(new URL('https://api.example.com:6443'), { ...proxy, NO_PROXY: noProxy })
  expect(through === undefined).toBe(exempt)
})

test.each([
  ['10.0.0.0/8', true],
  ['10.1.2.0/24', true],
  ['10.1.3.0/24', false],
  ['10.1.2.3', true],
  ['0.0.0.0/0', true],
])('NO_PROXY=%s exempts 10.1.2.3: %s', (noProxy, exempt) => {
  const through = proxyFor(new URL('https://10.1.2.3:6443'), { ...proxy, no_proxy: noProxy })
  expect(through === undefined).toBe(exempt)
})
