import { expect, test } from 'vitest'
import type { KubeVirt } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { vmRolloutOf } from '../../../../src/lib/vms/rollout/rollout-strategy.ts'
import fixture from './vm-rollout.json' with { type: 'json' }

function kubevirt(version: string | null, said: string | null, gates: string[]): KubeVirt {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt' },
    spec: {
      configuration: {
        ...(said !== null && { vmRolloutStrategy: said }),
        developerConfiguration: { featureGates: gates },
      },
    },
    ...(version !== null && { status: { observedKubeVirtVersion: version } }),
  }
}

test.each<[string | null, string | null, string[], 'Stage' | 'LiveUpdate']>(fixture.rollouts as never)(
  'W10: %s, the CR says %s, gates %j: %s',
  (version, said, gates, inEffect) => {
    expect(vmRolloutOf(kubevirt(version, said, gates)).inEffect).toBe(inEffect)
  },
)
