import type { CustomResourceDefinition } from '../../cluster/kinds/extension.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { copy, isJson, type Json } from '../api/json.ts'
import { versionOf } from '../api/kind-registry.ts'
import type { SimKind } from '../api/sim-kind.ts'

/** Releases of HyperConverged by how they keep their CR (hco 2): one version, v1 served as well, v1 stored. */
export interface HyperConvergedShape {
  stored: 'v1beta1' | 'v1'
  served: readonly ('v1beta1' | 'v1')[]
  /** `None` is what the CRD file brings; hco-webhook puts the other in (hco 8). */
  conversion: 'None' | 'Webhook'
}

const strategy: Json = {
  batchEvictionInterval: '1m0s',
  batchEvictionSize: 10,
  workloadUpdateMethods: ['LiveMigrate'],
}
const migrations: Json = {
  allowAutoConverge: false,
  allowPostCopy: false,
  completionTimeoutPerGiB: 150,
  parallelMigrationsPerCluster: 5,
  parallelOutboundMigrationsPerNode: 2,
  progressTimeout: 150,
}
const defaults: Json = { workloadUpdateStrategy: strategy, liveMigrationConfig: migrations }

/** What v1beta1 has at the top of the spec and v1 below `virtualization`. */
const moved = ['workloadUpdateStrategy', 'liveMigrationConfig', 'evictionStrategy']
const onlyV1 = ['virtualization', 'deployment', 'security']

/**
 * Reads and writes as the real API server does with the real CRDs (hco 11): what is written is defaulted by the version
 * that it is written in, and null is as good as absent; without conversion the fields of the other version are pruned.
 */
export function versioningOf({
  stored,
  conversion,
}: HyperConvergedShape): NonNullable<SimKind['versioning']> {
  const convert = (object: KubeObject, apiVersion: string): KubeObject => {
    if (versionOf(object.apiVersion) === versionOf(apiVersion)) return object
    const changed = copy({ ...object, apiVersion }) as Specified
    if (conversion === 'Webhook') changed.spec = movedTo(versionOf(apiVersion), changed.spec ?? {})
    return pruned(changed)
  }
  return {
    read: convert,
    accept(given, apiVersion) {
      const asked = defaulted(pruned(copy({ ...given, apiVersion })))
      return defaulted(convert(asked, `hco.kubevirt.io/${stored}`))
    },
  }
}

/** As the definition that is there now says it. */
export function shapeOf({ spec = {} }: CustomResourceDefinition): HyperConvergedShape {
  const { versions = [], conversion } = spec
  const served = versions.filter((version) => version.served === true).map(({ name }) => known(name))
  const stored = known(versions.find(({ storage }) => storage === true)?.name ?? '')
  return { stored, served, conversion: conversion?.strategy === 'Webhook' ? 'Webhook' : 'None' }
}

const known = (name: string): 'v1' | 'v1beta1' => (name === 'v1' ? 'v1' : 'v1beta1')

type Specified = KubeObject & { spec?: Json }

function pruned(object: Specified): Specified {
  const unknown = versionOf(object.apiVersion) === 'v1' ? moved : onlyV1
  const fields = Object.entries(object.spec ?? {}).filter(([name]) => !unknown.includes(name))
  return { ...object, spec: Object.fromEntries(fields) }
}

function defaulted(object: Specified): Specified {
  const { spec = {} } = object
  if (versionOf(object.apiVersion) === 'v1beta1') return { ...object, spec: filled(spec, defaults) }
  const virtualization = isJson(spec['virtualization']) ? spec['virtualization'] : {}
  return { ...object, spec: { ...spec, virtualization: filled(virtualization, defaults) } }
}

/** Fields with a default take no null. */
function filled(object: Json, from: Json): Json {
  const result = { ...object }
  for (const [name, value] of Object.entries(from)) {
    const given = result[name]
    if (isJson(value) && isJson(given)) result[name] = filled(given, value)
    else if (given === undefined || given === null) result[name] = copy(value)
  }
  return result
}

function movedTo(version: string, spec: Json): Json {
  const { virtualization, ...top } = spec
  const below = isJson(virtualization) ? virtualization : {}
  if (version === 'v1beta1') return { ...top, ...below }
  const rest = Object.entries(top).filter(([name]) => !moved.includes(name))
  const taken = Object.entries(top).filter(([name]) => moved.includes(name))
  return { ...Object.fromEntries(rest), virtualization: { ...below, ...Object.fromEntries(taken) } }
}
