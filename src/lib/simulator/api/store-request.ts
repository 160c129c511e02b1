import type { KubeObject } from '../../cluster/object.ts'
import type { SimKind } from './sim-kind.ts'

/** What a write carries besides the object. */
export interface Write {
  /** Field manager. */
  readonly manager?: string | undefined
  readonly on?: 'status' | undefined
  readonly dryRun?: boolean | undefined
  readonly user?: string | undefined
}

export interface Removal extends Write {
  readonly only?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined
  /** Dependents stay. */
  readonly orphan?: boolean | undefined
  /** Pods are not Terminating first. */
  readonly now?: boolean | undefined
}

export interface Listing {
  readonly namespace?: string | undefined
  readonly labels?: string | undefined
  readonly fields?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
}

/** What an admission hook is asked. It throws a Refusal to refuse. */
export interface Admission {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly kind: SimKind
  readonly object: KubeObject
  readonly before: KubeObject | undefined
  readonly write: Write
}
