import type { KubeObject } from '../object.ts'
import { poolAnnotation } from './pool-annotation.ts'

type Json = Record<string, unknown>
type Loose = KubeObject & { spec?: Json; status?: Json }

const without = (whole: Json | undefined, ...members: string[]): Json =>
  Object.fromEntries(Object.entries(whole ?? {}).filter(([name]) => !members.includes(name)))

/** Whole lists of images and mounted volumes, addresses, and annotations of whoever likes to write some. */
export function nodeWithoutImages(object: KubeObject): KubeObject {
  const { metadata, spec, status } = object as Loose
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => key.includes('kubevirt.io/') || poolAnnotation.test(key),
  )
  return {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
    spec: without(spec, 'podCIDR', 'podCIDRs', 'providerID'),
    status: without(status, 'images', 'volumesInUse', 'volumesAttached', 'addresses', 'daemonEndpoints'),
  } as Loose
}

export function podWithoutMounts(object: KubeObject): KubeObject {
  const { spec, status } = object as Loose
  return {
    ...object,
    spec: without(spec, 'volumes'),
    status: without(status, 'podIP', 'podIPs', 'hostIP', 'hostIPs'),
  } as Loose
}

/** Only how far it is: where disks come from may have names and passwords in it. */
export function jobWithoutSource(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status } = object as Loose
  const { phase, complete, readyToUse, conditions } = status ?? {}
  return { apiVersion, kind, metadata, status: { phase, complete, readyToUse, conditions } } as Loose
}

/** A VM or VMI: its volumes only by name and kind (cloud-init holds passwords), nothing that its guest says of itself. */
export function machineWithoutDisks(object: KubeObject): KubeObject {
  const { spec, status } = object as Loose
  const template = spec?.['template'] as { metadata?: unknown; spec?: Json } | undefined
  const bare = template
    ? { ...spec, template: { ...template, spec: bareInstance(template.spec) } }
    : bareInstance(spec)
  return {
    ...object,
    spec: without(bare, 'dataVolumeTemplates'),
    status: without(status, ...noise),
  } as Loose
}

const noise = [
  'guestOSInfo',
  'interfaces',
  'phaseTransitionTimestamps',
  'topologyHints',
  'volumeStatus',
  'kernelBootStatus',
  'volumeSnapshotStatuses',
  'virtualMachineRevisionName',
]

function bareInstance(spec: Json | undefined): Json {
  const { volumes, domain, ...rest } = without(
    spec,
    'accessCredentials',
    'networks',
    'dnsConfig',
    'readinessProbe',
    'livenessProbe',
  )
  return {
    ...rest,
    ...(Array.isArray(volumes) && { volumes: volumes.map((volume) => bareVolume(volume as Json)) }),
    ...(domain !== undefined && { domain: without(domain as Json, 'firmware', 'chassis', 'devices') }),
  }
}

function bareVolume(volume: Json): Json {
  const kept = Object.entries(volume).map(([key, value]) => [key, typeof value === 'string' ? value : {}])
  return Object.fromEntries(kept) as Json
}
