import { expect, test } from 'vitest'
import type { KubeVirt } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { vmRolloutOf } from '../../../../src/lib/vms/rollout/rollout-strategy.ts'

const gate = 'VMLiveUpdateFeatures'

function kubevirt(version: string | undefined, said: string | undefined, gates: string[]): KubeVirt {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt' },
    spec: {
      configuration: {
        ...(said !== undefined && { vmRolloutStrategy: said }),
        developerConfiguration: { featureGates: gates },
      },
    },
    ...(version !== undefined && { status: { observedKubeVirtVersion: version } }),
  }
}

test.each<[string | undefined, string | undefined, string[], 'Stage' | 'LiveUpdate']>([
  ['v0.59.2', undefined, [gate], 'Stage'],
  ['v1.1.1', undefined, [gate], 'Stage'],
  ['v1.2.0', undefined, [gate], 'Stage'],
  ['v1.2.0', 'LiveUpdate', [], 'Stage'],
  ['v1.2.0', 'LiveUpdate', [gate], 'LiveUpdate'],
  ['v1.4.1', 'LiveUpdate', [], 'Stage'],
  ['v1.5.0', undefined, [], 'Stage'],
  ['v1.5.0', 'LiveUpdate', [], 'LiveUpdate'],
  ['v1.6.0', undefined, [], 'LiveUpdate'],
  ['v1.9.0', 'Stage', [gate], 'Stage'],
  ['v2.0.0', undefined, [], 'LiveUpdate'],
  [undefined, undefined, [], 'LiveUpdate'],
])('W10: %s, the CR says %s, gates %j: %s', (version, said, gates, inEffect) => {
  expect(vmRolloutOf(kubevirt(version, said, gates)).inEffect).toBe(inEffect)
})
