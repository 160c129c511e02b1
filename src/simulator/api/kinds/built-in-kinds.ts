import * as kube from '../../kinds.ts'
import type { KubeObject } from '../../../lib/kube/object.ts'
import {
  ageColumn,
  ageOf,
  column,
  daemonSetColumns,
  deploymentColumns,
  field,
  jobColumns,
  jsonPathColumns,
  nameColumn,
  podColumns,
  replicaSetColumns,
} from './printer-columns.ts'
import { at, items, same, text } from '../json.ts'
import type { FieldError } from '../api-refusal.ts'
import { builtIn, type Column, custom, type SimKind } from './sim-kind.ts'
import { kubeVirtVersioning } from './kubevirt-schema.ts'

const all = ['all']
const namespacedCore = (kind: string, plural: string) => ({
  apiVersion: 'v1',
  kind,
  plural,
  namespaced: true,
})

/** Pods, nodes and what else lives beside workloads. */
const coreKinds: readonly SimKind[] = [
  builtIn(kube.Pods, {
    shortNames: ['po'],
    categories: all,
    status: true,
    generation: 'spec',
    subresources: ['binding', 'eviction', 'log'],
    columns: podColumns,
    defaults: (object) => {
      const pod = object as kube.Pod
      pod.status ??= { phase: 'Pending' }
    },
  }),
  builtIn(kube.Nodes, { shortNames: ['no'], status: true, columns: nodeColumns() }),
  builtIn(kube.Namespaces, {
    shortNames: ['ns'],
    status: true,
    columns: [nameColumn, field('Status', 'status', 'phase'), ageColumn],
    defaults: (object) => {
      const namespace = object as kube.Namespace
      namespace.status ??= { phase: 'Active' }
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        'kubernetes.io/metadata.name': object.metadata.name,
      }
    },
  }),
  builtIn(kube.ConfigMaps, {
    shortNames: ['cm'],
    columns: [
      nameColumn,
      column('Data', ({ data }: kube.ConfigMap) => Object.keys(data ?? {}).length, 'integer'),
      ageColumn,
    ],
    validate: (object, before) => immutableErrors(object, before),
  }),
  builtIn(kube.Secrets, {
    columns: [
      nameColumn,
      column('Type', ({ type }: kube.Secret) => type ?? 'Opaque'),
      column('Data', ({ data }: kube.Secret) => Object.keys(data ?? {}).length, 'integer'),
      ageColumn,
    ],
    defaults: (object) => {
      const secret = object as kube.Secret
      secret.type ??= 'Opaque'
    },
  }),
  builtIn(kube.ServiceAccounts, {
    shortNames: ['sa'],
    columns: [nameColumn, column('Secrets', (o) => items(o, 'secrets').length, 'integer'), ageColumn],
  }),
  builtIn(namespacedCore('Service', 'services'), {
    shortNames: ['svc'],
    categories: all,
    status: true,
    columns: [nameColumn, field('Type', 'spec', 'type'), field('Cluster-IP', 'spec', 'clusterIP'), ageColumn],
  }),
  builtIn(kube.EndpointSlices),
  builtIn(kube.ResourceQuotas, { shortNames: ['quota'], status: true }),
  builtIn(kube.Events, { shortNames: ['ev'], columns: eventColumns() }),
  builtIn(kube.Leases, {
    columns: [nameColumn, column('Holder', ({ spec }: kube.Lease) => spec?.holderIdentity ?? ''), ageColumn],
  }),
  builtIn(kube.PodDisruptionBudgets, {
    shortNames: ['pdb'],
    status: true,
    generation: 'spec',
    columns: [
      nameColumn,
      column('Min Available', ({ spec }: kube.PodDisruptionBudget) => spec?.minAvailable ?? 'N/A'),
      column('Max Unavailable', (o) =>
        JSON.stringify(at(o, 'spec', 'maxUnavailable') ?? 'N/A').replaceAll('"', ''),
      ),
      column(
        'Allowed Disruptions',
        ({ status }: kube.PodDisruptionBudget) => status?.disruptionsAllowed ?? 0,
        'integer',
      ),
      ageColumn,
    ],
  }),
  builtIn(kube.PriorityClasses, {
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
    column('Status', ({ spec, status }: kube.Node) => {
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
      const event = o as kube.Event
      return ageOf(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp, now)
    }),
    field('Type', 'type'),
    field('Reason', 'reason'),
    column(
      'Object',
      ({ involvedObject }: kube.Event) =>
        `${(involvedObject?.kind ?? '').toLowerCase()}/${involvedObject?.name ?? ''}`,
    ),
    field('Message', 'message'),
  ]
}

