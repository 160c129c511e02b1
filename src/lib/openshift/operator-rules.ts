import { valueAt } from '../kube/server-side-apply.ts'
import type {
  CatalogSource,
  ClusterServiceVersion,
  HyperConverged,
  OperatorCondition,
  OperatorGroup,
  PackageManifest,
  Subscription,
} from '../kube/kinds/operator-kinds.ts'
import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import { itemsOf, type Known } from '../kube/known.ts'
import { shellWord } from '../kube/shell-line.ts'
import { type HopFinding, warning } from '../releases/hop-findings.ts'
import { againstPlatform } from '../releases/platform-releases.ts'
import {
  compareMinors,
  minorOfPlatform,
  operatorVersionOf,
  platformVersionOf,
  versionOfCsv,
} from '../releases/release-versions.ts'
import { lineOf, platformOfOperator, type Releases } from '../releases/releases.ts'
import { assessHyperConverged } from './hyperconverged.ts'
import { forgetVersions } from './olm-failures.ts'
import { assessResolution } from './olm-resolution.ts'
import { assessSubscription, channelsOf, type SubscriptionStatus } from './olm-status.ts'
import type { RecognisedWindow } from './eus-window.ts'
import { releaseOf } from './platform-rules.ts'
import { operatorConditionGate, type PlatformStatus } from './platform-status.ts'

/**
 * What is known of HyperConverged and of what OLM has around it. The rules below judge it for `kvup check`, `kvup status` and, in front of hops of the platform, for `kvup eus`. Each is pure, and
 * returns nothing where nothing is wrong; whether the data of a rule are there at all is for whoever asks.
 */
export interface OperatorParts {
  hyperconverged: Known<HyperConverged>
  subscriptions: Known<Subscription>
  csvs: Known<ClusterServiceVersion>
  operatorGroups: Known<OperatorGroup>
  operatorConditions: Known<OperatorCondition>
  catalogSources: Known<CatalogSource>
  packageManifests: Known<PackageManifest>
}

type Rows = Pick<Releases, 'hyperconverged'>

/** The one Subscription of the package; undefined where there is none, or several. */
export function oneSubscription({
  subscriptions,
}: Pick<OperatorParts, 'subscriptions'>): SubscriptionStatus | undefined {
  const [one, second] = itemsOf(subscriptions)
  return one && !second ? assessSubscription(one) : undefined
}

/** By the HyperConverged, which says it when all is through; else by the CSV that is there (ocp 9.7). */
export function installedOperator(
  parts: Pick<OperatorParts, 'hyperconverged' | 'subscriptions'>,
): string | undefined {
  const [hco] = itemsOf(parts.hyperconverged)
  const said = hco && assessHyperConverged(hco).operatorVersion
  return said ?? versionOfCsv(oneSubscription(parts)?.installed)?.text
}

/** The minor of the platform that a release of the operator belongs to (night E8); undefined where no row of the table tells. */
export function minorOfOperator(version: string | undefined, releases: Rows): string | undefined {
  const parsed = operatorVersionOf(version)
  return parsed && platformOfOperator(parsed, releases)
}

/** The platform that an operator is held against. */
export interface PlatformAtHand {
  /** The control plane's release: the one that it is being updated to, where it is. */
  release: string
  /** Its minor. */
  here: string
  /** It is on its way, or a window is open: an operator that is behind is the next step, and no fault. */
  moves: boolean
}

/** Undefined where it does not say which release it runs. */
export function platformAtHand(
  status: PlatformStatus,
  window: RecognisedWindow | undefined,
): PlatformAtHand | undefined {
  const release = releaseOf(status)
  const here = minorOfPlatform(release)
  if (release === undefined || here === '') return undefined
  return { release, here, moves: status.state === 'updating' || window !== undefined }
}

/** `okd` or `ocp`, by the release and the channel. */
export function flavourOf(release: string, channel = ''): 'okd' | 'ocp' {
  const version = platformVersionOf(release)
  const rest = version?.build ?? version?.prerelease ?? ''
  return rest.includes('okd') || /scos|^stable-4$/u.test(channel) ? 'okd' : 'ocp'
}

/** An operator that belongs to another minor of the platform than the one at hand, which nobody supports (night E8). */
export function outOfStep(
  version: string | undefined,
  platform: PlatformAtHand,
  releases: Rows,
): readonly HopFinding[] {
  if (version === undefined) return []
  const own = minorOfOperator(version, releases)
  if (own === undefined) return aheadOfAllRows(version, platform, releases)
  const order = compareMinors(own, platform.here)
  if (order === 0 || (order < 0 && platform.moves)) return []
  return warning({
    id: 'version-in-step',
    summary: `unsupported version skew: HyperConverged ${version} belongs to ${own}, the platform is at ${platform.release}`,
    remedy: order < 0 ? takesOperator(version, platform.here, releases) : [takesPlatform],
  })
}

