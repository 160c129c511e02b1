import { groupOf } from '../../../lib/kube/object.ts'
import { byPriority } from '../kinds/custom-kinds.ts'
import type { Json } from '../json.ts'
import type { SimKind } from '../kinds/sim-kind.ts'
import type { Store } from '../store.ts'
import { type Answer, ok } from './exchange.ts'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** `/api`, `/apis` and what is below them; undefined for a path that is no discovery. */
export function discovery(store: Store, path: string, accept = ''): Answer | undefined {
  const [root, first, version, ...more] = path.split('/').filter(Boolean)
  if ((root !== 'api' && root !== 'apis') || more.length > 0) return undefined
  const isCore = root === 'api'
  if (first !== undefined && isCore) return version === undefined ? resources(store, '', first) : undefined
  if (first !== undefined && version !== undefined) return resources(store, first, version)
  if (first !== undefined) {
    const versions = store.kinds.groups().get(first)
    return versions && ok({ kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(first, versions) })
  }
  if (accept.includes('as=APIGroupDiscoveryList') && accept.includes('v=v2')) return aggregated(store, isCore)
  if (isCore) return ok({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })
  const named = [...store.kinds.groups()].filter(([name]) => name !== '')
  const groups = named.map(([name, versions]) => apiGroup(name, versions))
  return ok({ kind: 'APIGroupList', apiVersion: 'v1', groups })
}

function apiGroup(name: string, served: readonly string[]): Json {
  const versions = byPriority(served).map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

function resources(store: Store, name: string, version: string): Answer | undefined {
  const kinds = kindsOf(store, name, version)
  if (kinds.length === 0) return undefined
  const groupVersion = name === '' ? version : `${name}/${version}`
  const all = kinds.flatMap(({ plural, singular, namespaced, shortNames, categories, verbs, ...kind }) => {
    const others = subresourcesOf(kind).map(({ subresource, responseKind, verbs: own }) =>
      Object.assign(
        { name: `${plural}/${subresource}`, singularName: '', namespaced, verbs: own },
        responseKind,
      ),
    )
    const main = { name: plural, singularName: singular, namespaced, verbs, shortNames, categories }
    return [{ ...main, kind: kind.kind }, others].flat()
  })
  return ok({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: all })
}

const kindsOf = (store: Store, name: string, version: string): SimKind[] =>
  store.kinds.all().filter((kind) => groupOf(kind) === name && kind.versions.includes(version))

type Subresourced = Pick<SimKind, 'kind' | 'status' | 'subresources'>

function subresourcesOf({ kind, status, subresources }: Subresourced) {
  const own = { group: '', version: '', kind }
  const others = subresources.map((subresource) => ({
    subresource,
    responseKind: subresource === 'eviction' ? { group: 'policy', version: 'v1', kind: 'Eviction' } : own,
    verbs: subresource === 'log' ? ['get'] : subresource === 'eviction' ? ['create'] : ['update'],
  }))
  if (!status) return others
  return [{ subresource: 'status', responseKind: own, verbs: ['get', 'patch', 'update'] }, ...others]
}

function aggregated(store: Store, isCore: boolean): Answer {
  const chosen = [...store.kinds.groups()].filter(([name]) => (name === '') === isCore)
  const items = chosen.map(([group, versions]) => ({
    metadata: { name: group, creationTimestamp: null },
    versions: byPriority(versions).map((version) => ({
      version,
      freshness: 'Current',
      resources: kindsOf(store, group, version).map((kind) => ({
        resource: kind.plural,
        responseKind: { group, version, kind: kind.kind },
        scope: kind.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: kind.singular,
        verbs: kind.verbs,
        shortNames: kind.shortNames,
        categories: kind.categories,
        subresources: subresourcesOf(kind),
      })),
    })),
  }))
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
  return ok(list, aggregatedType)
}

/** Every field is allowed, and PATCH knows the parameters that kubectl looks for before it lets the server validate. */
export function openApi(store: Store, path: string): Answer | undefined {
  if (path === '/openapi/v2')
    return ok({ swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' }, paths: {}, definitions: {} })
  const groups = [...store.kinds.groups()].flatMap(([group, versions]) =>
    versions.map((version) => {
      const at = group === '' ? `api/${version}` : `apis/${group}/${version}`
      return { group, version, at, url: `/openapi/v3/${at}` }
    }),
  )
  if (path === '/openapi/v3')
    return ok({ paths: Object.fromEntries(groups.map(({ at, url }) => [at, { serverRelativeURL: url }])) })
  const found = groups.find(({ url }) => path === url)
  if (!found) return undefined
  const { group, version, at } = found
  const kinds = kindsOf(store, group, version)
  return ok({
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: Object.fromEntries(
      kinds.map(({ kind, namespaced, plural }) => [
        `/${at}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`,
        { patch: patchOf({ group, version, kind }) },
      ]),
    ),
    components: {
      schemas: Object.fromEntries(
        kinds.map(({ kind }) => [`${group}.${version}.${kind}`, schemaOf({ group, version, kind })]),
      ),
    },
  })
}

const patchOf = (kind: object): Json => ({
  parameters: ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  })),
  responses: { '200': { description: 'OK' } },
  'x-kubernetes-action': 'patch',
  'x-kubernetes-group-version-kind': kind,
})

const schemaOf = (kind: { group: string; version: string; kind: string }): Json => ({
  type: 'object',
  description: `${kind.kind} of the simulated cluster; fields are not described.`,
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-group-version-kind': [kind],
})