function immutableErrors(now: kube.ConfigMap, before: kube.ConfigMap | undefined): FieldError[] {
  if (before?.immutable !== true) return []
  if (same(now.data, before.data) && same(now.binaryData, before.binaryData)) return []
  return [
    {
      field: 'data',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: field is immutable when `immutable` is set',
    },
  ]
}

function selector(object: kube.Deployment): unknown {
  return object.spec?.selector
}

function selectorErrors(now: KubeObject, before: KubeObject | undefined): FieldError[] {
  if (!before || same(selector(now), selector(before))) return []
  return [
    {
      field: 'spec.selector',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(selector(now))}: field is immutable`,
    },
  ]
}

const categories = ['all']

const appKinds: readonly SimKind[] = [
  builtIn(kube.Deployments, {
    shortNames: ['deploy'],
    categories,
    status: true,
    generation: 'spec-and-annotations',
    columns: deploymentColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as kube.Deployment
      if (!spec) return
      spec.replicas ??= 1
      spec.strategy ??= { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } }
    },
  }),
  builtIn(kube.ReplicaSets, {
    shortNames: ['rs'],
    categories,
    status: true,
    generation: 'spec',
    columns: replicaSetColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as kube.ReplicaSet
      if (spec) spec.replicas ??= 1
    },
  }),
  builtIn(kube.DaemonSets, {
    shortNames: ['ds'],
    categories,
    status: true,
    generation: 'spec',
    columns: daemonSetColumns,
    validate: selectorErrors,
    defaults: (object) => {
      const { spec } = object as kube.DaemonSet
      if (!spec) return
      spec.updateStrategy ??= { type: 'RollingUpdate' }
      if (spec.updateStrategy.type === 'RollingUpdate')
        spec.updateStrategy.rollingUpdate ??= { maxUnavailable: 1 }
    },
  }),
  builtIn(kube.ControllerRevisions),
  builtIn(kube.Jobs, { categories, status: true, generation: 'spec', columns: jobColumns }),
  builtIn(kube.CronJobs, {
    shortNames: ['cj'],
    categories,
    status: true,
    generation: 'spec',
    columns: [nameColumn, field('Schedule', 'spec', 'schedule'), ageColumn],
  }),
]

const roleColumn = column('Role', (o) => {
  const { roleRef } = o as kube.RoleBinding
  return `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`
})

const webhooks = column('Webhooks', (o) => (o as kube.WebhookConfiguration).webhooks?.length ?? 0, 'integer')

/** A version that becomes the stored one is kept in mind beside those that were it before, in the same write. */
function rememberStored(object: KubeObject): void {
  const definition = object as kube.CustomResourceDefinition
  const stored = definition.spec?.versions?.find(({ storage }) => storage)?.name
  const known = definition.status?.storedVersions ?? []
  if (stored === undefined || known.includes(stored)) return
  definition.status = { ...definition.status, storedVersions: [...known, stored] }
}

/** A version that is stored cannot be dropped. */
function keepsStoredVersions(object: KubeObject): FieldError[] {
  const { spec, status } = object as kube.CustomResourceDefinition
  return (status?.storedVersions ?? []).flatMap((name, index) =>
    spec?.versions?.some((version) => version.name === name)
      ? []
      : [
          {
            field: `status.storedVersions[${index}]`,
            reason: 'FieldValueInvalid' as const,
            message: `Invalid value: "${name}": missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          },
        ],
  )
}

