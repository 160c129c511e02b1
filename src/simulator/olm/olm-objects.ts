import * as kube from '../kinds.ts'
import table from './olm-kinds.json' with { type: 'json' }
import { createHash } from 'node:crypto'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/hyperconverged-crd.ts'
import { made, templateHash } from '../machinery/controller.ts'
import { bundleObjects, isBundle, type Release } from './operator-bundle.ts'
import { stepsOf, unpackedBundle } from './bundle-unpacker.ts'
import { operatorManifest } from '../virt-operator/kubevirt-operator-manifest.ts'
import type { Approval, BundleShape, EntryShape, OlmShape } from './olm-shape.ts'
import { type Columns, pathColumns } from '../api/kinds/printer-columns.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'

/** A Subscription and what it once installed. */
interface Installed {
  subscription: string
  channel: string
  approval: Approval
  release: Release
}

/**
 * A cluster in which OLM has installed what the shape says, by a plan that was approved: namespaces, catalog, OperatorGroups,
 * Subscriptions, what the bundles bring, without Deployments, which a running OLM makes of the CSVs, and the PriorityClass that HyperConverged makes. Throws an Error where the
 * version that is to be installed is no entry.
 */
export function olmObjects(shape: OlmShape): KubeObject[] {
  const all = installedIn(shape)
  const namespaces = [...new Set(all.map(({ release }) => release.namespace))]
  return [
    ...[shape.sourceNamespace, ...namespaces].map((name) => made(kube.Namespaces, { metadata: { name } })),
    catalogSource(shape),
    ...namespaces.map((namespace) => operatorGroup(shape, namespace)),
    ...namespaces.flatMap((namespace) =>
      planned(
        shape,
        namespace,
        all.filter(({ release }) => release.namespace === namespace),
      ),
    ),
    ...all.flatMap(({ release }) => bundleObjects(release, shape)).map((object) => asServed(object, all)),
    ...all.map(({ release }) => unpackedBundle(release, shape)),
    ...operatorManifest(installedBundle(shape).kubevirt).filter(({ kind }) => kind === 'PriorityClass'),
  ]
}

/** The release of HyperConverged that is installed at first. Throws an Error where no channel has it. */
export function installedBundle({ channels, installed }: OlmShape): BundleShape {
  const bundle = channels.flatMap(({ entries }) => entries).find(({ version }) => version === installed)
  if (bundle === undefined) throw new Error(`no channel has ${installed}`)
  return bundle
}

function installedIn(shape: OlmShape): Installed[] {
  const { package: name, namespace, subscription = 'hco-operatorhub', channel, approval } = shape
  const others = (shape.others ?? []).map((other) => ({
    subscription: other.package,
    channel: other.channel,
    approval: other.approval,
    release: {
      package: other.package,
      entry: entryOf(other.entries, other.installed),
      namespace: other.namespace ?? namespace,
    },
  }))
  const release = { package: name, entry: installedBundle(shape), namespace }
  return [{ subscription, channel, approval, release }, ...others]
}

function entryOf(entries: readonly EntryShape[], installed: string): EntryShape {
  const entry = entries.find(({ version }) => version === installed)
  if (entry === undefined) throw new Error(`no entry has ${installed}`)
  return entry
}

/** HyperConverged's CRD has its conversion already: its webhook runs since long. */
function asServed(object: KubeObject, all: readonly Installed[]): KubeObject {
  const bundle = all.map(({ release }) => release.entry).find(isBundle)
  if (bundle === undefined || object.metadata.name !== hyperConvergedDefinition(bundle.crd).metadata.name)
    return object
  return hyperConvergedDefinition(bundle.crd)
}

function catalogSource({ source, sourceNamespace }: OlmShape): KubeObject {
  const publisher = source === 'redhat-operators' ? 'Red Hat' : 'Community'
  const updateStrategy = { registryPoll: { interval: '10m' } }
  const spec = { sourceType: 'grpc', displayName: source, publisher, updateStrategy }
  return made(kube.CatalogSources, { metadata: { name: source, namespace: sourceNamespace }, spec })
}

/** The API server wants a time there. */
const longAgo = '2026-01-01T00:00:00Z'

function operatorGroup(shape: OlmShape, namespace: string): kube.OperatorGroup {
  const name = namespace === shape.namespace ? 'kubevirt-hyperconverged-group' : `${namespace}-group`
  return made(kube.OperatorGroups, {
    metadata: { name, namespace },
    spec: { upgradeStrategy: 'Default' },
    status: { namespaces: [''], lastUpdated: longAgo },
  })
}

/** The Subscriptions of a namespace, and the plan that installed what they wanted. */
function planned(shape: OlmShape, namespace: string, installed: readonly Installed[]): KubeObject[] {
  const name = `install-${templateHash({ namespace, of: installed.map(({ subscription }) => subscription) }).slice(0, 5)}`
  const uid = `c0ffee00-0000-4000-8000-${createHash('sha1').update(namespace).digest('hex').slice(0, 12)}`
  const isManual = installed.some(({ approval }) => approval === 'Manual')
  const plan: kube.InstallPlan = made(kube.InstallPlans, {
    metadata: { name, namespace, uid },
    spec: {
      approval: isManual ? 'Manual' : 'Automatic',
      approved: true,
      clusterServiceVersionNames: installed.map(({ release }) => release.entry.name),
      generation: 1,
    },
    status: {
      phase: 'Complete',
      catalogSources: [shape.source],
      plan: installed.flatMap(({ release }) =>
        stepsOf(release, shape).map((step) => Object.assign(step, { status: 'Created' })),
      ),
    },
  })
  return [...installed.map((one) => subscriptionOf(shape, one, { name, uid })), plan]
}

function subscriptionOf(
  shape: OlmShape,
  installed: Installed,
  plan: { name: string; uid: string },
): kube.Subscription {
  const { release, channel, approval } = installed
  const { namespace, entry } = release
  const { source, sourceNamespace } = shape
  const { apiVersion, kind } = kube.InstallPlans
  return made(kube.Subscriptions, {
    metadata: { name: installed.subscription, namespace },
    spec: { name: release.package, channel, source, sourceNamespace, installPlanApproval: approval },
    status: {
      lastUpdated: longAgo,
      state: 'AtLatestKnown',
      currentCSV: entry.name,
      installedCSV: entry.name,
      installPlanGeneration: 1,
      installPlanRef: { apiVersion, kind, ...plan, namespace },
    },
  })
}

interface KindRow extends Partial<Pick<SimKind, 'shortNames' | 'categories' | 'status' | 'generation'>> {
  columns: Columns
}

/** The kinds that a cluster with OLM serves, with the columns of `kubectl get`; of several CSVs a plan shows the first alone (ocp 2.2). ClusterExtension is none of them: that is OLM v1. */
export function olmKinds(): SimKind[] {
  const all: readonly Kind[] = [
    kube.Subscriptions,
    kube.InstallPlans,
    kube.Csvs,
    kube.CatalogSources,
    kube.OperatorConditions,
    kube.OperatorGroups,
    kube.PackageManifests,
  ]
  return all.map((kind) => {
    const { columns = {}, ...more } = (table as Record<string, KindRow>)[kind.kind] ?? {}
    return custom(kind, { categories: ['olm'], columns: pathColumns(columns), ...more })
  })
}
