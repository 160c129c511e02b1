import {
  ControllerRevisions,
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  Jobs,
  type ReplicaSet,
  ReplicaSets,
} from '../../../cluster/kinds/apps.ts'
import type { SimKind } from '../sim-kind.ts'
import { selectorErrors } from './core.ts'
import { builtIn } from './make-kind.ts'
import { daemonSetColumns, deploymentColumns, jobColumns, replicaSetColumns } from './workload-columns.ts'

const categories = ['all']

export const appKinds: readonly SimKind[] = [
  builtIn(Deployments, {
    shortNames: ['deploy'],
    categories,
    status: true,
    generation: 'spec-and-annotations',
    columns: deploymentColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as Deployment
      if (!spec) return
      spec.replicas ??= 1
      spec.strategy ??= { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } }
    },
  }),
  builtIn(ReplicaSets, {
    shortNames: ['rs'],
    categories,
    status: true,
    generation: 'spec',
    columns: replicaSetColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as ReplicaSet
      if (spec) spec.replicas ??= 1
    },
  }),
  builtIn(DaemonSets, {
    shortNames: ['ds'],
    categories,
    status: true,
    generation: 'spec',
    columns: daemonSetColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as DaemonSet
      if (!spec) return
      spec.updateStrategy ??= { type: 'RollingUpdate' }
      if (spec.updateStrategy.type === 'RollingUpdate')
        spec.updateStrategy.rollingUpdate ??= { maxUnavailable: 1 }
    },
  }),
  builtIn(ControllerRevisions),
  builtIn(Jobs, { categories, status: true, generation: 'spec', columns: jobColumns }),
]
