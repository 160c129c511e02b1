import type { KubeObject, Metadata } from '../object.ts'
import { withoutSecrets } from './without-secrets.ts'
import {
  jobWithoutSource,
  machineWithoutDisks,
  nodeWithoutImages,
  podWithoutMounts,
} from './trimmed-kinds.ts'
import {
  clusterVersionWithoutId,
  countWithoutUsers,
  csvWithoutTexts,
  operatorWithoutObjects,
  packageWithoutTexts,
  planWithoutManifests,
  topologyOnly,
} from './trimmed-platform.ts'

type Trim = (object: KubeObject) => KubeObject

const parts = (object: KubeObject) => object as unknown as Record<string, Record<string, unknown> | undefined>

const trims: Readonly<Record<string, Trim>> = {
  CustomResourceDefinition: withoutSchemas,
  ClusterRoleBinding: withoutPeople,
  RoleBinding: withoutPeople,
  Node: nodeWithoutImages,
  Pod: podWithoutMounts,
  VirtualMachine: machineWithoutDisks,
  VirtualMachineInstance: machineWithoutDisks,
  DataVolume: jobWithoutSource,
  VirtualMachineSnapshot: jobWithoutSource,
  VirtualMachineRestore: jobWithoutSource,
  VirtualMachineClone: jobWithoutSource,
  VirtualMachineExport: jobWithoutSource,
  VirtualMachineBackup: jobWithoutSource,
  APIRequestCount: countWithoutUsers,
  ClusterVersion: clusterVersionWithoutId,
  ClusterOperator: operatorWithoutObjects,
  Infrastructure: topologyOnly,
  ClusterServiceVersion: csvWithoutTexts,
  InstallPlan: planWithoutManifests,
  PackageManifest: packageWithoutTexts,
}

/** Of these it is judged who wrote what, and how large the last-applied annotation is. */
const judgedByManagers = new Set([
  'KubeVirt',
  'Deployment',
  'DaemonSet',
  'CustomResourceDefinition',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
])
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** What is kept of an object: all that is judged by, and nothing that could be a secret. Undefined: nothing at all. */
export function trimmed(object: KubeObject): KubeObject | undefined {
  if (object.kind === 'Secret' || isOfOthers(object)) return undefined
  const { kind } = object
  const kept = withoutSecrets({ ...object, metadata: trimmedMetadata(kind, object.metadata) })
  return Object.hasOwn(trims, kind) ? trims[kind]?.(kept) : kept
}

/** CRDs and APIServices of groups that no fact is about: there may be hundreds. */
function isOfOthers(object: KubeObject): boolean {
  const aboutGroups = object.kind === 'CustomResourceDefinition' || object.kind === 'APIService'
  return aboutGroups && !/(^|\.)kubevirt\.io$/.test(String(parts(object)['spec']?.['group']))
}

function trimmedMetadata(kind: string, metadata: Metadata): Metadata {
  const { managedFields, annotations, ...rest } = metadata
  const kept = Object.entries(annotations ?? {}).filter(
    ([key]) => key !== lastApplied || judgedByManagers.has(kind),
  )
  return {
    ...rest,
    ...(annotations && { annotations: Object.fromEntries(kept) }),
    ...(managedFields && judgedByManagers.has(kind) && { managedFields }),
  }
}

function withoutSchemas(object: KubeObject): KubeObject {
  const spec = parts(object)['spec'] ?? {}
  const { conversion: _, versions, ...rest } = spec
  const bare = (versions as Record<string, unknown>[] | undefined)?.map(
    ({ schema: _schema, ...version }) => version,
  )
  return { ...object, spec: { ...rest, ...(bare && { versions: bare }) } } as KubeObject
}

/** Users and their groups are nobody's business; ServiceAccounts are judged. */
function withoutPeople(object: KubeObject): KubeObject {
  const { subjects } = object as { subjects?: { kind: string; name: string }[] }
  const programs = subjects?.filter(
    ({ kind, name }) => kind === 'ServiceAccount' || (kind === 'Group' && name.startsWith('system:')),
  )
  return { ...object, ...(programs && { subjects: programs }) }
}
