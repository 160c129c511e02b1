import * as kube from '../../kinds.ts'
import type { KubeObject } from '../../../lib/kube/object.ts'
import {
  ageColumn,
  ageOf,
  agePath,
  column,
  conditionPath,
  daemonSetColumns,
  deploymentColumns,
  field,
  jobColumns,
  nameColumn,
  pathColumns,
  podColumns,
  replicaSetColumns,
} from './printer-columns.ts'
import { at, items, same, text } from '../json.ts'
import type { FieldError } from '../api-refusal.ts'
import { builtIn, type Column, custom, type SimKind } from './sim-kind.ts'
import { kubeVirtVersioning } from './kubevirt-schema.ts'

const all = ['all']
/** Between the name and the age what is its own. */
const named = (...own: readonly Column[]): readonly Column[] => [nameColumn, ...own, ageColumn]
const createdColumns = [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')]
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
    columns: named(field('Status', 'status', 'phase')),
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
    columns: named(column('Data', ({ data }: kube.ConfigMap) => Object.keys(data ?? {}).length, 'integer')),
    validate: (object, before) => immutableErrors(object, before),
  }),
  builtIn(kube.Secrets, {
    columns: named(
      column('Type', ({ type }: kube.Secret) => type ?? 'Opaque'),
      column('Data', ({ data }: kube.Secret) => Object.keys(data ?? {}).length, 'integer'),
    ),
    defaults: (object) => {
      const secret = object as kube.Secret
      secret.type ??= 'Opaque'
    },
  }),
  builtIn(kube.ServiceAccounts, {
    shortNames: ['sa'],
    columns: named(column('Secrets', (o) => items(o, 'secrets').length, 'integer')),
  }),
  builtIn(namespacedCore('Service', 'services'), {
    shortNames: ['svc'],
    categories: all,
    status: true,
    columns: named(field('Type', 'spec', 'type'), field('Cluster-IP', 'spec', 'clusterIP')),
  }),
  builtIn(kube.EndpointSlices),
  builtIn(kube.ResourceQuotas, { shortNames: ['quota'], status: true }),
  builtIn(kube.Events, { shortNames: ['ev'], columns: eventColumns() }),
  builtIn(kube.Leases, {
    columns: named(column('Holder', ({ spec }: kube.Lease) => spec?.holderIdentity ?? '')),
  }),
  builtIn(kube.PodDisruptionBudgets, {
    shortNames: ['pdb'],
    status: true,
    generation: 'spec',
    columns: named(
      column('Min Available', ({ spec }: kube.PodDisruptionBudget) => spec?.minAvailable ?? 'N/A'),
      column('Max Unavailable', (o) =>
        JSON.stringify(at(o, 'spec', 'maxUnavailable') ?? 'N/A').replaceAll('"', ''),
      ),
      column(
        'Allowed Disruptions',
        ({ status }: kube.PodDisruptionBudget) => status?.disruptionsAllowed ?? 0,
        'integer',
      ),
    ),
  }),
  builtIn(kube.PriorityClasses, {
    shortNames: ['pc'],
    generation: 'spec',
    columns: named(
      field('Value', 'value'),
      column('Global-Default', (o) => at(o, 'globalDefault') === true),
    ),
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

const wrong = (where: string, reason: FieldError['reason'], message: string): FieldError[] => [
  { field: where, reason, message },
]

function immutableErrors(now: kube.ConfigMap, before: kube.ConfigMap | undefined): FieldError[] {
  if (before?.immutable !== true) return []
  if (same(now.data, before.data) && same(now.binaryData, before.binaryData)) return []
  return wrong('data', 'FieldValueForbidden', 'Forbidden: field is immutable when `immutable` is set')
}

const selector = (object: kube.Deployment): unknown => object.spec?.selector

function selectorErrors(now: KubeObject, before: KubeObject | undefined): FieldError[] {
  if (!before || same(selector(now), selector(before))) return []
  const message = `Invalid value: ${JSON.stringify(selector(now))}: field is immutable`
  return wrong('spec.selector', 'FieldValueInvalid', message)
}

const appKinds: readonly SimKind[] = [
  builtIn(kube.Deployments, {
    shortNames: ['deploy'],
    categories: all,
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
    categories: all,
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
    categories: all,
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
  builtIn(kube.Jobs, { categories: all, status: true, generation: 'spec', columns: jobColumns }),
  builtIn(kube.CronJobs, {
    shortNames: ['cj'],
    categories: all,
    status: true,
    generation: 'spec',
    columns: named(field('Schedule', 'spec', 'schedule')),
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
  return (status?.storedVersions ?? []).flatMap((name, index) => {
    if (spec?.versions?.some((version) => version.name === name)) return []
    const message = `Invalid value: "${name}": missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    return wrong(`status.storedVersions[${index}]`, 'FieldValueInvalid', message)
  })
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
    columns: createdColumns,
  }),
  builtIn(kube.ApiServices, {
    status: true,
    columns: named(
      column('Service', (o) => {
        const service = at(o, 'spec', 'service')
        return service ? `${text(service, 'namespace')}/${text(service, 'name')}` : 'Local'
      }),
      column('Available', (o) => {
        const available = items(o, 'status', 'conditions').find((c) => c['type'] === 'Available')
        if (available?.['status'] === 'True') return 'True'
        return available ? `False (${text(available, 'reason')})` : 'Unknown'
      }),
    ),
  }),
  builtIn(kube.ValidatingWebhooks, { generation: 'spec', columns: named(webhooks) }),
  builtIn(kube.MutatingWebhooks, { generation: 'spec', columns: named(webhooks) }),
  builtIn(asked('authorization', 'SelfSubjectAccessReview'), question),
  builtIn(asked('authorization', 'SelfSubjectRulesReview'), question),
  builtIn(asked('authentication', 'SelfSubjectReview'), question),
  builtIn(kube.Roles, {
    columns: createdColumns,
  }),
  builtIn(kube.ClusterRoles, {
    columns: createdColumns,
  }),
  builtIn(kube.RoleBindings, { columns: named(roleColumn) }),
  builtIn(kube.ClusterRoleBindings, { columns: named(roleColumn) }),
]

const phase = { Phase: '.status.phase' }
const ready = { Ready: conditionPath('Ready') }
const versions = ['v1', 'v1alpha3']

/** Names and columns: facts 6. Only VirtualMachineInstance has no status subresource. */
const kubevirtKinds: readonly SimKind[] = [
  custom(kube.KubeVirts, {
    shortNames: ['kv', 'kvs'],
    versions,
    columns: pathColumns({ ...agePath, ...phase }),
    versioningBy: kubeVirtVersioning,
  }),
  custom(kube.Vms, {
    shortNames: ['vm', 'vms'],
    versions,
    subresources: ['restart', 'start', 'stop', 'migrate'],
    columns: pathColumns({ ...agePath, Status: '.status.printableStatus', ...ready }),
  }),
  custom(kube.Vmis, {
    shortNames: ['vmi', 'vmis'],
    versions,
    status: false,
    columns: pathColumns(
      { ...agePath, ...phase, IP: '.status.interfaces[0].ipAddress', NodeName: '.status.nodeName', ...ready },
      { 'Live-Migratable': conditionPath('LiveMigratable'), Paused: conditionPath('Paused') },
    ),
  }),
  custom(kube.Migrations, {
    shortNames: ['vmim', 'vmims'],
    versions,
    columns: pathColumns({ ...phase, VMI: '.spec.vmiName' }),
  }),
]

/** A cluster before KubeVirt: its kinds come with their CustomResourceDefinitions. */
export const plainKinds: readonly SimKind[] = [...coreKinds, ...appKinds, ...extensionKinds]

/** With the kinds of KubeVirt that matter here, as if its CustomResourceDefinitions were there. */
export const builtInKinds: readonly SimKind[] = [...plainKinds, ...kubevirtKinds]
