import type { HyperConverged } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { conditions, type Said } from '../platform/cluster-version.ts'

interface Shape {
  generation?: number
  /** observedGeneration of single conditions, 7 of all others; `nowhere`: of none, nor of the status. */
  observed?: Readonly<Record<string, number>> | 'nowhere'
}

/** 4.18.9 at rest; `said` replaces conditions of the same type. */
export function hyperConverged(
  said: readonly Said[] = [],
  { generation = 7, observed = {} }: Shape = {},
): HyperConverged {
  const rest: Said[] = [
    ['ReconcileComplete', 'True', 'ReconcileCompleted'],
    ['Available', 'True', 'ReconcileCompleted'],
    ['Progressing', 'False', 'ReconcileCompleted'],
    ['Degraded', 'False', 'ReconcileCompleted'],
    ['Upgradeable', 'True', 'ReconcileCompleted'],
  ]
  const types = new Set(said.map(([type]) => type))
  const all = conditions([...rest.filter(([type]) => !types.has(type)), ...said])
  return {
    apiVersion: 'hco.kubevirt.io/v1beta1',
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv', generation },
    spec: {},
    status: {
      conditions:
        observed === 'nowhere'
          ? all
          : all.map((one) => Object.assign(one, { observedGeneration: observed[one.type] ?? 7 })),
      ...(observed !== 'nowhere' && { observedGeneration: 7 }),
      versions: [{ name: 'operator', version: '4.18.9' }],
      systemHealthStatus: 'healthy',
    },
  }
}
