import * as kube from '../kinds.ts'
import { createHash } from 'node:crypto'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/hyperconverged-crd.ts'
import { made, templateHash } from '../machinery/controller.ts'
import { bundleObjects, isBundle, type Release } from './operator-bundle.ts'
import { stepsOf, unpackedBundle } from './bundle-unpacker.ts'
import { operatorManifest } from '../virt-operator/kubevirt-operator-manifest.ts'
import type { Approval, BundleShape, EntryShape, OlmShape } from './olm-shape.ts'
import { agePath, pathColumns } from '../api/kinds/printer-columns.ts'
import { type Column, custom, type SimKind } from '../api/kinds/sim-kind.ts'

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
  const spec = {
    sourceType: 'grpc',
    displayName: source,
    publisher: source === 'redhat-operators' ? 'Red Hat' : 'Community',
    updateStrategy: { registryPoll: { interval: '10m' } },
  }
  return made<KubeObject>(kube.CatalogSources, {
    metadata: { name: source, namespace: sourceNamespace },
    spec,
  } as Pick<KubeObject, 'metadata'>)
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
      plan: installed.flatMap(({ release }) => stepsOf(release, shape).map((step) => created(step))),
    },
  })
  return [...installed.map((one) => subscriptionOf(shape, one, { name, uid })), plan]
}

/** A plan as its Subscriptions refer to it. */
interface Planned {
  name: string
  uid: string
}

const created = (step: kube.InstallStep): kube.InstallStep => ({ ...step, status: 'Created' })

function subscriptionOf(shape: OlmShape, installed: Installed, plan: Planned): kube.Subscription {
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

/** The kinds that a cluster with OLM serves, with the columns of `kubectl get`. ClusterExtension is none of them: that is OLM v1. */
export const olmKinds = (): SimKind[] => [
  of(
    kube.Subscriptions,
    ['sub', 'subs'],
    pathColumns({
      Package: '.spec.name',
      Source: '.spec.source',
      Channel: '.spec.channel',
    }),
  ),
  of(kube.InstallPlans, ['ip'], planColumns),
  of(
    kube.Csvs,
    ['csv', 'csvs'],
    pathColumns({
      Display: '.spec.displayName',
      Version: '.spec.version',
      Replaces: '.spec.replaces',
      Phase: '.status.phase',
    }),
  ),
  of(
    kube.CatalogSources,
    ['catsrc'],
    pathColumns({
      Display: '.spec.displayName',
      Type: '.spec.sourceType',
      Publisher: '.spec.publisher',
      ...agePath,
    }),
  ),
  of(kube.OperatorConditions, ['condition'], pathColumns(agePath)),
  of(kube.OperatorGroups, ['og'], pathColumns(agePath)),
  custom(kube.PackageManifests, {
    status: false,
    generation: 'none',
    categories: [],
    columns: pathColumns({ Catalog: '.status.catalogSource', ...agePath }),
  }),
]

const of = (kind: Kind, shortNames: readonly string[], columns: readonly Column[]): SimKind =>
  custom(kind, { shortNames, categories: ['olm'], columns })

/** Of several CSVs the first alone is shown (ocp 2.2). */
const planColumns = pathColumns({
  CSV: '.spec.clusterServiceVersionNames[0]',
  Approval: '.spec.approval',
  Approved: '{.spec.approved|false}',
})
