import { keyOf } from '../../kube/object.ts'
import { someOf } from '../../kube/text.ts'
import type { Step, StepState, Watched } from '../../engine/step.ts'
import type { UpgradePlan } from '../upgrade-plan.ts'
import { liftImageTag, setImageTag } from './image-tag.ts'
import { settledAtOldVersion, stalledOr } from '../steps/component-rollout.ts'
import { type Manifest, nameOf } from '../../manifests/manifest.ts'
import { applyManifest as applyObjects, isApplied, manifestChanges } from '../../manifests/apply-manifest.ts'
import { minutes, seconds, ticks } from '../../kube/clock.ts'
import type { Owner } from '../../vms/update-methods.ts'
import { readRollout, snapshotWatches } from '../upgrade-snapshot.ts'
import type { Releases } from '../../releases/releases.ts'
import type { Reader } from '../../kube/cluster.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  type HyperConverged,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../kube/kinds/operator-kinds.ts'
import { compareOperatorVersions, stemOf, versionOfCsv } from '../../releases/release-versions.ts'
import { blocked, forbidden } from '../../kube/errors.ts'
import { getHyperConverged } from '../../openshift/hyperconverged.ts'
import type { MachineConfigPool } from '../../kube/kinds/openshift-kinds.ts'
import { filled, type Known } from '../../kube/known.ts'
import { assessPlatform, type PlatformStatus, takePlatform } from '../../openshift/platform-status.ts'
import { assessPool } from '../../openshift/machine-config-pools.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/** The release's kubevirt-operator.yaml; a tag that is set is treated by night U2. */
export function operatorManifestSteps(
  plan: UpgradePlan,
  manifest: ReleaseManifest,
  who: string,
): readonly Step[] {
  const { owner, tag, to } = plan
  const replace = [applyManifest(manifest), operatorRolled(owner, to.text)]
  if (tag.is === 'lift') return [liftImageTag(owner, { to: to.text, who }), ...replace]
  if (tag.is === 'pin')
    return [
      ...replace,
      settledAtOldVersion(owner, { version: tag.tag, stableMs: plan.request.stableMs }),
      setImageTag(owner, {
        from: tag.tag,
        tag: to.text,
        registry: plan.request.imageRegistry,
        operator: to.text,
      }),
    ]
  return replace
}

/** A release's kubevirt-operator.yaml, checked and made to fit this installation; loaded once, when it is first needed. */
export interface ReleaseManifest {
  /** Undefined where it cannot be read and is not needed: everything runs this release already. */
  load(): Promise<LoadedManifest | undefined>
  /** Why it could not be fetched for a plan, which is shown without it. */
  readonly unread?: string | undefined
}

export interface LoadedManifest {
  manifest: Manifest
  /** Of the text as it was read, hexadecimal: journalled with its origin. */
  sha256: string
}

/** Server-side apply as field manager `kvup`; what is there already is not written again (contract "Release manifests"). */
export function applyManifest(release: ReleaseManifest): Step {
  return {
    id: 'apply-operator-manifest',
    title: 'apply the operator manifest',
    doing: 'applying the operator manifest',
    patience: { every: 5 * seconds, atMost: 120 * seconds },
    estimate: 10 * seconds,
    watches: [],
    risk: {
      undo: 'apply the objects that were saved before',
      safeToLeave: 'the operator continues by itself',
    },
    async check({ reader }): Promise<StepState> {
      if (release.unread !== undefined)
        return { is: 'blocked', reason: 'manifest-not-read', by: release.unread }
      const loaded = await release.load()
      if (loaded === undefined) return { is: 'done', note: 'not compared with its manifest' }
      const { manifest, sha256 } = loaded
      const { objects, origin } = manifest
      const changes = await manifestChanges(reader, objects)
      if (isApplied(changes)) return { is: 'done' }
      const changed = changes.filter(({ is }) => is === 'changed').length
      const created = changes.filter(({ is }) => is === 'created').map(({ wanted }) => nameOf(wanted))
      return {
        is: 'todo',
        change: `apply ${origin} (sha256 ${sha256.slice(0, 16)}…): ${objectsText(changed, created)}`,
      }
    },
    async apply({ reader, writer }) {
      const loaded = await release.load()
      if (loaded !== undefined) await applyObjects(loaded.manifest.objects, { reader, writer })
    },
  }
}

