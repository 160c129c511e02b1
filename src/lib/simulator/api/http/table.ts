import type { KubeObject } from '../../../cluster/object.ts'
import type { Json } from '../json.ts'
import type { SimKind } from '../sim-kind.ts'

/** How the client wants objects: whole, as rows of a Table, or their metadata only. */
export type Form = 'object' | 'table' | 'metadata'

export function formOf(accept: string | undefined): Form {
  const first = (accept ?? '').split(',').find((part) => part.includes('as=') || part.includes('json')) ?? ''
  if (first.includes('as=Table')) return 'table'
  return first.includes('as=PartialObjectMetadata') ? 'metadata' : 'object'
}

interface TableOptions {
  readonly at: Date
  /** `includeObject`: what each row carries of its object. */
  readonly include: string
  readonly metadata: Json
  /** A watch sends them once. */
  readonly headless?: boolean
}

/** `meta.k8s.io/v1` Table with the kind's printer columns. */
export function tableOf(kind: SimKind, objects: readonly KubeObject[], options: TableOptions): Json {
  const columnDefinitions = kind.columns.map(({ name, type, priority = 0 }) => ({
    name,
    type,
    format: name === 'Name' ? 'name' : '',
    description: name,
    priority,
  }))
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.headless === true ? null : columnDefinitions,
    rows: objects.map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, options.at)),
      object: carried(object, options.include),
    })),
  }
}

function carried(object: KubeObject, include: string): object | null {
  if (include === 'None') return null
  return include === 'Object' ? object : metadataOf(object)
}

export function metadataOf({ metadata }: KubeObject): Json {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
}
