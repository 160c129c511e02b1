import { type ConfigMap, ConfigMaps, Namespaces } from '../kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
  type ServiceAccount,
  ServiceAccounts,
} from '../kube/kinds/extension-kinds.ts'
import { type Job, Jobs, type PodTemplate } from '../kube/kinds/workload-kinds.ts'
import { retriedCodes } from '../kube/errors.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import { packedWord, type PackedFile } from './packed-files.ts'
import template from './job-template.json' with { type: 'json' }

/** What the namespace is called that is made for a Job, in front of its suffix. */
export const jobNamespace = 'kvup-run'

/** What runs, and where: both end with the suffix of this run, as nothing else in the cluster does. */
export interface JobPlace {
  name: string
  namespace: string
}

/** A line that the cluster is to run. */
export interface JobRequest extends JobPlace {
  /** By its digest. */
  image: string
  /** The words of the line, without the program. */
  line: readonly string[]
  files: readonly PackedFile[]
  /** The rights of the line: a ClusterRole, and Roles in namespaces. */
  roles: readonly Role[]
}

const jobLabel = 'kvup.io/job'

/** What finds all objects of a Job in any namespace, and nothing of anybody else's: its name ends with the suffix. */
export const jobSelector = ({ name }: JobPlace): string => `${jobLabel}=${name}`

const labelsOf = ({ name }: JobPlace) => ({ 'app.kubernetes.io/managed-by': 'kvup', [jobLabel]: name })

/** What its roles and bindings are called, in every namespace and without one: no role of `kvup rbac` has such a name. */
const grantName = ({ name }: JobPlace): string => `kvup-job:${name}`

/** All that a cluster needs to run a line itself, in the order in which it is created. Pure. */
export function jobObjects(request: JobRequest): KubeObject[] {
  const { name, namespace, line, files } = request
  const labels = { ...labelsOf(request), ...template.namespaceLabels }
  const account = { automountServiceAccountToken: false }
  // Two files of one content are one ConfigMap.
  const distinct = [...new Map(files.map((file) => [file.sha256, file])).values()]
  const metadata = { ...named(request), annotations: { 'kvup.io/line': line.join(' ') } }
  return [
    object(Namespaces, { name: namespace, labels }, {}),
    object<ServiceAccount>(ServiceAccounts, named(request, name), account),
    ...grantsOf(request),
    ...distinct.map((file) => configMapOf(request, file)),
    object<Job>(Jobs, metadata, { spec: jobSpec(request, distinct) }),
  ]
}

const object = <T extends KubeObject>(
  { apiVersion, kind }: Kind<T>,
  metadata: T['metadata'],
  rest: Omit<T, keyof KubeObject>,
): T => ({ apiVersion, kind, metadata, ...rest }) as T

const named = (place: JobPlace, name = place.name) => ({
  name,
  namespace: place.namespace,
  labels: labelsOf(place),
})

function grantsOf(request: JobRequest): KubeObject[] {
  const roles = request.roles
    .filter(({ rules = [] }) => rules.length > 0)
    .map((role) => ownRole(role, request))
  // A pod that takes over asks whether the one before it has ended; these pods are all that it may read here.
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  const ofPods = object<Role>(Roles, named(request, grantName(request)), { rules })
  return [...roles, ofPods].flatMap((role) => [role, bindingOf(role, request)])
}

/** Two Roles in one namespace are told apart as `kvup rbac` does it. */
function ownRole(role: Role, request: JobRequest): Role {
  const name = `${grantName(request)}${role.metadata.name.endsWith('-catalog') ? ':catalog' : ''}`
  const { labels, ...rest } = role.metadata
  return { ...role, metadata: { ...rest, name, labels: { ...labels, ...labelsOf(request) } } }
}

function bindingOf({ kind, metadata }: Role, { name, namespace }: JobPlace): RoleBinding {
  const of = metadata.namespace === undefined ? ClusterRoleBindings : RoleBindings
  return object<RoleBinding>(of, metadata, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })
}

/** Its name has what is in it: another plan is another ConfigMap, for this one never changes. */
const configMapName = ({ name }: JobPlace, { sha256 }: PackedFile): string => `${name}-${sha256.slice(0, 12)}`

function configMapOf(place: JobPlace, file: PackedFile): ConfigMap {
  const metadata = { ...named(place, configMapName(place, file)), annotations: { 'kvup.io/file': file.path } }
  return object(ConfigMaps, metadata, { immutable: true, binaryData: { [file.sha256]: file.gzip } })
}

/** Its log can be read for a week; the rights stay until somebody deletes them. A pod that is still ending has the lock: the next one begins when it is gone. */
function jobSpec(request: JobRequest, files: readonly PackedFile[]): NonNullable<Job['spec']> {
  const retried = { operator: 'NotIn', values: [...retriedCodes] }
  return {
    ...template.job,
    podFailurePolicy: { rules: [template.disruptions, { action: 'FailJob', onExitCodes: retried }] },
    template: podTemplate(request, files),
  } as NonNullable<Job['spec']>
}

/**
 * No user and no group is named: the image has one, and OpenShift's restricted-v2 chooses its own. The token is mounted as the kubelet does it, but for an hour: kvup reads it again when
 * it was renewed. By the identity of its pod the cluster knows who holds the lock.
 */
function podTemplate(request: JobRequest, files: readonly PackedFile[]): PodTemplate {
  const { container, environment, identity, mounts, filesMount, tokenMount, unpack } = template
  const { image, line } = request
  const hasFiles = files.length > 0
  const spec = {
    serviceAccountName: request.name,
    ...template.pod,
    ...(hasFiles && {
      initContainers: [
        {
          name: 'files',
          image,
          ...container,
          args: [...unpack, ...request.files.map(packedWord)],
          env: environment,
          volumeMounts: [...mounts, filesMount],
        },
      ],
    }),
    containers: [
      {
        name: 'kvup',
        image,
        ...container,
        args: [...line],
        env: [...environment, ...identity],
        volumeMounts: [...mounts, tokenMount],
      },
    ],
    volumes: [...template.volumes, ...(hasFiles ? [filesVolume(request, files)] : [])],
  }
  return { metadata: { labels: labelsOf(request) }, spec }
}

const filesVolume = (request: JobRequest, files: readonly PackedFile[]) => ({
  name: 'files',
  projected: {
    sources: files.map((file) => ({
      configMap: {
        name: configMapName(request, file),
        items: [{ key: file.sha256, path: file.sha256 }],
      },
    })),
  },
})
