import { describe, expect, test } from 'vitest'
import { getInstallation, notOne, theInstallation } from '../../../src/lib/kubevirt/installation.ts'
import { settled } from './settled.ts'

describe('one', () => {
  test('plain manifests, locked to the operator', () => {
    expect(getInstallation(settled().snapshot)).toMatchObject({
      is: 'one',
      name: 'kubevirt',
      namespace: 'kubevirt',
      apiVersion: 'kubevirt.io/v1',
      manager: { kind: 'plain' },
      operator: { version: 'v1.8.4', registry: 'quay.io/kubevirt', pinned: [] },
      workloadUpdateMethods: [],
    })
  })

  test('an empty imageTag is none (facts 2.1)', () => {
    const { snapshot, kubevirt } = settled()
    kubevirt.spec = { ...kubevirt.spec, imageTag: '', imageRegistry: 'mirror.local/kubevirt' }
    const found = getInstallation(snapshot)
    expect(found).toMatchObject({ imageRegistry: 'mirror.local/kubevirt' })
    expect(found).not.toHaveProperty('imageTag')
  })

  test('images fixed by the environment are found, its own is not one (facts 2.1)', () => {
    const { snapshot, operator } = settled()
    const [container] = operator.spec?.template?.spec?.containers ?? []
    container?.env?.push({ name: 'VIRT_LAUNCHER_IMAGE', value: 'r/virt-launcher@sha256:1' })
    container?.env?.push(
      { name: 'VIRT_API_SHASUM', value: 'sha256:2' },
      { name: 'PR_HELPER_IMAGE', value: 'r/pr' },
    )
    container?.env?.push({ name: 'VIRT_HANDLER_IMAGE' })
    const found = theInstallation(snapshot)
    expect(found.operator?.pinned.map((image) => image.env)).toEqual([
      'VIRT_LAUNCHER_IMAGE',
      'VIRT_API_SHASUM',
      'PR_HELPER_IMAGE',
    ])
  })

  test('a digest says no version, KUBEVIRT_VERSION does', () => {
    const { snapshot, operator } = settled()
    const env = operator.spec?.template?.spec?.containers?.[0]?.env ?? []
    Object.assign(env[0] ?? {}, { value: 'quay.io:5000/kubevirt/virt-operator@sha256:1' })
    expect(theInstallation(snapshot).operator).toMatchObject({
      version: 'v1.8.4',
      registry: 'quay.io:5000/kubevirt',
    })
    for (const entry of env) if (entry.name === 'KUBEVIRT_VERSION') entry.value = ''
    expect(theInstallation(snapshot).operator).not.toHaveProperty('version')
  })

  test('who owns the operator owns the installation', () => {
    const { snapshot, operator } = settled()
    operator.metadata.labels = { ...operator.metadata.labels, 'olm.owner': 'csv.v1' }
    expect(getInstallation(snapshot)).toMatchObject({ manager: { kind: 'olm', name: 'csv.v1' } })
  })
})

test('night U7: an operator without a KubeVirt is a state of its own', () => {
  const { snapshot } = settled()
  snapshot.kubevirts = { known: true, items: [] }
  const found = getInstallation(snapshot)
  expect(found).toMatchObject({ is: 'none', operator: { version: 'v1.8.4' } })
  if (found.is === 'one') throw new Error('one')
  expect(notOne(found)).toMatchObject({
    exitCode: 3,
    reason: 'no-kubevirt-cr',
    message: expect.stringContaining('create one to install KubeVirt'),
  })
})

test('none, several and unreadable end with their codes', () => {
  const { snapshot, kubevirt } = settled()
  const other = structuredClone(kubevirt)
  other.metadata.namespace = 'second'
  snapshot.kubevirts = { known: true, items: [kubevirt, other] }
  expect(() => theInstallation(snapshot)).toThrow(/2 KubeVirts \(kubevirt\/kubevirt, second\/kubevirt\)/)
  snapshot.kubevirts = { known: true, items: [] }
  snapshot.operators = { known: true, items: [] }
  expect(() => theInstallation(snapshot)).toThrow('KubeVirt is not installed here')
  snapshot.kubevirts = { known: false, why: 'kubevirts.kubevirt.io is forbidden' }
  expect(() => theInstallation(snapshot)).toThrow(expect.objectContaining({ exitCode: 7 }))
})
