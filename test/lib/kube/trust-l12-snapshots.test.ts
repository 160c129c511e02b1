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

describe('trust L12: what is read for the changes of a release, redacted', () => {
  const rbac = 'rbac.authorization.k8s.io'
  const edit = { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' }
  const people = [
    { apiGroup: rbac, kind: 'User', name: 'jane' },
    { apiGroup: rbac, kind: 'Group', name: 'payroll-admins' },
    { kind: 'ServiceAccount', name: 'kubevirt-operator', namespace: 'kubevirt' },
  ]
  const objects: (KubeObject & Record<string, unknown>)[] = [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'edit', namespace: 'shop', annotations: { owner: 'jane' } },
      roleRef: edit,
      subjects: people,
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubevirt-operator' },
      roleRef: { ...edit, name: 'kubevirt-operator' },
      subjects: people,
    },
    {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: {
        name: 'cashiers',
        namespace: 'shop',
        annotations: { 'k8s.v1.cni.cncf.io/resourceName': 'intel.com/vf', owner: 'jane' },
      },
      spec: { config: '{"ipam":{"subnet":"10.9.8.0/24"}}' },
    },
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name: 'web', namespace: 'shop', annotations: { 'sidecar.istio.io/inject': 'true' } },
      spec: { networks: [{ name: 'a', multus: { networkName: 'shop/cashiers' } }] },
    },
  ]
  const saved = objects.flatMap((object) => trimmed(object) ?? [])
  const found = redacted(saved, { home: 'kubevirt', users: [], index }).objects

  test('names nobody', () => {
    const text = JSON.stringify(found)
    const names = ['jane', 'payroll', 'shop', 'cashiers', '10.9.8.0', '"name":"edit","namespace"']
    expect(names.filter((name) => text.includes(name))).toEqual([])
  })

  test('keeps what is judged', () => {
    const [binding, cluster, network, instance] = found
    expect(binding).toMatchObject({ metadata: { namespace: 'namespace-1' }, roleRef: edit })
    expect(cluster).toMatchObject({ subjects: [people[2]] })
    expect(network?.metadata.annotations).toEqual({ 'k8s.v1.cni.cncf.io/resourceName': 'intel.com/vf' })
    const { name, namespace } = network?.metadata ?? {}
    expect(instance).toMatchObject({
      spec: { networks: [{ multus: { networkName: `${namespace}/${name}` } }] },
    })
    expect(instance?.metadata.annotations).toEqual({ 'sidecar.istio.io/inject': 'true' })
  })
})

test('a list of all launchers by which budgets were judged is not told: the labels that they select by are gone', () => {
  const launchers = { apiVersion: 'v1', kind: 'Pod', labels: 'kubevirt.io=virt-launcher' }
  const read = [
    launchers,
    { ...launchers, namespace: 'shop' },
    { ...launchers, labels: 'kubevirt.io=virt-api' },
  ]
  const found = redacted([], { home: 'kubevirt', users: [], index: { ...index, read } }).index
  expect(found).toMatchObject({ read: read.slice(1) })
  expect((found as unknown as { read: unknown[] }).read).toHaveLength(2)
})