/** What is new is named: it is what a manifest from elsewhere would bring along. */
function objectsText(changed: number, created: readonly string[]): string {
  const change = changed === 1 ? '1 object changes' : `${changed} objects change`
  if (created.length === 0) return change
  const names = someOf(created, created.length, 5)
  return `${change}, ${created.length === 1 ? '1 is new' : `${created.length} are new`}: ${names}`
}

/** The real one takes the Lease within 23 s (lab README, Seen 1). */
const leadAtMost = 2 * minutes

/**
 * Waits until the new operator runs everywhere and leads: from the apply until then the CR says "all good" with the old
 * version for 20 s (lab README, Seen 1), and the old operator may fail on the new rights (facts 2.7).
 */
export function operatorRolled(owner: Owner, version: string): Step {
  let rolledSince: number | undefined
  return {
    id: 'virt-operator',
    title: 'virt-operator',
    doing: 'updating virt-operator',
    patience: { every: 10 * seconds, atMost: 15 * minutes },
    estimate: 40 * seconds,
    watches: snapshotWatches(owner),
    goesOn: true,
    risk: { undo: 'apply the saved manifest', safeToLeave: 'the operator continues by itself' },
    async check(cx): Promise<StepState> {
      const { rolloutStatus } = await readRollout(cx, owner)
      const { operator } = rolloutStatus
      if (!operator) return { is: 'waiting', on: 'the virt-operator Deployment to be there' }
      const progress = { done: operator.updated, total: operator.desired, of: 'pods' }
      if (operator.version !== version)
        return { is: 'waiting', on: `the virt-operator Deployment to have ${version}`, progress }
      if (!operator.rolled) rolledSince = undefined
      if (!operator.rolled)
        return stalledOr(rolloutStatus, 'virt-operator', {
          is: 'waiting',
          on: `virt-operator pods of ${version}`,
          progress,
        })
      const now = ticks(cx.clock)
      rolledSince ??= now
      // Who leads may not be known, and another release may elect otherwise. What it does is waited for by the steps behind.
      if (operator.leads === false && now - rolledSince < leadAtMost)
        return { is: 'waiting', on: `a virt-operator of ${version} to become the leader`, progress }
      return { is: 'done', note: `virt-operator ${version} runs` }
    },
  }
}

/** One update of the operator by OLM, from the CSV that is installed to the next. */
export interface OperatorHop {
  package: string
  /** Tied to its uid. */
  subscription: { namespace: string; name: string; uid: string }
  /** Name of the CSV to end at. */
  csv: string
  /** Its version: `1.18.1`, `4.18.9`. */
  version: string
  /** To be resolved in, where that is another than the Subscription's. */
  channel?: string
  /** Ends the ids of its steps; default its version. For a hop that is begun anew after another one came first. */
  label?: string
  /** OLM may take another release first, one between what is installed and this: then `install-plan` ends, and the hops are to be worked out anew. */
  mayPassOthers?: boolean
  /** CSVs or packages that may be installed by the same InstallPlan. */
  approveAlso: readonly string[]
  /** For how long everything has to stay good at the end, ms. */
  stableMs: number
}

export const labelOf = ({ label, version }: Pick<OperatorHop, 'label' | 'version'>): string =>
  label ?? version

export interface HopTools {
  /** The KubeVirt that HyperConverged owns. */
  kubevirt: Owner
  /** Ids of the risks that were accepted by name. */
  accepted: readonly string[]
  releases: Pick<Releases, 'hyperconverged'>
  /** The line that goes on, repeated by remedies with one flag more: of an upgrade, or of the window that the hop is part of. */
  command: string
  /** Under whose name the journal keeps what was before. */
  procedure: string
}