/** To the newest release that is known for this minor of the platform, in the operator's own numbers: those of OpenShift are in no table (ocp 1.2). */
function takesOperator(installed: string, here: string, { hyperconverged }: Rows): readonly string[] {
  const version = operatorVersionOf(installed)
  if (version !== undefined && lineOf(version) === 'openshift') return [showsOperators]
  const newest = hyperconverged.findLast(({ platform }) => platform === here)
  return newest === undefined
    ? []
    : [`kvup upgrade --to ${newest.version} --method olm      upgrades the operator to the platform's minor`]
}

const showsOperators = 'kvup upgrade      lists the operators that the catalog offers; upgrades nothing'

const takesPlatform = 'oc adm upgrade      says how to take the platform to the same minor'

/** No row knows its minor, and one before it belongs to this platform already. */
function aheadOfAllRows(
  text: string,
  { here, release }: PlatformAtHand,
  releases: Rows,
): readonly HopFinding[] {
  const version = operatorVersionOf(text)
  const against = version && againstPlatform(version, here, releases)
  if (against?.is !== 'beyond') return []
  return warning({
    id: 'version-in-step',
    summary: `unsupported version skew: HyperConverged ${text} ${against.why}, the platform is at ${release}`,
    remedy: [takesPlatform],
  })
}

/** On OpenShift its catalog follows the platform, and in that one channel lies every minor of it (night E8). */
export function besideStable(
  parts: Pick<OperatorParts, 'subscriptions' | 'packageManifests'>,
  flavour: 'okd' | 'ocp',
): readonly HopFinding[] {
  const { channel, namespace = '', name = '', package: pack = '' } = oneSubscription(parts) ?? {}
  if (flavour !== 'ocp' || channel === undefined || channel === 'stable') return []
  const offered = channelsOf(itemsOf(parts.packageManifests)).map((one) => one.name)
  // Another catalog than the platform's need not have it; of one that shows nothing that is not known.
  const there = offered.length === 0 || offered.includes('stable') ? ['stable'] : []
  return warning({
    id: 'version-in-step',
    summary: `the Subscription ${namespace}/${name} follows channel ${channel}, not stable: OpenShift supports only releases of stable, and of the minor of the platform`,
    remedy: [takeChannel(there, { namespace, name, pack })],
  })
}

/** Its own Upgradeable=True means only that nothing progresses or is degraded: every condition counts (ocp 9.5, 9.6). */
export function notGood({ hyperconverged }: Pick<OperatorParts, 'hyperconverged'>): readonly HopFinding[] {
  const [hco] = itemsOf(hyperconverged)
  if (hco === undefined) return []
  const { good, why } = assessHyperConverged(hco)
  if (good) return []
  const { name, namespace = '' } = hco.metadata
  return warning({
    id: 'hyperconverged-not-good',
    summary: `HyperConverged ${namespace}/${name} is not ready for the next platform update: ${why.join('; ')}`,
    objects: [`hyperconverged/${name}`],
    remedy: ['kvup status'],
  })
}

/** A HyperConverged whose operands are patched by annotation: nobody supports what comes of it (ocp 1.5). */
export function tainted({ hyperconverged }: Pick<OperatorParts, 'hyperconverged'>): readonly HopFinding[] {
  const [hco] = itemsOf(hyperconverged)
  if (hco === undefined) return []
  const annotations = patchAnnotations(hco)
  const said = assessHyperConverged(hco).tainted
  if (said === undefined && annotations.length === 0) return []
  const { name, namespace = '' } = hco.metadata
  const at = `oc -n ${namespace}`
  return warning({
    id: 'hyperconverged-tainted',
    summary: `HyperConverged has unsupported patches (${annotations.join(', ') || said}): they may not work with the next release`,
    objects: [`hyperconverged/${name}`],
    remedy:
      annotations.length > 0
        ? annotations.map((key) => `${at} annotate hyperconverged ${name} ${key}-      save its value first`)
        : [`${at} get hyperconverged ${name} -o yaml      shows its condition TaintedConfiguration`],
  })
}

/** `kubevirt.kubevirt.io/jsonpatch` and those of the other operands. */
function patchAnnotations({ metadata }: HyperConverged): readonly string[] {
  return Object.keys(metadata.annotations ?? {}).filter((key) => /^[a-z.-]+\/jsonpatch$/u.test(key))
}

