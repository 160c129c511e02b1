import * as kube from '../kinds.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Kind, KubeObject, Metadata } from '../../lib/kube/object.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import {
  configText,
  type DeploymentConfig,
  DeploymentFailure,
  isAtLeast,
  type Operator,
  type Pass,
} from './virt-operator-context.ts'
import { customResources } from './kubevirt-crds.ts'
import { between, type ControllerContext, foundIn, made, nameSuffix } from '../machinery/controller.ts'
import { gzipSync } from 'node:zlib'

/** An object that the operator keeps as its install strategy has it. */
interface Managed {
  readonly kind: Kind
  readonly object: KubeObject
}

/** One of them; `parts` is everything but what all objects have. */
const managed = (kind: Kind, metadata: Metadata, parts: object = {}): Managed => ({
  kind,
  object: made(kind, { metadata, ...parts }),
})

/** Creates it, or writes it again where its stamps are of another deployment or generation of the CR, or somebody edited it. */
export async function ensure(cx: Operator, pass: Pass, { kind, object }: Managed): Promise<boolean> {
  const wanted = stamped(object, pass.config, pass.generation)
  const found = await cx.reader.get(kind, object.metadata)
  if (found.is === 'unserved') return false
  const what = `${kind.kind} ${object.metadata.name}`
  if (found.is === 'absent') {
    await written(`create ${what}`, cx.writer.create(kind, wanted))
    return true
  }
  if (hasStamps(found.object, pass.config, pass.generation) && contains(found.object, object)) return false
  await written(`patch ${what}`, cx.writer.mergePatch(kind, object.metadata, changed(found.object, wanted)))
  return true
}

/** What the API server refuses, it reports as a failure of the deployment; what others wrote meanwhile it looks at again. */
async function written(what: string, writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 404 || error.status === 409) throw error
    throw new DeploymentFailure(`unable to ${what}: ${error.message}`)
  }
}

/** The parts that differ: an edit of the CR alone changes annotations and nothing else. */
function changed(before: KubeObject, wanted: KubeObject): Record<string, unknown> {
  const { apiVersion: _, kind: _kind, metadata, ...parts } = wanted
  const old = before as unknown as Record<string, unknown>
  const different = Object.entries(parts).filter(([key, value]) => !contains(old[key], value))
  return {
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
    ...Object.fromEntries(different),
  }
}

/** True when `whole` has everything that `part` says; what a server adds by default is no difference. */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) &&
      whole.length === part.length &&
      part.every((item, i) => contains(whole[i], item))
    )
  }
  if (typeof part !== 'object' || part === null) return isDeepStrictEqual(whole, part)
  if (typeof whole !== 'object' || whole === null) return false
  const there = whole as Record<string, unknown>
  return Object.entries(part).every(([key, value]) => contains(there[key], value))
}

const identifier = 'kubevirt.io/install-strategy-identifier'
const generationStamp = 'kubevirt.io/generation'

