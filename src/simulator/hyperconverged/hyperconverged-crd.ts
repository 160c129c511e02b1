import * as kube from '../kinds.ts'
import { atVersion, type KubeObject } from '../../lib/kube/object.ts'
import { at, copy, isJson, type Json } from '../api/json.ts'
import { custom, type SimKind, versionOf } from '../api/kinds/sim-kind.ts'
import { byPriority, definitionOf } from '../api/kinds/custom-kinds.ts'
import table from './hyperconverged-crds.json' with { type: 'json' }

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
  stored: Version
  served: readonly Version[]
  /** `None` is what the CRD file brings; hco-webhook puts the other in (hco 8). */
  conversion: 'None' | 'Webhook'
}

type Version = 'v1beta1' | 'v1'

/** Names of fields apart by blanks; of those with fields of their own a member. */
type Fields = string | { readonly [name: string]: Fields }

interface Schema {
  readonly fields: Fields
  /** Of stanzas at the top of the spec of v1beta1, below `virtualization` in v1. */
  readonly defaults: Json
}

const crds: Readonly<Record<string, Partial<Record<Version, Schema>>>> = table

function schemasOf({ stored, served }: HyperConvergedShape): Partial<Record<Version, Schema>> {
  const how = served.length === 1 ? 'v1beta1 alone' : `${stored} stored`
  return crds[how] ?? {}
}

/**
 * Reads and writes as the real API server does with the real CRDs (hco 11): what is written is defaulted by the version
 * that it is written in, and null is as good as absent; what that version does not know is pruned, without conversion the fields of the other one too.
 */
function versioningOf(shape: HyperConvergedShape): NonNullable<SimKind['versioning']> {
  const schemas = schemasOf(shape)
  const schemaOf = ({ apiVersion }: KubeObject) => schemas[known(versionOf(apiVersion))]
  const prune = (object: Specified): Specified => {
    const { fields } = schemaOf(object) ?? {}
    return fields === undefined ? object : { ...object, spec: pruned(object.spec ?? {}, fields) as Json }
  }
  const fill = (object: Specified): Specified => {
    const { defaults = {} } = schemaOf(object) ?? {}
    const isBelow = versionOf(object.apiVersion) === 'v1'
    return { ...object, spec: filled(object.spec ?? {}, isBelow ? { virtualization: defaults } : defaults) }
  }
  const convert = (object: Specified, apiVersion: string): Specified => {
    if (versionOf(object.apiVersion) === versionOf(apiVersion)) return object
    const { spec = {} } = copy(object)
    const isConverted = shape.conversion === 'Webhook'
    const moved = isConverted ? movedTo(versionOf(apiVersion), spec, schemas.v1?.fields ?? {}) : spec
    return prune({ ...object, apiVersion, spec: moved })
  }
  return {
    read: convert,
    accept: (given, apiVersion) =>
      fill(convert(fill(prune(copy({ ...given, apiVersion }))), `hco.kubevirt.io/${shape.stored}`)),
  }
}

/** As the definition that is there now says it. */
export function shapeOf({ spec = {} }: kube.CustomResourceDefinition): HyperConvergedShape {
  const { versions = [], conversion } = spec
  const served = versions.filter((version) => version.served === true).map(({ name }) => known(name))
  const stored = known(versions.find(({ storage }) => storage === true)?.name ?? '')
  return { stored, served, conversion: conversion?.strategy === 'Webhook' ? 'Webhook' : 'None' }
}

const known = (version: string): Version => (version === 'v1' ? 'v1' : 'v1beta1')

type Specified = KubeObject & { spec?: Json }

/** Those without fields of their own, and those with. */
function membersOf(fields: Fields): readonly string[] {
  if (typeof fields === 'string') return fields.split(' ')
  return [...Object.keys(fields), ...membersOf(fields[''] ?? '')]
}

