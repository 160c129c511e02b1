import type { Deployment } from '../../../cluster/kinds/apps.ts'
import {
  ConfigMaps,
  Events,
  Leases,
  Namespaces,
  Nodes,
  PodDisruptionBudgets,
  Secrets,
} from '../../../cluster/kinds/core.ts'
import type {
  ConfigMap,
  Event,
  Lease,
  Namespace,
  Node,
  PodDisruptionBudget,
  Secret,
} from '../../../cluster/kinds/core.ts'
import { EndpointSlices } from '../../../cluster/kinds/endpoint-slices.ts'
import { PriorityClasses, ServiceAccounts } from '../../../cluster/kinds/extension.ts'
import { type Pod, Pods } from '../../../cluster/kinds/pods.ts'
import { ResourceQuotas } from '../../../cluster/kinds/resource-quotas.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { ageColumn, column, field, nameColumn } from '../column.ts'
import { ageOf } from '../human-duration.ts'
import { at, items, same } from '../json.ts'
import type { FieldError } from '../refusal.ts'
import type { SimKind } from '../sim-kind.ts'
import { builtIn } from './make-kind.ts'
import { podColumns } from './pod-columns.ts'

const all = ['all']
const namespacedCore = (kind: string, plural: string) => ({
  apiVersion: 'v1',
  kind,
  plural,
  namespaced: true,
})

/** Pods, nodes and what else lives beside workloads. */
export const coreKinds: readonly SimKind[] = [
  builtIn(Pods, {
    shortNames: ['po'],
    categories: all,
    status: true,
    generation: 'spec',
    subresources: ['binding', 'eviction', 'log'],
    columns: podColumns,
    defaults: (object) => {
      const pod = object as Pod
      pod.status ??= { phase: 'Pending' }
    },
  }),
  builtIn(Nodes, { shortNames: ['no'], status: true, columns: nodeColumns() }),
  builtIn(Namespaces, {
    shortNames: ['ns'],
    status: true,
    columns: [nameColumn, field('Status', 'status', 'phase'), ageColumn],
    defaults: (object) => {
      const namespace = object as Namespace
      namespace.status ??= { phase: 'Active' }
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        'kubernetes.io/metadata.name': object.metadata.name,
      }
    },
  }),
  builtIn(ConfigMaps, {
    shortNames: ['cm'],
    columns: [
      nameColumn,
      column('Data', ({ data }: ConfigMap) => Object.keys(data ?? {}).length, 'integer'),
      ageColumn,
    ],
    validate: (object, before) => immutableErrors(object, before),
  }),
  builtIn(Secrets, {
    columns: [
      nameColumn,
      column('Type', ({ type }: Secret) => type ?? 'Opaque'),
      column('Data', ({ data }: Secret) => Object.keys(data ?? {}).length, 'integer'),
      ageColumn,
    ],
    defaults: (object) => {
      const secret = object as Secret
      secret.type ??= 'Opaque'
    },
  }),
  builtIn(ServiceAccounts, {
    shortNames: ['sa'],
    columns: [nameColumn, column('Secrets', (o) => items(o, 'secrets').length, 'integer'), ageColumn],
  }),
  builtIn(namespacedCore('Service', 'services'), {
    shortNames: ['svc'],
    categories: all,
    status: true,
    columns: [nameColumn, field('Type', 'spec', 'type'), field('Cluster-IP', 'spec', 'clusterIP'), ageColumn],
  }),
  builtIn(EndpointSlices),
  builtIn(ResourceQuotas, { shortNames: ['quota'], status: true }),
  builtIn(Events, { shortNames: ['ev'], columns: eventColumns() }),
  builtIn(Leases, {
    columns: [nameColumn, column('Holder', ({ spec }: Lease) => spec?.holderIdentity ?? ''), ageColumn],
  }),
  builtIn(PodDisruptionBudgets, {
    shortNames: ['pdb'],
    status: true,
    generation: 'spec',
    columns: [
      nameColumn,
      column('Min Available', ({ spec }: PodDisruptionBudget) => spec?.minAvailable ?? 'N/A'),
      column('Max Unavailable', (o) =>
        JSON.stringify(at(o, 'spec', 'maxUnavailable') ?? 'N/A').replaceAll('"', ''),
      ),
      column(
        'Allowed Disruptions',
        ({ status }: PodDisruptionBudget) => status?.disruptionsAllowed ?? 0,
        'integer',
      ),
      ageColumn,
    ],
  }),
  builtIn(PriorityClasses, {
    shortNames: ['pc'],
    generation: 'spec',
    columns: [
      nameColumn,
      field('Value', 'value'),
      column('Global-Default', (o) => at(o, 'globalDefault') === true),
      ageColumn,
    ],
  }),
]

function nodeColumns() {
  const role = /^node-role\.kubernetes\.io\/(.+)$/
  return [
    nameColumn,
    column('Status', ({ spec, status }: Node) => {
      const ready = status?.conditions?.find((c) => c.type === 'Ready')?.status
      const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady'
      return spec?.unschedulable === true ? `${word},SchedulingDisabled` : word
    }),
    column('Roles', ({ metadata }) => {
      const roles = Object.keys(metadata.labels ?? {}).flatMap((label) => role.exec(label)?.[1] ?? [])
      return roles.sort().join(',') || '<none>'
    }),
    ageColumn,
    field('Version', 'status', 'nodeInfo', 'kubeletVersion'),
  ]
}

function eventColumns() {
  return [
    column('Last Seen', (o, now) => {
      const event = o as Event
      return ageOf(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp, now)
    }),
    field('Type', 'type'),
    field('Reason', 'reason'),
    column(
      'Object',
      ({ involvedObject }: Event) =>
        `${(involvedObject?.kind ?? '').toLowerCase()}/${involvedObject?.name ?? ''}`,
    ),
    field('Message', 'message'),
  ]
}

function immutableErrors(now: ConfigMap, before: ConfigMap | undefined): FieldError[] {
  if (before?.immutable !== true || same(now.data, before.data)) return []
  return [
    {
      field: 'data',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: field is immutable when `immutable` is set',
    },
  ]
}

function selector(object: Deployment): unknown {
  return object.spec?.selector
}

/** Label selectors of workloads cannot be changed. */
export function selectorErrors(now: KubeObject, before: KubeObject | undefined): FieldError[] {
  if (!before || same(selector(now), selector(before))) return []
  return [
    {
      field: 'spec.selector',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(selector(now))}: field is immutable`,
    },
  ]
}
