import { expect, test } from 'vitest'
import { pullFailure } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'

test.each([
  ['failed to pull and unpack image "q/v:1": not found', 'not found'],
  ['rpc error: code = NotFound desc = manifest unknown', 'not found'],
  ['failed to authorize: 401 Unauthorized', 'not allowed to pull it'],
  ['429 Too Many Requests - toomanyrequests', 'the registry limits the rate'],
  [
    'tls: failed to verify certificate: x509: unknown authority',
    'the certificate of the registry is not trusted',
  ],
  ['dial tcp: lookup quay.example on 10.0.0.1:53: no such host', 'the name of the registry does not resolve'],
  ['dial tcp 10.0.0.1:443: i/o timeout', 'the registry cannot be reached'],
  ['write /var/lib: no space left on device', 'no space left on the node'],
  ['Back-off pulling image "q/v:1"', undefined],
])('%s', (text, expected) => {
  expect(pullFailure(text)).toBe(expected)
})
