import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../../lib/kube/kinds/extension-kinds.ts'
import { groupOf, type Kind, type KubeObject } from '../../../lib/kube/object.ts'
import { at, items, type Json, text, words } from '../json.ts'
import { allVerbs, atomicLists, type ListKeys, type SimKind, versionOf } from './sim-kind.ts'
import { agePath, definedColumns, pathColumns } from './printer-columns.ts'
import { timestamp } from '../object-lifecycle.ts'
import type { Store } from '../store.ts'

/** Serves what a CustomResourceDefinition describes from the moment it is there. */
export function serveDefinition(store: Store, definition: KubeObject): void {
  const kind = definition.kind === 'CustomResourceDefinition' ? customKind(definition, store) : undefined
  if (!kind) return
  store.kinds.add(kind)
  establish(store, definition)
}

/** Its objects go with a CustomResourceDefinition, and then the kind is served no longer. */
export function unserveDefinition(store: Store, definition: KubeObject): void {
  const kind = customKind(definition, store)
  if (!kind) return
  for (const { metadata } of store.list(kind).items) store.remove(kind, metadata)
  store.kinds.remove(kind)
}

/** The schema of whatever a resource holds. */
export const anything = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }

/** The CustomResourceDefinition of a kind, which is stored in the version that it has, of whatever a resource holds. Default: that version alone, with a status of its own. */
export function definitionOf(
  { apiVersion, kind, plural, namespaced }: Kind,
  { versions = [versionOf(apiVersion)], status = true, names = {}, conversion }: DefinitionMore = {},
): CustomResourceDefinition {
  const group = groupOf({ apiVersion })
  return {
    apiVersion: CustomResourceDefinitions.apiVersion,
    kind: CustomResourceDefinitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      ...(conversion !== undefined && { conversion: { strategy: conversion } }),
      names: { kind, plural, singular: kind.toLowerCase(), ...names },
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === versionOf(apiVersion),
        schema: anything,
        ...(status && { subresources: { status: {} } }),
      })),
    },
  }
}

interface DefinitionMore {
  versions?: readonly string[]
  status?: boolean
  names?: object
  conversion?: string
}

/** The kind of a definition; undefined where the definition has no version that is served. */
function customKind(definition: KubeObject, store: Store): SimKind | undefined {
  const versions = items(definition, 'spec', 'versions').filter((v) => v['served'] === true)
  const stored = versions.find((v) => v['storage'] === true) ?? versions[0]
  if (!stored) return undefined
  const names = at(definition, 'spec', 'names')
  const apiVersion = `${text(definition, 'spec', 'group')}/${text(stored, 'name')}`
  const plural = text(names, 'plural') ?? ''
  const known = store.kinds.inAnyVersion({ apiVersion, plural })
  // What no definition says.
  const { subresources = [], versioningBy } = known ?? {}
  const versioning = versioningBy?.(definition) ?? known?.versioning
  const status = at(stored, 'subresources', 'status') !== undefined
  const kind = text(names, 'kind') ?? ''
  return {
    apiVersion,
    plural,
    kind,
    status,
    namespaced: text(definition, 'spec', 'scope') !== 'Cluster',
    singular: text(names, 'singular') ?? kind.toLowerCase(),
    shortNames: words(names, 'shortNames'),
    categories: words(names, 'categories'),
    verbs: allVerbs,
    versions: byPriority(versions.map((v) => text(v, 'name') ?? '')),
    subresources,
    selectable: [],
    ...(versioning && { versioning }),
    ...(versioningBy && { versioningBy }),
    generation: status ? 'spec' : 'object',
    builtIn: false,
    columns: columnsOf(stored, known),
    listKeys: schemaLists(at(stored, 'schema', 'openAPIV3Schema')),
  }
}

function columnsOf(version: Json, known: SimKind | undefined): SimKind['columns'] {
  const columns = definedColumns(items(version, 'additionalPrinterColumns'))
  return columns.length > 0 ? [...pathColumns({}), ...columns] : (known?.columns ?? pathColumns(agePath))
}

/** The order of discovery: v2 before v1, v1 before v1beta1 before v1alpha3. */
export const byPriority = (versions: readonly string[]): string[] =>
  [...versions].sort((a, b) => priority(b) - priority(a))

function priority(version: string): number {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  const level = stage === undefined ? 2 : stage === 'beta' ? 1 : 0
  return level * 1e6 + Number(major ?? 0) * 1e3 + Number(minor ?? 0)
}

const schemaLists =
  (schema: unknown): ListKeys =>
  (path) => {
    let found = schema
    for (const step of path) {
      if (text(found, 'type') === 'array') found = at(found, 'items')
      found = at(found, 'properties', step) ?? at(found, 'additionalProperties')
    }
    const type = text(found, 'x-kubernetes-list-type')
    if (type === 'set') return 'set'
    const keys = words(found, 'x-kubernetes-list-map-keys')
    return type === 'map' && keys.length > 0 ? keys : atomicLists(path)
  }

const accepted = 'the initial names have been accepted'

function establish(store: Store, definition: KubeObject): void {
  if (items(definition, 'status', 'conditions').some((c) => c['type'] === 'Established')) return
  const since = { status: 'True', lastTransitionTime: timestamp(store.clock.now()) }
  const status: Json = {
    conditions: [
      { ...since, type: 'NamesAccepted', reason: 'NoConflicts', message: 'no conflicts found' },
      { ...since, type: 'Established', reason: 'InitialNamesAccepted', message: accepted },
    ],
    acceptedNames: at(definition, 'spec', 'names'),
  }
  store.patch(
    CustomResourceDefinitions,
    definition.metadata,
    { type: 'merge', body: { status } },
    { manager: 'kube-apiserver', on: 'status' },
  )
}
