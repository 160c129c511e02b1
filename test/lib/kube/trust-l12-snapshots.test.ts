import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { redacted } from '../../../src/lib/kube/saved/redact-snapshot.ts'
import { trimmed } from '../../../src/lib/kube/saved/recording-reader.ts'
import objects from './trust-l12-snapshots.json' with { type: 'json' }

const judged = objects.judged as unknown as KubeObject[]
const plain = JSON.stringify(judged.map((one) => trimmed(one)))
const index = { objects: 0 } as unknown as KubeObject
const anonymous = JSON.stringify(
  redacted(
    judged.map((one) => trimmed(one) as KubeObject),
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
  const [edit, people] = [objects.changes[0]?.roleRef, objects.changes[0]?.subjects]
  const saved = (objects.changes as unknown as KubeObject[]).flatMap((object) => trimmed(object) ?? [])
  const found = redacted(saved, { home: 'kubevirt', users: [], index }).objects

  test('names nobody', () => {
    const text = JSON.stringify(found)
    const names = ['jane', 'payroll', 'shop', 'cashiers', '10.9.8.0', '"name":"edit","namespace"']
    expect(names.filter((name) => text.includes(name))).toEqual([])
  })

  test('keeps what is judged', () => {
    const [binding, cluster, network, instance] = found
    expect(binding).toMatchObject({ metadata: { namespace: 'namespace-1' }, roleRef: edit })
    expect(cluster).toMatchObject({ subjects: [people?.[2]] })
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
