import { valueAt } from '../../cluster/apply/field-path.ts'
import type { DeepPartial, Ref } from '../../cluster/cluster.ts'
import { groupOf, type Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { Owner } from '../update-methods.ts'

/** The object that holds the settings of workload updates, whatever else is in it. */
type Holding = KubeObject & { spec?: unknown }

/**
 * Where the settings of workload updates and migrations are written so that they last: the KubeVirt CR, or the HyperConverged that
 * overwrites it (hco 5). Found by `findSettingsOwner`.
 */
export interface SettingsOwner {
  /** Under the version that is stored: a write through another one may turn `[]` into `[LiveMigrate]`. */
  kind: Kind<Holding>
  ref: Ref & { namespace: string }
  uid: string
  /** Fields on the way to workloadUpdateMethods, batchEvictionSize and batchEvictionInterval. */
  strategy: readonly string[]
  /** Fields on the way to the limits and timeouts of migrations. */
  migrations: readonly string[]
  /** The CR that takes effect; for a plain KubeVirt it is the owner itself. */
  kubevirt: Owner
  /** Ids of the risks that were accepted for writing it: `csv-not-succeeded`. */
  accepted?: readonly string[]
}

/** The fields of the KubeVirt CR, whoever owns it. */
export const kubeVirtFields = {
  strategy: ['spec', 'workloadUpdateStrategy'],
  migrations: ['spec', 'configuration', 'migrations'],
} as const

/** A KubeVirt that nobody overwrites. */
export function onKubeVirt(kubevirt: Owner): SettingsOwner {
  const { kind, ref, uid } = kubevirt
  return { kind, ref, uid, ...kubeVirtFields, kubevirt }
}

/** Somebody else than the KubeVirt CR itself: what is written has to be passed on to it. */
export function passesOn({ kind, kubevirt }: SettingsOwner): boolean {
  return kind.kind !== kubevirt.kind.kind
}

/** Null and absent read as empty: only HyperConverged defaults them, and its server does so before anybody reads. */
export function methodsIn(
  object: KubeObject,
  { strategy }: Pick<SettingsOwner, 'strategy'>,
): readonly string[] {
  const methods = valueAt(object, [...strategy, 'workloadUpdateMethods'])
  return Array.isArray(methods) ? methods.map(String) : []
}

/** JSON pointer of the methods, for the journal. */
export function methodsPointer({ strategy }: Pick<SettingsOwner, 'strategy'>): string {
  return `/${[...strategy, 'workloadUpdateMethods'].join('/')}`
}

type Fields = Readonly<Record<string, unknown>>

/** A merge patch of the fields below each path and of some annotations, refused when somebody else wrote first. A path without fields is left out. */
export function patchAt(
  places: readonly (readonly [path: readonly string[], fields: Fields])[],
  { metadata }: KubeObject,
  annotations: Readonly<Record<string, string | null>> = {},
): DeepPartial<Holding> {
  const patch: Record<string, unknown> = {
    metadata: {
      resourceVersion: metadata.resourceVersion ?? '',
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
  }
  for (const [path, fields] of places)
    if (Object.keys(fields).length > 0) Object.assign(reach(patch, path), fields)
  return patch
}

/** The object at the end of the path, made where it is missing. */
function reach(from: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  return path.reduce((at, name) => {
    const below = (at[name] ?? {}) as Record<string, unknown>
    at[name] = below
    return below
  }, from)
}

/** Command that shows who writes which field of it; the version is named, for an unversioned read is of the preferred one. */
export function showsWriters({
  kind,
  ref: { name, namespace },
}: Pick<SettingsOwner, 'kind' | 'ref'>): string {
  const version = kind.apiVersion.split('/').at(-1)
  const resource = kind.kind === 'KubeVirt' ? kind.plural : `${kind.plural}.${version}.${groupOf(kind)}`
  return `kubectl -n ${namespace} get ${resource} ${name} -o yaml --show-managed-fields`
}