/** Labels and annotations of a managed object (facts 2.6). */
interface Stamps {
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** The three annotations that tell which deployment an object, a Job or a pod belongs to. */
const identity = (config: DeploymentConfig): Record<string, string> => ({
  'kubevirt.io/install-strategy-version': config.kubeVirtVersion,
  'kubevirt.io/install-strategy-registry': config.registry,
  [identifier]: config.id,
})

/** What a pod template carries; managed objects carry the CR's generation as well. */
export const podStamps = (config: DeploymentConfig): Stamps => ({
  labels: {
    'app.kubernetes.io/managed-by': 'virt-operator',
    'app.kubernetes.io/component': 'kubevirt',
    'app.kubernetes.io/version': config.kubeVirtVersion,
  },
  annotations: identity(config),
})

/** The object with its stamps. */
function stamped<T extends KubeObject>(object: T, config: DeploymentConfig, generation: number): T {
  const { labels, annotations } = podStamps(config)
  const metadata: Metadata = {
    ...object.metadata,
    labels: { 'kubevirt.io': '', ...object.metadata.labels, ...labels },
    annotations: { ...object.metadata.annotations, ...annotations, [generationStamp]: String(generation) },
  }
  return { ...object, metadata }
}

/** True when the object belongs to that deployment and has seen that generation of the CR. */
export function hasStamps(object: KubeObject, config: DeploymentConfig, generation: number): boolean {
  const { annotations } = object.metadata
  return annotations?.[identifier] === config.id && annotations[generationStamp] === String(generation)
}

/** True when a pod was made for that deployment. */
export const isOfDeployment = (object: KubeObject, id: string): boolean =>
  object.metadata.annotations?.[identifier] === id

/** What is there before any operand: CRDs first, then rights, services, webhooks (facts 2.5, steps 2 to 10). */
export function supportObjects(config: DeploymentConfig): { definitions: Managed[]; others: Managed[] } {
  const definitions = customResources(config.kubeVirtVersion).map((object) => ({
    kind: kube.CustomResourceDefinitions,
    object,
  }))
  return {
    definitions,
    others: [...rights(config), ...services(config), ...certificates(config), ...webhooks(config)],
  }
}

function services({ namespace }: DeploymentConfig): Managed[] {
  const selected = [
    ['kubevirt-operator-webhook', 'virt-operator'],
    ['virt-api', 'virt-api'],
    ['virt-exportproxy', 'virt-exportproxy'],
  ] as const
  return selected.map(([name, component]) => {
    const ports = [{ port: 443, targetPort: 8443, protocol: 'TCP' }]
    const spec = { selector: { 'kubevirt.io': component }, ports, type: 'ClusterIP' }
    return managed(Services, { name, namespace }, { spec })
  })
}

const secrets = [
  'kubevirt-operator-certs',
  'kubevirt-virt-api-certs',
  'kubevirt-controller-certs',
  'kubevirt-virt-handler-certs',
]

function certificates({ namespace }: DeploymentConfig): Managed[] {
  const tls = { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }
  return [
    managed(kube.ConfigMaps, { name: 'kubevirt-ca', namespace }, { data: { 'ca-bundle': '' } }),
    ...secrets.map((name) => managed(kube.Secrets, { name, namespace }, tls)),
  ]
}

/** `<deployment>-pdb`, one pod fewer than there are (facts 2.10). */
export function disruptionBudget(namespace: string, component: string, replicas: number): Managed {
  const spec = {
    minAvailable: Math.max(1, replicas - 1),
    selector: { matchLabels: { 'kubevirt.io': component } },
  }
  return managed(kube.PodDisruptionBudgets, { name: `${component}-pdb`, namespace }, { spec })
}

const accounts = ['kubevirt-apiserver', 'kubevirt-controller', 'kubevirt-handler', 'kubevirt-exportproxy']
const role = (name: string, rules: kube.PolicyRule[]): Managed =>
  managed(kube.ClusterRoles, { name }, { rules })
const reading = ['get', 'list', 'watch']

/** ServiceAccounts and roles of the operands; they are of the new release before any pod is (facts 2.7). */
function rights({ namespace, kubeVirtVersion }: DeploymentConfig): Managed[] {
  const backup = isAtLeast(kubeVirtVersion, 8) ? ['backup.kubevirt.io'] : []
  const apiGroups = ['kubevirt.io', 'snapshot.kubevirt.io', ...backup]
  const migrations = {
    apiGroups: ['kubevirt.io'],
    resources: ['virtualmachineinstancemigrations'],
    verbs: ['*'],
  }
  return [
    role('kubevirt.io:admin', [{ apiGroups, resources: ['*'], verbs: ['*'] }]),
    role('kubevirt.io:edit', [{ apiGroups, resources: ['*'], verbs: [...reading, 'create', 'patch'] }]),
    role('kubevirt.io:view', [{ apiGroups, resources: ['*'], verbs: reading }]),
    role('kubevirt.io:migrate', [migrations]),
    ...accounts.flatMap((name) => [
      managed(kube.ServiceAccounts, { name, namespace }),
      role(name, [{ apiGroups, resources: ['*'], verbs: [...reading, 'update'] }]),
      binding(name, namespace),
    ]),
  ]
}

function binding(name: string, namespace: string): Managed {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  return managed(
    kube.ClusterRoleBindings,
    { name },
    { roleRef, subjects: [{ kind: 'ServiceAccount', name, namespace }] },
  )
}

/** Webhooks, all with failurePolicy Fail, and the aggregated APIs (facts 1.7, 2.10). */
function webhooks({ namespace }: DeploymentConfig): Managed[] {
  const operator = { namespace, name: 'kubevirt-operator-webhook' }
  const api = { namespace, name: 'virt-api' }
  const updates = call('kubevirt-update-validator.kubevirt.io', operator, 'kubevirts')
  const vms = call('virtualmachine-validator.kubevirt.io', api, 'virtualmachines')
  const defaults = call('virtualmachines-mutator.kubevirt.io', api, 'virtualmachines')
  return [
    managed(kube.ValidatingWebhooks, { name: 'virt-operator-validator' }, { webhooks: [updates] }),
    managed(kube.ValidatingWebhooks, { name: 'virt-api-validator' }, { webhooks: [vms] }),
    managed(kube.MutatingWebhooks, { name: 'virt-api-mutator' }, { webhooks: [defaults] }),
    ...['v1', 'v1alpha3'].map((version) => apiService(namespace, version)),
  ]
}

function call(name: string, service: { namespace: string; name: string }, resource: string): kube.Webhook {
  return {
    name,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { ...service, path: `/${resource}-validate`, port: 443 }, caBundle },
    rules: [
      {
        apiGroups: ['kubevirt.io'],
        apiVersions: ['v1', 'v1alpha3'],
        operations: ['CREATE', 'UPDATE'],
        resources: [resource],
      },
    ],
  }
}

