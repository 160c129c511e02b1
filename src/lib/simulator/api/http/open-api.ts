import { groupOf } from '../../../cluster/kind.ts'
import type { Json } from '../json.ts'
import type { SimKind } from '../sim-kind.ts'
import type { Store } from '../store.ts'
import { type Answer, ok } from './answer.ts'

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

function groupPaths(store: Store): string[] {
  return [...store.kinds.groups()].flatMap(([group, versions]) =>
    versions.map((version) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
  )
}

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

function scoped({ namespaced }: SimKind): string {
  return namespaced ? 'namespaces/{namespace}/' : ''
}

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

function schemaOf(kind: SimKind, group: string, version: string): Json {
  return {
    type: 'object',
    description: `${kind.kind} of the simulated cluster; fields are not described.`,
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }],
  }
}