const question = { verbs: ['create'] }
const asked = (group: string, kind: string) => ({
  apiVersion: `${group}.k8s.io/v1`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

const extensionKinds: readonly SimKind[] = [
  builtIn(kube.CustomResourceDefinitions, {
    shortNames: ['crd', 'crds'],
    status: true,
    generation: 'spec',
    defaults: rememberStored,
    validate: keepsStoredVersions,
    columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')],
  }),
  builtIn(kube.ApiServices, {
    status: true,
    columns: [
      nameColumn,
      column('Service', (o) => {
        const service = at(o, 'spec', 'service')
        return service ? `${text(service, 'namespace')}/${text(service, 'name')}` : 'Local'
      }),
      column('Available', (o) => {
        const available = items(o, 'status', 'conditions').find((c) => c['type'] === 'Available')
        if (available?.['status'] === 'True') return 'True'
        return available ? `False (${text(available, 'reason')})` : 'Unknown'
      }),
      ageColumn,
    ],
  }),
  builtIn(kube.ValidatingWebhooks, { generation: 'spec', columns: [nameColumn, webhooks, ageColumn] }),
  builtIn(kube.MutatingWebhooks, { generation: 'spec', columns: [nameColumn, webhooks, ageColumn] }),
  builtIn(asked('authorization', 'SelfSubjectAccessReview'), question),
  builtIn(asked('authorization', 'SelfSubjectRulesReview'), question),
  builtIn(asked('authentication', 'SelfSubjectReview'), question),
  builtIn(kube.Roles, {
    columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')],
  }),
  builtIn(kube.ClusterRoles, {
    columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')],
  }),
  builtIn(kube.RoleBindings, { columns: [nameColumn, roleColumn, ageColumn] }),
  builtIn(kube.ClusterRoleBindings, { columns: [nameColumn, roleColumn, ageColumn] }),
]

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const ready = { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" }
const phase = { name: 'Phase', type: 'string', jsonPath: '.status.phase' }

function columns(...definitions: Record<string, unknown>[]): readonly Column[] {
  return [nameColumn, ...jsonPathColumns(definitions)]
}

const versions = ['v1', 'v1alpha3']

/** Names and columns: facts 6. Only VirtualMachineInstance has no status subresource. */
const kubevirtKinds: readonly SimKind[] = [
  custom(kube.KubeVirts, {
    shortNames: ['kv', 'kvs'],
    versions,
    columns: columns(age, phase),
    versioningBy: kubeVirtVersioning,
  }),
  custom(kube.Vms, {
    shortNames: ['vm', 'vms'],
    versions,
    subresources: ['restart', 'start', 'stop', 'migrate'],
    columns: columns(age, { name: 'Status', type: 'string', jsonPath: '.status.printableStatus' }, ready),
  }),
  custom(kube.Vmis, {
    shortNames: ['vmi', 'vmis'],
    versions,
    status: false,
    columns: columns(
      age,
      phase,
      { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
      { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
      ready,
      {
        name: 'Live-Migratable',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='LiveMigratable')].status",
        priority: 1,
      },
      {
        name: 'Paused',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='Paused')].status",
        priority: 1,
      },
    ),
  }),
  custom(kube.Migrations, {
    shortNames: ['vmim', 'vmims'],
    versions,
    columns: columns(phase, { name: 'VMI', type: 'string', jsonPath: '.spec.vmiName' }),
  }),
]

/** A cluster before KubeVirt: its kinds come with their CustomResourceDefinitions. */
export const plainKinds: readonly SimKind[] = [...coreKinds, ...appKinds, ...extensionKinds]

/** With the kinds of KubeVirt that matter here, as if its CustomResourceDefinitions were there. */
export const builtInKinds: readonly SimKind[] = [...plainKinds, ...kubevirtKinds]