function apiService(namespace: string, version: string): Managed {
  const group = 'subresources.kubevirt.io'
  const service = { namespace, name: 'virt-api', port: 443 }
  const spec = { group, version, service, caBundle, groupPriorityMinimum: 1000, versionPriority: 15 }
  return managed(kube.ApiServices, { name: `${version}.${group}` }, { spec })
}

const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** A CA of nobody that ends in 2049: that the real one rotates every week is not simulated. */
export const caBundle = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSFNNSUdGb0FNQ0FRSUNBUUV3QlFZREsyVndNQk14RVRBUEJnTlZCQU1NQ0d0',
  'MVltVjJhWEowTUI0WERUSTAKTVRJek1UQXdNREF3TUZvWERUUTVNVEl6TVRBd01EQXdNRm93RXpFUk1BOEdBMVVFQXd3SWEzVmla',
  'WFpwY25RdwpLakFGQmdNclpYQURJUUQzVXF6bVF6MXFQQVlBZWhQZGRHcHIyUDFvSUtMWHBRVXU0YjV4Wm52Sk56QUZCZ01yClpY',
  'QURRUUN5bVo3bkQwbzVDVWI4MlZDWlZkSnNHM0RINHpRMWpqbUZIYkFvaWNZUTJHdHBGajJKZjArUzJsbGgKSFk4UkxReEJGcWNU',
  'dU1LVnlFQmc2ZVQ4MjE4RgotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==',
].join('')

/** Label of the strategy Jobs and ConfigMaps. */
export const strategyLabel = 'kubevirt.io/install-strategy'

/**
 * The install strategy of a configuration is a ConfigMap that a Job of the target's image writes. While the Job has
 * not completed the answer is false, for ever if need be: nothing of it shows in the CR (facts 2.4, lab "Seen" 5).
 */
export async function loadStrategy(cx: Operator, config: DeploymentConfig): Promise<boolean> {
  const where = { namespace: config.namespace, labels: strategyLabel }
  const maps = await cx.reader.list(kube.ConfigMaps, where)
  const jobs = await cx.reader.list(kube.Jobs, where)
  if (maps.some((map) => isOf(map, config))) {
    await clearOld(cx, config, { maps, jobs })
    return true
  }
  const job = jobs.find((j) => isOf(j, config))
  if (job === undefined) await cx.writer.create(kube.Jobs, strategyJob(cx, config))
  else if (job.status?.completionTime !== undefined) await cx.writer.delete(kube.Jobs, job.metadata)
  return false
}