/** Without what nobody knows. What is no object where one belongs stays as it is. */
function pruned(value: unknown, fields: Fields | undefined): unknown {
  if (!isJson(value) || fields === undefined) return value
  const members = Object.entries(value).filter(([name]) => membersOf(fields).includes(name))
  const below = typeof fields === 'string' ? {} : fields
  return Object.fromEntries(members.map(([name, one]) => [name, pruned(one, below[name])]))
}

/** Fields with a default take no null. */
function filled(object: Json, from: Json): Json {
  const result = { ...object }
  for (const [name, value] of Object.entries(from)) {
    const given = result[name] ?? (isJson(value) ? {} : copy(value))
    result[name] = isJson(value) && isJson(given) ? filled(given, value) : given
  }
  return result
}

/** What v1beta1 has at the top of the spec v1 has in groups, under the same name. */
function movedTo(version: string, spec: Json, v1: Fields): Json {
  const groups = Object.entries(typeof v1 === 'string' ? {} : v1)
  const result: Json = {}
  for (const [name, value] of Object.entries(spec)) {
    const [group] = groups.find(([, fields]) => membersOf(fields).includes(name)) ?? ['']
    if (version === 'v1beta1' && isJson(value) && groups.some(([one]) => one === name))
      Object.assign(result, value)
    else if (version === 'v1' && group !== '') result[group] = { ...jsonOf(result[group]), [name]: value }
    else result[name] = value
  }
  return result
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
  { namespace, strategy: workloadUpdateStrategy }: { namespace: string; strategy: object },
): KubeObject {
  const { apiVersion, kind } = atVersion(kube.HyperConvergeds, shape.stored)
  const spec =
    shape.stored === 'v1' ? { virtualization: { workloadUpdateStrategy } } : { workloadUpdateStrategy }
  const hyperconverged: Specified = { apiVersion, kind, metadata: { name, namespace, uid }, spec }
  return versioningOf(shape).accept(hyperconverged, apiVersion)
}

/** What a HyperConverged makes points at it. */
export function ownerReference({ apiVersion, kind, metadata }: KubeObject) {
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
  return { ...owner, controller: true, blockOwnerDeletion: true }
}

export const managedLabel = { 'app.kubernetes.io/managed-by': 'hco-operator' }

/** As its operator marks what it made. */
export function ownedByHyperConverged(
  kubevirt: kube.KubeVirt,
  { stored }: HyperConvergedShape,
): kube.KubeVirt {
  const { apiVersion, kind } = atVersion(kube.HyperConvergeds, stored)
  const ownerReferences = [ownerReference({ apiVersion, kind, metadata: { name, uid } })]
  const labels = { ...kubevirt.metadata.labels, ...managedLabel }
  const metadata = { ...kubevirt.metadata, name: names.kubevirt, labels, ownerReferences }
  return { ...kubevirt, metadata }
}

/** The CRD of HyperConverged, as a release keeps it. */
export const hyperConvergedDefinition = ({
  stored,
  served,
  conversion,
}: HyperConvergedShape): kube.CustomResourceDefinition =>
  definitionOf(atVersion(kube.HyperConvergeds, stored), {
    versions: served,
    names: { listKind: 'HyperConvergedList', shortNames },
    conversion,
  })

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
  const isEmpty = !Array.isArray(workloadUpdateMethods) || workloadUpdateMethods.length === 0
  return {
    workloadUpdateStrategy: { ...batches, ...(!isEmpty && { workloadUpdateMethods }) },
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
  const isDefault = at(spec, ...below, 'liveMigrationConfig', 'completionTimeoutPerGiB') === 150
  if (!isDefault) return spec
  const result = copy(spec)
  Object.assign(at(result, ...below, 'liveMigrationConfig') ?? {}, { completionTimeoutPerGiB: 20 })
  return result
}

/** OpenShift's 4.y is upstream's 1.(y-4); 5.0 follows 4.23. */
export function upstreamMinor(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 5) return 20 + minor
  return major === 4 ? minor - 4 : minor
}
