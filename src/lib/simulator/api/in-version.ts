import type { KubeObject } from '../../cluster/object.ts'
import { asVersion } from './object-table.ts'
import type { SimKind } from './sim-kind.ts'

/** The object as it reads in the version that was asked for. */
export function told({ versioning }: SimKind, object: KubeObject, apiVersion: string): KubeObject {
  return versioning ? versioning.read(object, apiVersion) : asVersion(object, apiVersion)
}

/** What is written, as it is to be stored. */
export function accepted({ versioning }: SimKind, given: KubeObject, apiVersion: string): KubeObject {
  return versioning ? versioning.accept(given, apiVersion) : given
}

/** What was stored while another version was the stored one, as it is stored from now on. */
export function inStoredVersion<T extends KubeObject | undefined>(kind: SimKind, object: T): T | KubeObject {
  return object === undefined ? object : told(kind, object, kind.apiVersion)
}