/** What OLM shows of the operator at one look. */
export interface OperatorRollSnapshot {
  subscription: Subscription
  /** The one that the Subscription names. */
  plan?: InstallPlan
  /** Those of the namespace; copies from others are left out (ocp 2.7). */
  csvs: readonly ClusterServiceVersion[]
}

type Place = Pick<OperatorHop, 'subscription'>

const notCopied = `!${copiedFromLabel}`

/** Throws `blocked` when the Subscription is gone or another one took its place. */
export async function readOperator(
  reader: Reader,
  { subscription: wanted }: Place,
): Promise<OperatorRollSnapshot> {
  const { namespace, name, uid } = wanted
  const [found, csvs] = await Promise.all([
    reader.get(Subscriptions, { namespace, name }),
    reader.list(ClusterServiceVersions, { namespace, labels: notCopied }),
  ])
  const object = `subscriptions/${name} in namespace ${namespace}`
  if (found.is !== 'object')
    throw blocked('subscription-gone', `${object} no longer exists`, { object, remedy: 'kvup status' })
  if (found.object.metadata.uid !== uid)
    throw blocked('subscription-replaced', `${object} was deleted and created again while kvup was running`, {
      object,
      remedy: 'kvup status',
    })
  const plan = await referencedPlan(reader, found.object)
  return { subscription: found.object, csvs, ...(plan && { plan }) }
}

async function referencedPlan(
  reader: Reader,
  { metadata, status }: Subscription,
): Promise<InstallPlan | undefined> {
  const { name, namespace = metadata.namespace } = status?.installPlanRef ?? {}
  if (name === undefined) return undefined
  const found = await reader.get(InstallPlans, { name, namespace })
  return found.is === 'object' ? found.object : undefined
}

/** What `lookAtOperator` reads. */
export const rollSnapshotWatches = ({ subscription: { namespace } }: Place): Watched[] => [
  { kind: Subscriptions, where: { namespace } },
  { kind: InstallPlans, where: { namespace } },
  { kind: ClusterServiceVersions, where: { namespace, labels: notCopied } },
]

/** The hop is being made or behind us: its CSV is there, or one that came after it. */
export const isEntered = (
  { csvs, subscription }: OperatorRollSnapshot,
  { csv }: Pick<OperatorHop, 'csv'>,
): boolean => csvs.some(({ metadata }) => metadata.name === csv) || isPast(subscription, csv)

/** OLM went on to a later release of the same operator. */
export function isPast({ status }: Subscription, csv: string): boolean {
  const [installed, ours] = [versionOfCsv(status?.installedCSV), versionOfCsv(csv)]
  const sameStem = stemOf(status?.installedCSV ?? '') === stemOf(csv)
  return (
    sameStem && installed !== undefined && ours !== undefined && compareOperatorVersions(installed, ours) > 0
  )
}

/** The CSV of this hop. */
export const csvOf = (
  { csvs }: OperatorRollSnapshot,
  { csv }: Pick<OperatorHop, 'csv'>,
): ClusterServiceVersion | undefined => csvs.find(({ metadata }) => metadata.name === csv)

/** Later than `from` and not as late as `to`, of the same operator. */
export function isBetween(csv: string | undefined, from: string | undefined, to: string): boolean {
  const [version, begin, end] = [csv, from, to].map(versionOfCsv)
  if (csv === undefined || stemOf(csv) !== stemOf(to)) return false
  if (version === undefined || begin === undefined || end === undefined) return false
  return compareOperatorVersions(version, begin) > 0 && compareOperatorVersions(version, end) < 0
}

/**
 * The one HyperConverged of the cluster, which is in this namespace. Its status alone is to be believed: it may have been read through another
 * version than the one that is stored. Throws `blocked` for none, several, or one elsewhere, `forbidden` where it may not be read.
 */