const isOf = ({ metadata }: kube.ConfigMap | kube.Job, config: DeploymentConfig): boolean =>
  metadata.annotations?.[identifier] === config.id

/** Strategies of other configurations go, and Jobs that are through; a Job that hangs stays behind. */
async function clearOld(
  cx: Operator,
  config: DeploymentConfig,
  { maps, jobs }: { maps: readonly kube.ConfigMap[]; jobs: readonly kube.Job[] },
): Promise<void> {
  for (const map of maps) if (!isOf(map, config)) await cx.writer.delete(kube.ConfigMaps, map.metadata)
  for (const job of jobs)
    if (job.status?.completionTime !== undefined) await cx.writer.delete(kube.Jobs, job.metadata)
}

function strategyJob(cx: Operator, config: DeploymentConfig): kube.Job {
  const prefix = isAtLeast(cx.self.version, 9)
    ? 'virt-operator-install-strategy-'
    : `kubevirt-${config.id}-job`
  const env = [
    { name: 'VIRT_OPERATOR_IMAGE', value: config.virtOperatorImage },
    { name: 'TARGET_INSTALL_NAMESPACE', value: config.namespace },
    { name: 'TARGET_DEPLOYMENT_CONFIG', value: configText(config) },
  ]
  return made(kube.Jobs, {
    metadata: {
      name: `${prefix}${nameSuffix(cx.random)}`,
      generateName: prefix,
      namespace: config.namespace,
      labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
      annotations: identity(config),
    },
    spec: {
      backoffLimit: 6,
      template: {
        metadata: { labels: { 'kubevirt.io': 'virt-operator-strategy-dumper' } },
        spec: {
          serviceAccountName: 'kubevirt-operator',
          restartPolicy: 'Never',
          ...onControlPlane,
          containers: [
            {
              name: 'install-strategy-upload',
              image: config.virtOperatorImage,
              command: ['virt-operator', '--dump-install-strategy'],
              env,
            },
          ],
        },
      },
    },
  })
}

/** `virt-operator --dump-install-strategy`: writes the ConfigMap that belongs to its Job; the exit code. */
export async function dumpStrategy(cx: ControllerContext, pod: kube.Pod): Promise<number> {
  await cx.clock.sleep(between(cx.random, 1500, 2500), cx.signal)
  const { namespace, labels = {} } = pod.metadata
  const job = foundIn(
    await cx.reader.get(kube.Jobs, {
      name: labels['batch.kubernetes.io/job-name'] ?? '',
      namespace,
    }),
  )
  if (job === undefined) return 1
  const generateName = 'kubevirt-install-strategy-'
  await cx.writer.create(
    kube.ConfigMaps,
    made(kube.ConfigMaps, {
      metadata: {
        name: `${generateName}${nameSuffix(cx.random)}`,
        generateName,
        namespace: pod.metadata.namespace,
        labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
        annotations: {
          ...job.metadata.annotations,
          'kubevirt.io/install-strategy-cm-encoding': 'base64+gzip',
        },
      },
      data: { manifests: gzipSync(targetConfig(pod)).toString('base64') },
    }),
  )
  return 0
}

function targetConfig({ spec }: kube.Pod): string {
  const [container] = spec?.containers ?? []
  return container?.env?.find(({ name }) => name === 'TARGET_DEPLOYMENT_CONFIG')?.value ?? ''
}

/** On control-plane nodes, as virt-api and virt-controller have been since v1.3 (facts 2.1). */
export const onControlPlane = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: ['control-plane', 'master'].map((name) => ({
          matchExpressions: [{ key: `node-role.kubernetes.io/${name}`, operator: 'Exists' }],
        })),
      },
    },
  },
  tolerations: [
    { key: 'CriticalAddonsOnly', operator: 'Exists' },
    { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  ],
}
