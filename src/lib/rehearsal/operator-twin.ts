import { blocked } from '../kube/errors.ts'
import type { Reader } from '../kube/cluster.ts'
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../kube/kinds/extension-kinds.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import {
  type ClusterServiceVersion,
  type HyperConverged,
  HyperConvergeds,
  type Subscription,
  Subscriptions,
} from '../kube/kinds/operator-kinds.ts'
import { itemsOf, type Known, known, listServed } from '../kube/known.ts'
import { groupOf, isRecord, type KubeObject, resourceOf } from '../kube/object.ts'
import type { Installation } from '../kubevirt/installation.ts'
import { assessHyperConverged, getHyperConverged, storedHyperConverged } from '../openshift/hyperconverged.ts'
import { takeLifecycle } from '../openshift/olm-status.ts'
import type { CatalogPackage } from '../releases/catalog-path.ts'
import type { Releases } from '../releases/releases.ts'
import { operatorVersionOf, versionOfCsv } from '../releases/release-versions.ts'
import {
  type HyperConvergedShape,
  names,
  shapeOf,
} from '../../simulator/hyperconverged/hyperconverged-crd.ts'
import type { OlmShape } from '../../simulator/olm/olm-shape.ts'
import { catalogTwin, type InstalledOperator, otherOperators } from './catalog-twin.ts'
import { identityOf } from './played-identity.ts'
import { requirePart } from './required-part.ts'

/** OLM and HyperConverged as a twin has them. */
export interface OperatorTwin {
  olm: OlmShape
  /** With the settings that it has. */
  hyperconverged: KubeObject
  /** What of them is not in the twin, a sentence for each. */
  missing: readonly string[]
}

interface Around {
  installation: Installation
  /** Packages of `--catalog-file`. */
  catalog: readonly CatalogPackage[] | undefined
  releases: Releases
  /** The platform's minor; undefined on a plain cluster. */
  platform: string | undefined
}

/** Reads OLM and HyperConverged as they stand still. Throws `blocked` where they do not, or where one of them is missing; ApiError. */
export async function readOperatorTwin(reader: Reader, around: Around): Promise<OperatorTwin> {
  const { installation, catalog, releases, platform } = around
  const [lifecycle, all] = await Promise.all([
    takeLifecycle(reader, { parts: ['csvs', 'packageManifests', 'catalogSources'] }),
    known(listServed(reader, Subscriptions)),
  ])
  const [subscription] = requirePart('Subscriptions', lifecycle.subscriptions)
  if (subscription === undefined)
    throw blocked('not-rehearsed', 'HyperConverged is rehearsed only where OLM installed it', {
      remedy: 'kvup status',
    })
  const csvs = requirePart('ClusterServiceVersions', lifecycle.csvs)
  const installed = await installedOperator(reader, { subscription, csvs, installation, platform })
  const hyperconverged = await settledHyperConverged(reader)
  const filed = catalog?.find(({ name }) => name === subscription.spec?.name)
  const manifests = filed
    ? itemsOf(lifecycle.packageManifests)
    : requirePart('the catalog, which --catalog-file gives as well', lifecycle.packageManifests)
  const { channels, missing } = catalogTwin(installed, { subscription, manifests, filed, releases })
  const { spec = {}, metadata } = subscription
  const others = otherOperators(itemsOf(all), subscription)
  const registry = installation.operator?.registry
  return {
    olm: {
      namespace: metadata.namespace ?? '',
      package: spec.name ?? '',
      subscription: metadata.name,
      channel: spec.channel ?? '',
      approval: spec.installPlanApproval ?? 'Automatic',
      source: spec.source ?? '',
      sourceNamespace: spec.sourceNamespace ?? '',
      installed: installed.version.text,
      channels,
      ...(others.length > 0 && { others }),
      ...(registry !== undefined && { registry }),
    },
    hyperconverged: asPlayed(hyperconverged, installation.kubevirt),
    missing: [
      ...missing,
      'What HyperConverged installs beside KubeVirt: CDI, networking and SSP only report that they are well.',
    ],
  }
}