/** All that virt-controller knows; the schema takes any word, and does nothing for another one (facts 3.1). */
const knownMethods: ReadonlySet<string> = new Set(['LiveMigrate', 'Evict'])

/** Words among update methods that KubeVirt does not know. */
export const unknownMethods = (methods: readonly string[]): readonly string[] =>
  methods.filter((method) => !knownMethods.has(method))

/** Those of the HyperConverged's spec, in either of its versions. */
export function methodsOnHyperConverged({ spec }: HyperConverged): readonly string[] {
  const found =
    valueAt(spec, ['workloadUpdateStrategy', 'workloadUpdateMethods']) ??
    valueAt(spec, ['virtualization', 'workloadUpdateStrategy', 'workloadUpdateMethods'])
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : []
}

/** What there is to say of words that KubeVirt does not know; `on` is the object as kubectl names it. Nothing where it knows all. */
export function misspelt(methods: readonly string[], on: string): readonly HopFinding[] {
  const unknown = unknownMethods(methods)
  if (unknown.length === 0) return []
  const left = methods.filter((method) => !unknown.includes(method))
  const then = left.length === 0 ? 'no VM is updated automatically' : `only ${left.join(', ')} takes effect`
  return warning({
    id: 'methods-misspelt',
    summary: `workloadUpdateMethods of ${on} has ${unknown.join(', ')}, which KubeVirt does not know (it knows LiveMigrate and Evict): ${then}`,
    objects: [on],
    remedy: [
      `kvup workloads strategy set --methods ${shellWord((left.length > 0 ? left : ['LiveMigrate']).join(','))}`,
    ],
  })
}

/** Where it is what HyperConverged says of itself it is told once. */
export function held(
  parts: Pick<OperatorParts, 'subscriptions' | 'operatorConditions'>,
): readonly HopFinding[] {
  const csv = oneSubscription(parts)?.installed
  const found = itemsOf(parts.operatorConditions).find(({ metadata }) => metadata.name === csv)
  const gate = operatorConditionGate(found)
  if (gate.is !== 'no') return []
  return warning({
    id: 'operator-held',
    summary: `OLM cannot replace the operator: its OperatorCondition says ${gate.reason}: ${gate.message}`,
    objects: [`operatorcondition/${csv ?? ''}`],
    remedy: [`oc -n ${found?.metadata.namespace ?? ''} get operatorcondition ${csv ?? ''} -o yaml`],
  })
}

/** An operator whose catalog does not answer is stranded behind the platform (ocp 2.6, 7.4). `at` is the time of the look. */
export function catalogTroubles(
  parts: Pick<OperatorParts, 'subscriptions' | 'csvs' | 'catalogSources'>,
  at: Date,
): readonly HopFinding[] {
  const [object] = itemsOf(parts.subscriptions)
  const resolution = object && assessResolution(object, parts.csvs, at)
  const isFailed = resolution?.is === 'failed'
  const troubles = (oneSubscription(parts)?.troubles ?? []).filter(
    ({ type }) => type !== 'ResolutionFailed' || isFailed,
  )
  const silent = itemsOf(parts.catalogSources).filter(
    ({ status }) => status?.connectionState?.lastObservedState !== 'READY',
  )
  const { source = '', sourceNamespace = '' } = oneSubscription(parts) ?? {}
  const isGone = source !== '' && parts.catalogSources.known && parts.catalogSources.items.length === 0
  const told = [
    ...(isGone ? [`CatalogSource ${source} in namespace ${sourceNamespace} is not there`] : []),
    ...silent.map(
      ({ metadata, status }) =>
        `CatalogSource ${metadata.name} is ${status?.connectionState?.lastObservedState ?? 'not connected'}`,
    ),
    ...troubles.map(({ type, reason, message }) => `${type} (${reason}): ${message}`),
  ]
  if (told.length === 0) return []
  return warning({
    id: 'catalog-not-healthy',
    summary: `OLM cannot offer the next operator: ${told.join('; ')}`,
    objects: silent.map(({ metadata }) => `catalogsource/${metadata.name}`),
    remedy: [
      ...(troubles.length > 0 ? ['kvup status     shows how to fix it'] : []),
      ...(silent.length > 0 || isGone ? ['oc get catalogsources -A'] : []),
    ],
  })
}

/** A channel that a Subscription follows and its catalog does not have. */
interface MissingChannel {
  channel: string
  source: string
  /** That the catalog has. */
  offered: readonly string[]
}

