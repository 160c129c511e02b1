import { groupOf } from '../../../lib/kube/object.ts'
import { byPriority } from '../kinds/custom-kinds.ts'
import type { Json } from '../json.ts'
import type { SimKind } from '../kinds/sim-kind.ts'
import type { Store } from '../store.ts'
import { type Answer, ok } from './exchange.ts'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** `/api`, `/apis` and what is below them; undefined for a path that is no discovery. */
export function discovery(store: Store, path: string, accept: string | undefined): Answer | undefined {
  const [root, ...rest] = path.split('/').filter(Boolean)
  if (rest.length === 0) return roots(store, root, accept)
  const [first = '', version] = rest
  if (root === 'api' && version === undefined) return resources(store, '', first)
  if (root !== 'apis' || rest.length > 2) return undefined
  return version === undefined ? oneGroup(store, first) : resources(store, first, version)
}

function roots(store: Store, root: string | undefined, accept = ''): Answer | undefined {
  if (root !== 'api' && root !== 'apis') return undefined
  if (accept.includes('as=APIGroupDiscoveryList') && accept.includes('v=v2'))
    return groupList(store, root === 'api')
  return ok(root === 'api' ? coreVersions() : groups(store))
}

const coreVersions = (): Json => ({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })

function groups(store: Store): Json {
  const named = [...store.kinds.groups()].filter(([name]) => name !== '')
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: named.map(([name, versions]) => apiGroup(name, versions)),
  }
}

function apiGroup(name: string, served: readonly string[]): Json {
  const versions = byPriority(served).map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

function oneGroup(store: Store, name: string): Answer | undefined {
  const versions = store.kinds.groups().get(name)
  return versions && ok({ kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(name, versions) })
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

const kindsOf = (store: Store, name: string, version: string): SimKind[] =>
  store.kinds.all().filter((kind) => groupOf(kind) === name && kind.versions.includes(version))

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
      kind: sub.responseKind.kind,
      group: sub.responseKind.group,
      version: sub.responseKind.version,
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

const aggregatedResource = (kind: SimKind, group: string, version: string): Json => ({
  resource: kind.plural,
  responseKind: { group, version, kind: kind.kind },
  scope: kind.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: kind.singular,
  verbs: kind.verbs,
  shortNames: kind.shortNames,
  categories: kind.categories,
  subresources: subresourcesOf(kind),
})

/** Stubs: every field is allowed, and PATCH knows the parameters that kubectl looks for before it lets the server validate. */
export function openApi(store: Store, path: string): Answer | undefined {
  if (path === '/openapi/v2')
    return ok({ swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' }, paths: {}, definitions: {} })
  if (path === '/openapi/v3')
    return ok({
      paths: Object.fromEntries(groupPaths(store).map((p) => [p, { serverRelativeURL: `/openapi/v3/${p}` }])),
    })
  const found = groupPaths(store).find((p) => path === `/openapi/v3/${p}`)
  return found === undefined ? undefined : ok(document(store, found))
}

const groupPaths = (store: Store): string[] =>
  [...store.kinds.groups()].flatMap(([group, versions]) =>
    versions.map((version) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
  )

function document(store: Store, path: string): Json {
  const [, group = '', version = ''] = /^apis?\/(?:([^/]+)\/)?([^/]+)$/.exec(path) ?? []
  const kinds = store.kinds.all().filter((k) => groupOf(k) === group && k.versions.includes(version))
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: Object.fromEntries(
      kinds.map((kind) => [`/${path}/${scoped(kind)}${kind.plural}/{name}`, patchOf(kind, group, version)]),
    ),
    components: {
      schemas: Object.fromEntries(
        kinds.map((kind) => [`${group}.${version}.${kind.kind}`, schemaOf(kind, group, version)]),
      ),
    },
  }
}

const scoped = ({ namespaced }: SimKind): string => (namespaced ? 'namespaces/{namespace}/' : '')

function patchOf(kind: SimKind, group: string, version: string): Json {
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const responses = { '200': { description: 'OK' } }
  return {
    patch: {
      parameters,
      responses,
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
    },
  }
}

const schemaOf = (kind: SimKind, group: string, version: string): Json => ({
  type: 'object',
  description: `${kind.kind} of the simulated cluster; fields are not described.`,
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }],
})
