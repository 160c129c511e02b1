import { groupOf } from '../../../cluster/kind.ts'
import { byPriority } from '../custom-kinds.ts'
import type { Json } from '../json.ts'
import type { SimKind } from '../sim-kind.ts'
import type { Store } from '../store.ts'
import { type Answer, ok } from './answer.ts'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** `/api`, `/apis` and what is below them; undefined for a path that is no discovery. */
export function discovery(store: Store, path: string, accept: string | undefined): Answer | undefined {
  const parts = path.split('/').filter(Boolean)
  const aggregated = accept?.includes('as=APIGroupDiscoveryList') === true && accept.includes('v=v2')
  const [root, group = '', version] = parts
  if (root === 'api' && parts.length === 1) return aggregated ? groupList(store, true) : ok(coreVersions())
  if (root === 'apis' && parts.length === 1) return aggregated ? groupList(store, false) : ok(groups(store))
  if (root === 'api' && parts.length === 2) return resources(store, '', group)
  if (root === 'apis' && parts.length === 2) return oneGroup(store, group)
  return root === 'apis' && parts.length === 3 ? resources(store, group, version ?? '') : undefined
}

function coreVersions(): Json {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
}

function groups(store: Store): Json {
  const named = [...store.kinds.groups()].filter(([name]) => name !== '')
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: named.map(([name, versions]) => group(name, versions)),
  }
}

function group(name: string, served: readonly string[]): Json {
  const versions = byPriority(served).map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

function oneGroup(store: Store, name: string): Answer | undefined {
  const versions = store.kinds.groups().get(name)
  return versions && ok({ kind: 'APIGroup', apiVersion: 'v1', ...group(name, versions) })
}

function resources(store: Store, name: string, version: string): Answer | undefined {
  const kinds = kindsOf(store, name, version)
  if (kinds.length === 0) return undefined
  const groupVersion = name === '' ? version : `${name}/${version}`
  return ok({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: kinds.flatMap((k) => entries(k)),
  })
}

function kindsOf(store: Store, name: string, version: string): SimKind[] {
  return store.kinds.all().filter((kind) => groupOf(kind) === name && kind.versions.includes(version))
}

function entries(kind: SimKind): Json[] {
  const { plural, singular, namespaced, shortNames, categories, verbs } = kind
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs,
    shortNames,
    categories,
  }
  return [
    main,
    ...subresourcesOf(kind).map((sub) => ({
      name: `${plural}/${sub.subresource}`,
      singularName: '',
      namespaced,
      ...(sub.responseKind.group === '' ? { kind: sub.responseKind.kind } : sub.responseKind),
      verbs: sub.verbs,
    })),
  ]
}

interface Sub {
  readonly subresource: string
  readonly responseKind: { group: string; version: string; kind: string }
  readonly verbs: readonly string[]
}

function subresourcesOf(kind: SimKind): Sub[] {
  const own = { group: '', version: '', kind: kind.kind }
  const status = kind.status
    ? [{ subresource: 'status', responseKind: own, verbs: ['get', 'patch', 'update'] }]
    : []
  const others = kind.subresources.map((subresource) => ({
    subresource,
    responseKind: subresource === 'eviction' ? { group: 'policy', version: 'v1', kind: 'Eviction' } : own,
    verbs: subresource === 'log' ? ['get'] : subresource === 'eviction' ? ['create'] : ['update'],
  }))
  return [...status, ...others]
}

function groupList(store: Store, core: boolean): Answer {
  const chosen = [...store.kinds.groups()].filter(([name]) => (name === '') === core)
  const items = chosen.map(([name, versions]) => ({
    metadata: { name, creationTimestamp: null },
    versions: byPriority(versions).map((version) => ({
      version,
      freshness: 'Current',
      resources: kindsOf(store, name, version).map((kind) => aggregatedResource(kind, name, version)),
    })),
  }))
  return ok(
    { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items },
    aggregatedType,
  )
}

function aggregatedResource(kind: SimKind, group: string, version: string): Json {
  return {
    resource: kind.plural,
    responseKind: { group, version, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    shortNames: kind.shortNames,
    categories: kind.categories,
    subresources: subresourcesOf(kind),
  }
}