/** Undefined where the catalog has it, where the Subscription names none, and where the catalog shows nothing of the package: then nobody can tell. */
function missingChannel(
  parts: Pick<OperatorParts, 'subscriptions' | 'packageManifests'>,
): MissingChannel | undefined {
  const { channel, source = '' } = oneSubscription(parts) ?? {}
  const offered = channelsOf(itemsOf(parts.packageManifests)).map(({ name }) => name)
  if (channel === undefined || offered.length === 0 || offered.includes(channel)) return undefined
  return { channel, source, offered }
}

/** No update ever comes of a channel that is not there, and OLM says nothing of it while what is installed runs. */
export function channelGone(
  parts: Pick<OperatorParts, 'subscriptions' | 'packageManifests'>,
): readonly HopFinding[] {
  const found = missingChannel(parts)
  const { namespace = '', name = '', package: pack = '' } = oneSubscription(parts) ?? {}
  if (found === undefined) return []
  return warning({
    id: 'channel-not-in-catalog',
    summary: `Subscription ${name} follows channel ${found.channel}, which catalog ${found.source} does not have (it has ${found.offered.join(', ')}): no update comes`,
    objects: [`subscription/${name}`],
    remedy: [takeChannel(found.offered, { namespace, name, pack })],
  })
}

/** Where there is no choice, or OpenShift's own channel is among them, the line that takes it; else the one that shows them. */
function takeChannel(
  offered: readonly string[],
  { namespace, name, pack }: { namespace: string; name: string; pack: string },
): string {
  const [first = ''] = offered
  const one = offered.includes('stable') ? 'stable' : offered.length === 1 ? first : undefined
  if (one === undefined)
    return `oc -n ${namespace} get packagemanifest ${shellWord(pack)} -o yaml      shows the channels and their releases`
  const patch = JSON.stringify({ spec: { channel: one } })
  return `oc -n ${namespace} patch subscriptions.operators.coreos.com ${name} --type=merge -p ${shellWord(patch)}     with Automatic approval OLM begins an update at once`
}

/** With more or less than one every CSV of the namespace fails (ocp 2.6). */
export function operatorGroupsCount(
  { operatorGroups }: Pick<OperatorParts, 'operatorGroups'>,
  namespace: string | undefined,
): readonly HopFinding[] {
  if (!operatorGroups.known || namespace === undefined || operatorGroups.items.length === 1) return []
  return warning({
    id: 'one-operator-group',
    summary: `there are ${operatorGroups.items.length} OperatorGroups in namespace ${namespace}, and OLM needs exactly one`,
    objects: operatorGroups.items.map(({ metadata }) => `operatorgroup/${metadata.name}`),
    standsAt: `OLM in namespace ${namespace}`,
    remedy: [`oc -n ${namespace} get operatorgroups`],
  })
}

/** The CRDs that come with a bundle of HyperConverged: virt-operator labels each that it makes itself, and of KubeVirt's own the release data know what is dropped. */
export const crdsOfOperands = (
  crds: readonly CustomResourceDefinition[],
): readonly CustomResourceDefinition[] =>
  crds.filter(
    ({ metadata, spec }) => metadata.labels?.['kubevirt.io'] === undefined && spec?.group !== 'kubevirt.io',
  )

/** The version that a CRD writes objects in; undefined where it does not say. */
export const writtenVersion = ({ spec }: CustomResourceDefinition): string | undefined =>
  spec?.versions?.find(({ storage }) => storage === true)?.name

/**
 * A version that objects were written in before stays in `status.storedVersions` until somebody takes it out. The next bundle may lack it: then OLM fails the
 * InstallPlan with "risk of data loss", and makes no other one (olm-real 4, HostPathProvisioner's pull request 255). Pure.
 */
export function leftoverVersions(crd: CustomResourceDefinition): HopFinding | undefined {
  const { name } = crd.metadata
  const stored = writtenVersion(crd)
  const old = crd.status?.storedVersions?.filter((version) => version !== stored) ?? []
  if (stored === undefined || old.length === 0) return undefined
  const served = new Set(crd.spec?.versions?.flatMap((one) => (one.served === false ? [] : [one.name])))
  const isServed = old.every((version) => served.has(version))
  return {
    id: 'leftover-stored-versions',
    level: 'warning',
    summary: `${name} still names ${old.join(' and ')} as stored, although it writes ${stored}${isServed ? '' : `, and no longer serves ${old.filter((version) => !served.has(version)).join(' and ')}`}. OLM fails the InstallPlan of a release that drops ${old.join(' or ')} ("risk of data loss"), and creates no other`,
    objects: [`customresourcedefinition/${name}`],
    remedy: forgetVersions(name, stored),
  }
}
