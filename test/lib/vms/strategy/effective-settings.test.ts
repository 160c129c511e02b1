import { describe, expect, test } from 'vitest'
import { HyperConvergeds } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { effectiveSettings } from '../../../../src/lib/vms/strategy/workload-settings.ts'
import { onKubeVirt, type SettingsOwner } from '../../../../src/lib/vms/strategy/settings-owner.ts'

const ref = { name: 'kubevirt', namespace: 'kubevirt' }
const plain = onKubeVirt({ kind: KubeVirts, ref, uid: '1' })
const managed: SettingsOwner = {
  ...plain,
  kind: HyperConvergeds,
  strategy: ['spec', 'workloadUpdateStrategy'],
  migrations: ['spec', 'liveMigrationConfig'],
}

const kubevirt = (spec: KubeVirt['spec'], version = 'v1.8.4'): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: ref,
  spec: spec ?? {},
  status: { observedKubeVirtVersion: version },
})

function effective(name: string, cr: KubeVirt, said?: object) {
  const hyperconverged = {
    apiVersion: HyperConvergeds.apiVersion,
    kind: 'HyperConverged',
    metadata: ref,
    spec: said,
  }
  const items = said ? effectiveSettings(managed, hyperconverged, cr) : effectiveSettings(plain, cr, cr)
  return items.find((item) => item.name === name)
}

describe('KubeVirt', () => {
  test('what the CR says, and what KubeVirt does where it says nothing', () => {
    const cr = kubevirt({
      workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'], batchEvictionSize: 3 },
      configuration: { migrations: { bandwidthPerMigration: '64Mi' } },
    })
    expect(effective('workloadUpdateMethods', cr)).toEqual({
      name: 'workloadUpdateMethods',
      value: ['Evict'],
      origin: 'KubeVirt',
      path: 'spec.workloadUpdateStrategy.workloadUpdateMethods',
    })
    expect(effective('batchEvictionSize', cr)).toMatchObject({ value: 3, origin: 'KubeVirt' })
    expect(effective('batchEvictionInterval', cr)).toMatchObject({ value: '1m0s', origin: 'default' })
    expect(effective('bandwidthPerMigration', cr)).toMatchObject({
      value: '64Mi',
      path: 'spec.configuration.migrations.bandwidthPerMigration',
    })
    expect(effective('parallelMigrationsPerCluster', cr)).toMatchObject({ value: 5, origin: 'default' })
    expect(effective('unschedulablePodTimeout', cr)).toMatchObject({ value: 300, origin: 'default' })
    expect(effective('pendingPodTimeout', cr)).toMatchObject({ value: 900, origin: 'default' })
  })

  test('null is as good as absent, and [] is said', () => {
    const cr = kubevirt({ workloadUpdateStrategy: { workloadUpdateMethods: null } })
    expect(effective('workloadUpdateMethods', cr)).toMatchObject({ value: [], origin: 'default' })
    const empty = kubevirt({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
    expect(effective('workloadUpdateMethods', empty)).toMatchObject({ value: [], origin: 'KubeVirt' })
  })

  test.each([
    ['v1.3.1', 800],
    ['v0.59.0', 800],
    ['v1.4.0', 150],
    ['devel', 150],
  ])('the default of its version: %s', (version, value) => {
    expect(effective('completionTimeoutPerGiB', kubevirt({}, version))).toMatchObject({
      value,
      origin: 'default',
    })
  })
})

describe('HyperConverged', () => {
  test('what it passed on is from it, however it is written there', () => {
    const cr = kubevirt({ workloadUpdateStrategy: { batchEvictionInterval: '1m0s' } })
    expect(
      effective('batchEvictionInterval', cr, { workloadUpdateStrategy: { batchEvictionInterval: '60s' } }),
    ).toEqual({
      name: 'batchEvictionInterval',
      value: '1m0s',
      origin: 'HyperConverged',
      path: 'spec.workloadUpdateStrategy.batchEvictionInterval',
    })
  })

  test('[] is passed on as none, and is from it', () => {
    const said = { workloadUpdateStrategy: { workloadUpdateMethods: [] } }
    expect(effective('workloadUpdateMethods', kubevirt({}), said)).toMatchObject({
      value: [],
      origin: 'HyperConverged',
    })
  })

  test('what KubeVirt has otherwise is said to be so', () => {
    const cr = kubevirt({ configuration: { migrations: { parallelMigrationsPerCluster: 9 } } })
    expect(
      effective('parallelMigrationsPerCluster', cr, {
        liveMigrationConfig: { parallelMigrationsPerCluster: 5 },
      }),
    ).toMatchObject({ value: 9, origin: 'KubeVirt', note: expect.stringContaining('HyperConverged has 5') })
  })

  test('what neither says is the default', () => {
    expect(effective('network', kubevirt({}), {})).toMatchObject({ value: null, origin: 'default' })
  })
})
