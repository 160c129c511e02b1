import type { Ref, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'

/** `/apis/apps/v1/namespaces/x/deployments/y`, without a name the collection, without a namespace all of them. */
export function objectPath(kind: Kind, { namespace, name }: Partial<Ref>, subresource?: string): string {
  const root = kind.apiVersion.includes('/') ? 'apis' : 'api'
  const scope = kind.namespaced && namespace ? ['namespaces', namespace] : []
  if (kind.namespaced && name && scope.length === 0)
    throw new Error(`${kind.plural} ${name}: which namespace?`)
  const parts = [...scope, kind.plural, name ?? '', ...(subresource ?? '').split('/')].filter(
    (part) => part !== '',
  )
  return ['', root, kind.apiVersion, ...parts.map(encodeURIComponent)].join('/')
}

export type Query = Readonly<Record<string, string | undefined>>

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export function selectors({ name, labels, fields }: Where): Query {
  const byName = name === undefined ? undefined : `metadata.name=${name}`
  const all = [byName, fields].filter((each) => each !== undefined && each !== '').join(',')
  return { labelSelector: labels || undefined, fieldSelector: all || undefined }
}
