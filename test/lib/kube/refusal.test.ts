import { expect, test } from 'vitest'
import { readRefusal } from '../../../src/lib/kube/access-rights.ts'

test.each([
  [
    'Error creating: pods "virt-api-1-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=10, limited: pods=10',
    'the ResourceQuota small is used up (requested: pods=1, used: pods=10, limited: pods=10)',
    'kubectl -n kv describe resourcequota small',
  ],
  [
    'Error creating: Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://s.kv.svc:443/": EOF',
    'the webhook w does not answer, service s in namespace kv (EOF)',
    'kubectl -n kv get endpointslices -l kubernetes.io/service-name=s',
  ],
  [
    'Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://s;$(id).kv.svc:443/": EOF',
    'the webhook w does not answer, service s;$(id) in namespace kv (EOF)',
    "kubectl -n kv get endpointslices -l 'kubernetes.io/service-name=s;$(id)'",
  ],
])('%s', (text, message, commands) => {
  expect(readRefusal(text, 'kv')).toMatchObject({ message, commands: [commands] })
})

test('any other refusal is told in its own words', () => {
  expect(readRefusal('pods is forbidden: User "u" cannot create resource "pods"', 'kv')).toBeUndefined()
})
