import * as kube from '../kinds.ts'
import { atVersion, type KubeObject } from '../../lib/kube/object.ts'
import { at, copy, isJson, type Json } from '../api/json.ts'
import { custom, type SimKind, versionOf } from '../api/kinds/sim-kind.ts'
import { byPriority, definitionOf } from '../api/kinds/custom-kinds.ts'

/** Names that HyperConverged gives (ocp 1.1, 1.6). */
export const names = {
  hyperconverged: 'kubevirt-hyperconverged',
  kubevirt: 'kubevirt-kubevirt-hyperconverged',
  definition: 'hyperconvergeds.hco.kubevirt.io',
} as const

/** Of the pods of its operators: the label `name` (ocp 1.1). */
export const podNames = {
  operator: 'hyperconverged-cluster-operator',
  webhook: 'hyperconverged-cluster-webhook',
} as const

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
function versioningOf({ stored, conversion }: HyperConvergedShape): NonNullable<SimKind['versioning']> {
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
export function shapeOf({ spec = {} }: kube.CustomResourceDefinition): HyperConvergedShape {
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

const name = names.hyperconverged
const shortNames = ['hco', 'hcos']
const uid = 'c0ffee00-0000-4000-8000-000000000001'

/** Has to be there before the CRD, which knows nothing of what its versions default. */
export const hyperConvergedKind = (shape: HyperConvergedShape): SimKind =>
  custom(atVersion(kube.HyperConvergeds, shape.stored), {
    shortNames,
    versions: byPriority(shape.served),
    versioning: versioningOf(shape),
    versioningBy: (definition) => versioningOf(shapeOf(definition)),
  })

/** The one object, as stored. What the strategy does not say the server defaults. */
export function hyperConvergedObject(
  shape: HyperConvergedShape,
  { namespace, strategy: chosen }: { namespace: string; strategy: object },
): KubeObject {
  const apiVersion = `hco.kubevirt.io/${shape.stored}`
  const given = { workloadUpdateStrategy: chosen }
  const hyperconverged: KubeObject & { spec: object } = {
    apiVersion,
    kind: kube.HyperConvergeds.kind,
    metadata: { name, namespace, uid },
    spec: shape.stored === 'v1' ? { virtualization: given } : given,
  }
  return versioningOf(shape).accept(hyperconverged, apiVersion)
}

/** As its operator marks what it base. */
export function ownedByHyperConverged(
  kubevirt: kube.KubeVirt,
  { stored }: HyperConvergedShape,
): kube.KubeVirt {
  const apiVersion = `hco.kubevirt.io/${stored}`
  const owner = {
    apiVersion,
    kind: kube.HyperConvergeds.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  const labels = { ...kubevirt.metadata.labels, 'app.kubernetes.io/managed-by': 'hco-operator' }
  return {
    ...kubevirt,
    metadata: { ...kubevirt.metadata, name: names.kubevirt, labels, ownerReferences: [owner] },
  }
}

/** The CRD of HyperConverged, as a release keeps it. */
export function hyperConvergedDefinition({
  stored,
  served,
  conversion,
}: HyperConvergedShape): kube.CustomResourceDefinition {
  const kind = atVersion(kube.HyperConvergeds, stored)
  return definitionOf(kind, {
    versions: served,
    names: { listKind: 'HyperConvergedList', shortNames },
    conversion,
  })
}

/** What a HyperConverged says of VMs, wherever its version has it (hco 2). */
export const virtualizationOf = ({ apiVersion, spec = {} }: kube.HyperConverged): Json =>
  versionOf(apiVersion) === 'v1' ? jsonOf(spec['virtualization']) : { ...spec }

/** How VMs follow, as it is passed on to KubeVirt: an empty list of methods as none at all (hco 5). */
export function passedOn(hyperconverged: kube.HyperConverged): {
  workloadUpdateStrategy: Json
  migrations: Json
} {
  const from = virtualizationOf(hyperconverged)
  const { workloadUpdateMethods, ...batches } = jsonOf(from['workloadUpdateStrategy'])
  const empty = !Array.isArray(workloadUpdateMethods) || workloadUpdateMethods.length === 0
  return {
    workloadUpdateStrategy: { ...batches, ...(empty ? {} : { workloadUpdateMethods }) },
    migrations: jsonOf(from['liveMigrationConfig']),
  }
}

const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})

/**
 * What a release makes of the spec that an older one left (ocp 1.2): from 1.19 on a completionTimeoutPerGiB of 150, which was the
 * default, becomes 20. The spec is in the version that is stored.
 */
export function patchedForUpgrade(spec: Json, from: string, to: string): Json {
  if (upstreamMinor(to) < 19 || upstreamMinor(from) >= 19) return spec
  const below = isJson(spec['virtualization']) ? ['virtualization'] : []
  const path = [...below, 'liveMigrationConfig', 'completionTimeoutPerGiB']
  return at(spec, ...path) === 150 ? withValue(spec, path, 20) : spec
}

/** OpenShift's 4.y is upstream's 1.(y-4); 5.0 follows 4.23. */
export function upstreamMinor(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 5) return 20 + minor
  return major === 4 ? minor - 4 : minor
}

function withValue(object: Json, [first = '', ...rest]: readonly string[], value: unknown): Json {
  const inner = object[first]
  return {
    ...object,
    [first]: rest.length === 0 ? value : withValue(isJson(inner) ? inner : {}, rest, value),
  }
}
