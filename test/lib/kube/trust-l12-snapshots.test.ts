import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { redacted } from '../../../src/lib/kube/saved/redact-snapshot.ts'
import { trimmed } from '../../../src/lib/kube/saved/recording-reader.ts'

const applied = 'kubectl.kubernetes.io/last-applied-configuration'
const env = [
  { name: 'DB_PASSWORD', value: 'sekret-1' },
  { name: 'HTTPS_PROXY', value: 'http://u:sekret-2@proxy.corp.test:3128' },
  { name: 'KUBEVIRT_VERSION', value: 'v1.8.4' },
  { name: 'SITE', value: 'basement of jane' },
]
const operator = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'virt-operator',
    namespace: 'kubevirt',
    annotations: { [applied]: JSON.stringify({ env: [{ name: 'DB_PASSWORD', value: 'sekret-3' }] }) },
  },
  spec: { template: { spec: { containers: [{ name: 'virt-operator', env }] } } },
  status: {
    conditions: [
      {
        type: 'A',
        message: 'cannot pull https://registry.corp.test/x from db.corp.test.example-corp.org at 10.1.2.3',
      },
    ],
  },
} as KubeObject
const vm = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'web', namespace: 'shop', annotations: { 'corp.test/owner': 'jane' } },
  spec: {
    template: {
      metadata: { annotations: { 'corp.test/owner': 'jane' }, labels: { 'kubevirt.io/vm': 'web' } },
      spec: { hostname: 'payroll', subdomain: 'finance', domain: {} },
    },
  },
} as KubeObject

const plain = JSON.stringify([operator, vm].map(trimmed))
const index = { objects: 0 } as unknown as KubeObject
const anonymous = JSON.stringify(
  redacted(
    [operator, vm].map((one) => trimmed(one) as KubeObject),
    { home: 'kubevirt', users: [], index },
  ),
)

describe('trust L12: a snapshot', () => {
  test.each(['sekret-1', 'sekret-2', 'sekret-3'])('has no %s, plain or redacted', (secret) => {
    expect(plain).not.toContain(secret)
    expect(anonymous).not.toContain(secret)
  })
  test('keeps what is judged', () => {
    for (const text of [plain, anonymous]) expect(text).toContain('v1.8.4')
    expect(plain).toContain('basement of jane')
    // How large it is, is judged.
    expect(anonymous).toMatch(/last-applied-configuration":"x{40,}"/u)
  })
  test.each([
    'basement',
    'jane',
    'payroll',
    'finance',
    'corp.org',
    'registry.corp',
    '10.1.2.3',
    'DB_PASSWORD\\"',
  ])('has no %s when it is redacted', (word) => expect(anonymous).not.toContain(word))
})