interface InstalledParts {
  subscription: Subscription
  csvs: readonly ClusterServiceVersion[]
  installation: Installation
  platform: string | undefined
}

async function installedOperator(
  reader: Reader,
  { subscription, csvs, installation, platform }: InstalledParts,
): Promise<InstalledOperator> {
  const csv = subscription.status?.installedCSV ?? ''
  const found = csvs.find(({ metadata }) => metadata.name === csv)
  const version = operatorVersionOf(found?.spec?.version) ?? versionOfCsv(csv)
  if (version === undefined || found === undefined || found.status?.phase !== 'Succeeded')
    throw notSettled(`${csv === '' ? 'the operator' : csv} is not installed`)
  const limit = limitIn(found)
  return {
    csv,
    version,
    kubevirt: installation.kubevirt.status?.observedKubeVirtVersion ?? '',
    crd: await definitionShape(reader),
    ...(platform !== undefined && { platform }),
    ...(limit !== undefined && { limit }),
  }
}

const notSettled = (why: string): Error =>
  blocked('not-settled', `${why}: a rehearsal begins where the cluster stands still`, {
    remedy: 'kvup status',
  })

/** `olm.maxOpenShiftVersion` of a CSV. Who wrote the annotation may have written anything. */
function limitIn({ metadata }: ClusterServiceVersion): string | undefined {
  const text = metadata.annotations?.['olm.properties']
  if (text === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    const found = (Array.isArray(parsed) ? (parsed as unknown[]) : [])
      .filter(isRecord)
      .find(({ type }) => type === 'olm.maxOpenShiftVersion')
    const value = found?.['value']
    return typeof value === 'string' && /^\d+\.\d+$/u.test(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** By its CRD; where that was not read, by what is served. */
async function definitionShape(reader: Reader): Promise<HyperConvergedShape> {
  const name = resourceOf(HyperConvergeds)
  const found: Known<CustomResourceDefinition> = await known(
    reader
      .get(CustomResourceDefinitions, { name })
      .then((answer) => (answer.is === 'object' ? [answer.object] : [])),
  )
  const [definition] = itemsOf(found)
  if (definition !== undefined) return shapeOf(definition)
  const served = await reader.versions(groupOf(HyperConvergeds))
  return served.includes('v1')
    ? {
        stored: served.includes('v1beta1') ? 'v1beta1' : 'v1',
        served: ['v1', 'v1beta1'],
        conversion: 'Webhook',
      }
    : { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' }
}

async function settledHyperConverged(reader: Reader): Promise<HyperConverged> {
  const served = requirePart('HyperConverged', await getHyperConverged(reader))
  const { kind } = await storedHyperConverged(reader)
  const stored = await known(reader.list(kind))
  const [only] = stored.known ? stored.items : served
  if (only === undefined) throw blocked('no-hyperconverged', 'the cluster has no HyperConverged')
  const { good, why } = assessHyperConverged(only)
  if (good) return only
  throw notSettled(`HyperConverged is not well: ${why[0] ?? ''}`)
}

/** The eviction strategy that HyperConverged chose for its KubeVirt by itself is written down: the twin does not know how it chooses. */
function asPlayed({ apiVersion, kind, metadata, spec = {} }: HyperConverged, kubevirt: KubeVirt): KubeObject {
  const strategy = kubevirt.spec?.configuration?.['evictionStrategy']
  const inner = spec['virtualization']
  const isInner = isRecord(inner) || apiVersion.endsWith('/v1')
  const own = isInner ? (isRecord(inner) ? inner : {}) : spec
  const chosen =
    own['evictionStrategy'] === undefined && strategy !== undefined
      ? { ...own, evictionStrategy: strategy }
      : own
  const played: HyperConverged = {
    apiVersion,
    kind,
    metadata: { ...identityOf(metadata), name: names.hyperconverged },
    spec: isInner ? { ...spec, virtualization: chosen } : chosen,
  }
  return played
}
