import { type ConfigMap, ConfigMaps, type Namespace, Namespaces } from '../kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
  type ServiceAccount,
  ServiceAccounts,
} from '../kube/kinds/extension-kinds.ts'
import { type Job, Jobs, type JobSpec, type PodSpec, type PodTemplate } from '../kube/kinds/workload-kinds.ts'
import { retriedCodes } from '../kube/errors.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import { packedWord, type PackedFile } from './packed-files.ts'

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

const managedBy = 'app.kubernetes.io/managed-by'
/** The Job that an object belongs to. */
const jobLabel = 'kvup.io/job'

/** What finds all objects of a Job in any namespace, and nothing of anybody else's: its name ends with the suffix. */
export const jobSelector = ({ name }: JobPlace): string => `${jobLabel}=${name}`

const labelsOf = ({ name }: JobPlace) => ({ [managedBy]: 'kvup', [jobLabel]: name })

/** What its roles and bindings are called, in every namespace and without one: no role of `kvup rbac` has such a name. */
const grantName = ({ name }: JobPlace): string => `kvup-job:${name}`

/** All that a cluster needs to run a line itself, in the order in which it is created. Pure. */
export function jobObjects(request: JobRequest): KubeObject[] {
  return [
    namespaceOf(request),
    accountOf(request),
    ...grantsOf(request),
    ...distinct(request).map((file) => configMapOf(request, file)),
    jobOf(request),
  ]
}

function object<T extends KubeObject>(
  kind: Kind<T>,
  metadata: T['metadata'],
  rest: Omit<T, keyof KubeObject>,
): T {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...rest } as T
}

const named = (place: JobPlace, name = place.name) => ({
  name,
  namespace: place.namespace,
  labels: labelsOf(place),
})

function namespaceOf(place: JobPlace): Namespace {
  const labels = {
    ...labelsOf(place),
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  }
  return object(Namespaces, { name: place.namespace, labels }, {})
}

function accountOf(place: JobPlace): ServiceAccount {
  return object(ServiceAccounts, named(place), { automountServiceAccountToken: false })
}

/** A pod that takes over asks whether the one before it has ended; these pods are all that it may read here. */
const podsRole = (place: JobPlace): Role =>
  object(Roles, named(place, grantName(place)), {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  })

function grantsOf(request: JobRequest): KubeObject[] {
  const roles = request.roles
    .filter(({ rules = [] }) => rules.length > 0)
    .map((role) => ownRole(role, request))
  return [...roles, podsRole(request)].flatMap((role) => [role, bindingOf(role, request)])
}

function ownRole(role: Role, request: JobRequest): Role {
  const { labels, ...rest } = role.metadata
  const metadata = { ...rest, name: nameOfGrant(role, request), labels: { ...labels, ...labelsOf(request) } }
  return { ...role, metadata }
}

/** Two Roles in one namespace are told apart as `kvup rbac` does it. */
const nameOfGrant = ({ metadata }: Role, request: JobRequest): string =>
  metadata.name.endsWith('-catalog') ? `${grantName(request)}:catalog` : grantName(request)

function bindingOf({ kind, metadata }: Role, place: JobPlace): RoleBinding {
  const of = metadata.namespace === undefined ? ClusterRoleBindings : RoleBindings
  return object<RoleBinding>(of, metadata, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: place.name, namespace: place.namespace }],
  })
}

/** Its name has what is in it: another plan is another ConfigMap, for this one never changes. */
const configMapName = ({ name }: JobPlace, { sha256 }: PackedFile): string => `${name}-${sha256.slice(0, 12)}`

/** Two files of one content are one ConfigMap. */
const distinct = ({ files }: JobRequest): readonly PackedFile[] => [
  ...new Map(files.map((file) => [file.sha256, file])).values(),
]

function configMapOf(place: JobPlace, file: PackedFile): ConfigMap {
  const metadata = { ...named(place, configMapName(place, file)), annotations: { 'kvup.io/file': file.path } }
  return object(ConfigMaps, metadata, { immutable: true, binaryData: { [file.sha256]: file.gzip } })
}

function jobOf(request: JobRequest): Job {
  const annotations = { 'kvup.io/line': request.line.join(' ') }
  return object(Jobs, { ...named(request), annotations }, { spec: jobSpec(request) })
}

function jobSpec(request: JobRequest): JobSpec {
  return {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    // A week to read its log; the rights stay until somebody deletes them.
    ttlSecondsAfterFinished: 604_800,
    // A pod that is still ending has the lock: the next one begins when it is gone.
    podReplacementPolicy: 'Failed',
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [...retriedCodes] } },
      ],
    },
    template: podTemplate(request),
  }
}

const work = '/work'
const home = '/home/kvup'
const packed = '/packed'
const token = '/var/run/secrets/kubernetes.io/serviceaccount'

function podTemplate(request: JobRequest): PodTemplate {
  const mounts = [
    { name: 'work', mountPath: work },
    { name: 'home', mountPath: home },
    { name: 'tmp', mountPath: '/tmp' },
  ]
  const shared = {
    image: request.image,
    imagePullPolicy: 'IfNotPresent',
    workingDir: work,
    resources: {
      requests: { cpu: '100m', memory: '256Mi' },
      limits: { cpu: '1', memory: '1Gi' },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
  }
  const spec: PodSpec = {
    serviceAccountName: request.name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    // No user and no group is named: the image has one, and OpenShift's restricted-v2 chooses its own.
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    ...(request.files.length > 0 && {
      initContainers: [
        {
          name: 'files',
          ...shared,
          args: ['__unpack', '--from', packed, '--into', work, ...request.files.map(packedWord)],
          env: environment,
          volumeMounts: [...mounts, { name: 'files', mountPath: packed, readOnly: true }],
        },
      ],
    }),
    containers: [
      {
        name: 'kvup',
        ...shared,
        args: [...request.line],
        env: [...environment, ...podIdentity],
        volumeMounts: [...mounts, { name: 'token', mountPath: token, readOnly: true }],
      },
    ],
    volumes: [
      { name: 'work', emptyDir: {} },
      { name: 'home', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
      tokenVolume,
      ...(request.files.length > 0 ? [filesVolume(request)] : []),
    ],
  }
  return { metadata: { labels: labelsOf(request) }, spec }
}

const environment = [
  { name: 'HOME', value: home },
  { name: 'TMPDIR', value: '/tmp' },
]

const fieldOf = (name: string, fieldPath: string) => ({
  name,
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
})

/** Who holds the lock, as the cluster knows it. */
const podIdentity = [
  fieldOf('POD_NAME', 'metadata.name'),
  fieldOf('POD_NAMESPACE', 'metadata.namespace'),
  fieldOf('POD_UID', 'metadata.uid'),
]

/** As the kubelet mounts it by itself, but for an hour: kvup reads it again when it was renewed. */
const tokenVolume = {
  name: 'token',
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  },
}

function filesVolume(request: JobRequest) {
  const sources = distinct(request).map((file) => ({
    configMap: {
      name: configMapName(request, file),
      items: [{ key: file.sha256, path: file.sha256 }],
    },
  }))
  return { name: 'files', projected: { sources } }
}