export async function hyperConvergedIn(reader: Reader, namespace: string): Promise<HyperConverged> {
  const found = await getHyperConverged(reader)
  if (!found.known)
    throw forbidden(
      'hyperconverged-not-readable',
      `kvup cannot see the state of HyperConverged: ${found.why}`,
      {
        remedy: roleRemedy('kvup-olm'),
      },
    )
  const [only, second] = found.items
  const remedy = 'kubectl get hyperconvergeds.hco.kubevirt.io -A'
  if (second !== undefined) {
    const names = found.items.map(keyOf).join(', ')
    throw blocked(
      'several-hyperconvergeds',
      `there are ${found.items.length} HyperConvergeds (${names}), but only one may exist`,
      {
        remedy: [remedy, 'the one whose namespace has no hco-operator is to go: save it to a file first'],
      },
    )
  }
  if (only === undefined) throw blocked('no-hyperconverged', 'the cluster has no HyperConverged', { remedy })
  if (only.metadata.namespace === namespace) return only
  throw blocked(
    'hyperconverged-elsewhere',
    `hyperconvergeds.hco.kubevirt.io/${only.metadata.name} is in namespace ${only.metadata.namespace ?? ''}, its Subscription in ${namespace}: its operator ignores it there`,
    { remedy },
  )
}

/** What an update of an operator has to know of the platform below it (night E1, E4). */
export interface PlatformNow {
  /** Of the release that was reached last, `4.18`; undefined where there is no ClusterVersion, or none may be read. */
  minor?: string
  version?: string
  /** Why no operator is to be updated now, in words. */
  busy?: string
  /** Shown and never waited for: it waits for us. */
  notUpgradeable?: string
}

/** Asks for the ClusterVersion and the pools; on a cluster without them everything is undefined. */
export async function platformNow(reader: Reader): Promise<PlatformNow> {
  const { clusterVersion, pools } = await takePlatform(reader, { parts: ['clusterVersion', 'pools'] })
  if (!clusterVersion.known) return { busy: unreadText(clusterVersion.why) }
  const [cv] = clusterVersion.items
  return cv === undefined ? {} : platformOf(assessPlatform(cv), pools)
}

function platformOf(platform: PlatformStatus, pools: Known<MachineConfigPool>): PlatformNow {
  const { version, state, upgradeable } = platform
  return filled({
    version,
    minor: /^\d+\.\d+/u.exec(version ?? '')?.[0],
    busy: state === 'idle' ? (unsettled(platform) ?? poolsBusy(pools)) : moving(platform),
    notUpgradeable: upgradeable.is === 'no' ? upgradeable.message : undefined,
  })
}

const unreadText = (why: string): string => `kvup cannot see whether the platform is being updated: ${why}`

function poolsBusy(pools: Known<MachineConfigPool>): string | undefined {
  return pools.known ? rollingMaster(pools.items.map(assessPool)) : unreadText(pools.why)
}

/** The history says no more than that the last release was reached (night E1, E4). */
function unsettled({ current, progressing, message }: PlatformStatus): string | undefined {
  if (!current) return 'the status of the ClusterVersion is older than its spec'
  return progressing ? `the platform is Progressing${message === '' ? '' : `: ${message}`}` : undefined
}

function moving({ state, target = 'another release', message }: PlatformStatus): string {
  const said = message === '' ? '' : `: ${message}`
  return state === 'updating'
    ? `the platform is being updated to ${target}${said}`
    : `the update of the platform to ${target} stopped halfway${said}`
}

/** A paused pool with work to do is not Updated either, and master must not be paused. */
function rollingMaster(pools: readonly ReturnType<typeof assessPool>[]): string | undefined {
  const master = pools.find(({ isMaster, state }) => isMaster && state !== 'updated')
  if (master === undefined) return undefined
  return `the machine config pool ${master.name} is not updated (${master.updated} of ${master.machines} nodes${master.paused ? ', paused' : ''})`
}
