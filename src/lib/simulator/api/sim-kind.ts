import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { ListKeys } from './list-keys.ts'
import type { FieldError } from './refusal.ts'

/** A column of `kubectl get`; the server renders it. Priority 1 is shown by `-o wide` only. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date' | 'number'
  readonly priority?: number
  cell(object: KubeObject, at: Date): string | number | boolean
}

/**
 * What counts as a change of the spec: `spec`; for Deployments their annotations as well; for custom kinds without a
 * status subresource (VirtualMachineInstance) everything but metadata, status included.
 */
type Generation = 'none' | 'spec' | 'spec-and-annotations' | 'object'

/** A kind as the server knows it. `apiVersion` is the version it is stored in. */
export interface SimKind extends Kind {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  /** Versions of the group that are served, the preferred one first. */
  readonly versions: readonly string[]
  /** Whether `status` is written by its own subresource only. */
  readonly status: boolean
  /** Others: `restart`, `eviction`, `log`. */
  readonly subresources: readonly string[]
  readonly generation: Generation
  /** Strategic merge patches are for built-in kinds only. */
  readonly builtIn: boolean
  readonly columns: readonly Column[]
  readonly listKeys: ListKeys
  /** Fills in what the server defaults; works on its own copy. */
  readonly defaults?: (object: KubeObject) => void
  /** Absent where nothing but the name of the version differs. */
  readonly versioning?: Versioning
  /** Where `versioning` follows the definition: what it is from when on that is written. */
  readonly versioningBy?: (definition: KubeObject) => Versioning
  readonly validate?: (object: KubeObject, before: KubeObject | undefined) => readonly FieldError[]
}

/** How a kind is told in several versions that differ in more than their name. */
interface Versioning {
  /** As it reads in that version: converted and pruned. */
  read(stored: KubeObject, apiVersion: string): KubeObject
  /** As it is stored when it is written in that version: defaulted and pruned by it, and then by the stored one. */
  accept(given: KubeObject, apiVersion: string): KubeObject
}

export const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const
