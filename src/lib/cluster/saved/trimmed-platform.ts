import type { KubeObject } from '../object.ts'

type Json = Record<string, unknown>
type Loose = KubeObject & { spec?: Json; status?: Json }

/** Without what says whose cluster it is. */
export function clusterVersionWithoutId(object: KubeObject): KubeObject {
  const { clusterID: _, ...spec } = (object as Loose).spec ?? {}
  return { ...object, spec } as Loose
}

/** How often and until when, not by whom. */
export function countWithoutUsers(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status = {} } = object as Loose
  const { removedInRelease, requestCount } = status
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    status: { removedInRelease, requestCount },
  } as Loose
}

export function operatorWithoutObjects(object: KubeObject): KubeObject {
  const { relatedObjects: _, extension: _also, ...status } = (object as Loose).status ?? {}
  return { ...object, status } as Loose
}

interface Tag {
  key?: string
}

/** How it is built and whether somebody else manages it; no addresses, no names. */
export function topologyOnly(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status = {} } = object as Loose
  const { controlPlaneTopology, infrastructureTopology, platform } = status
  const { type, aws, gcp } = (status['platformStatus'] ?? {}) as {
    type?: string
    aws?: { resourceTags?: Tag[] }
    gcp?: { resourceLabels?: Tag[] }
  }
  const platformStatus = {
    type,
    ...(aws?.resourceTags && { aws: { resourceTags: aws.resourceTags.filter(isManagers) } }),
    ...(gcp?.resourceLabels && { gcp: { resourceLabels: gcp.resourceLabels.filter(isManagers) } }),
  }
  return {
    apiVersion,
    kind,
    metadata,
    status: { controlPlaneTopology, infrastructureTopology, platform, platformStatus },
  } as Loose
}

const isManagers = ({ key = '' }: Tag): boolean => key.startsWith('red-hat-')

const csvSpec = new Set([
  'version',
  'replaces',
  'skips',
  'displayName',
  'installModes',
  'relatedImages',
  'minKubeVersion',
])
const csvAnnotations = /^(olm\.|operatorframework\.io\/|operators\.operatorframework\.io\/)/

/** Without icon, descriptions, examples and the permissions, which are most of its size. */
export function csvWithoutTexts(object: KubeObject): KubeObject {
  const { metadata, spec = {} } = object as Loose
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => csvAnnotations.test(key))
  const kept = Object.entries(spec).filter(([key]) => csvSpec.has(key))
  return {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
    spec: Object.fromEntries(kept),
  } as Loose
}

interface Step {
  resource?: Json
}

/** Without manifests: a Secret may be among them. */
export function planWithoutManifests(object: KubeObject): KubeObject {
  const { plan, bundleLookups: _, ...status } = ((object as Loose).status ?? {}) as Json & { plan?: Step[] }
  const steps = plan?.map(withoutManifest)
  return { ...object, status: { ...status, ...(steps && { plan: steps }) } } as Loose
}

function withoutManifest({ resource, ...step }: Step): Step {
  const { manifest: _, ...named } = resource ?? {}
  return { ...step, resource: named }
}

interface Channel {
  currentCSVDesc?: { version?: string; annotations?: Record<string, string> }
}

/** Without icon, descriptions and examples of every channel. */
export function packageWithoutTexts(object: KubeObject): KubeObject {
  const { catalogSource, catalogSourceNamespace, packageName, defaultChannel, channels } = ((object as Loose)
    .status ?? {}) as Json & { channels?: Channel[] }
  return {
    ...object,
    status: {
      catalogSource,
      catalogSourceNamespace,
      packageName,
      defaultChannel,
      ...(channels && { channels: channels.map(bareChannel) }),
    },
  } as Loose
}

function bareChannel({ currentCSVDesc = {}, ...channel }: Channel): Channel {
  const { version, annotations = {} } = currentCSVDesc
  const kept = Object.entries(annotations).filter(([key]) => key.startsWith('olm.'))
  return {
    ...channel,
    currentCSVDesc: { ...(version !== undefined && { version }), annotations: Object.fromEntries(kept) },
  }
}
