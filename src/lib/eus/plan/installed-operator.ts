import type { HyperConverged } from '../../kube/kinds/operator-kinds.ts'
import { assessHyperConverged } from '../../openshift/hyperconverged.ts'
import { itemsOf } from '../../kube/known.ts'
import { type SubscriptionStatus, assessSubscription } from '../../openshift/olm-status.ts'
import { platformOfOperator, type Releases } from '../../releases/releases.ts'
import { operatorVersionOf, versionOfCsv } from '../../releases/release-versions.ts'
import type { EusHop, ObjectRef, OperatorNow } from './eus-plan.ts'
import type { EusClusterSnapshot } from './eus-snapshot.ts'
import { knownMinors } from '../../releases/platform-releases.ts'

/** The one Subscription of the package, if it is one. */
export function subscriptionOf({ lifecycle }: EusClusterSnapshot): SubscriptionStatus | undefined {
  const [one, second] = itemsOf(lifecycle.subscriptions)
  return one && !second ? assessSubscription(one) : undefined
}

/** Undefined without a Subscription, or with several. */
export function operatorNow(snapshot: EusClusterSnapshot): OperatorNow | undefined {
  const subscriptionStatus = subscriptionOf(snapshot)
  const [object] = itemsOf(snapshot.lifecycle.subscriptions)
  if (subscriptionStatus === undefined || object === undefined) return undefined
  const { namespace, name, channel, approval, installed } = subscriptionStatus
  const version = operatorVersion(snapshot)
  return {
    package: subscriptionStatus.package,
    subscription: { namespace, name, uid: object.metadata.uid ?? '' },
    ...(channel !== undefined && { channel }),
    approval,
    ...(version !== undefined && { version }),
    ...(installed !== undefined && { csv: installed }),
  }
}

/** By the HyperConverged, which says it when all is through; else by the CSV that is there (ocp 9.7). */
function operatorVersion(snapshot: EusClusterSnapshot): string | undefined {
  const [hco] = itemsOf(snapshot.hyperconverged)
  const said = hco && assessHyperConverged(hco).operatorVersion
  return said ?? versionOfCsv(subscriptionOf(snapshot)?.installed)?.text
}

/** The platform's minor that the operator belongs to (night E8); undefined where no version or no row of the table tells. */
export function operatorMinorNow(
  snapshot: EusClusterSnapshot,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  const version = operatorVersionOf(operatorVersion(snapshot))
  return version && platformOfOperator(version, releases)
}

/** Which HyperConverged and KubeVirt a plan is about; several are a finding. */
export function objectsOf({ hyperconverged, kubevirts }: EusClusterSnapshot): {
  hyperconverged?: ObjectRef
  kubevirt?: ObjectRef
} {
  const [hco] = itemsOf(hyperconverged)
  const [kubevirt] = itemsOf(kubevirts)
  return {
    ...(hco && { hyperconverged: refOf('hyperconvergeds', hco) }),
    ...(kubevirt && { kubevirt: refOf('kubevirts', kubevirt) }),
  }
}

function refOf(resource: string, { metadata }: Pick<HyperConverged, 'metadata'>): ObjectRef {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '' }
}

type Rows = Pick<Releases, 'hyperconverged'>

/**
 * The release of this minor that the operator has still to get to, as a CSV: what OLM resolved, or the head of the channel. Undefined where all of what is installed
 * runs and nothing of the minor comes after it: that its version belongs to the minor says nothing of that (night E4).
 */
export function releaseLeft(snapshot: EusClusterSnapshot, minor: string, releases: Rows): string | undefined {
  const subscriptionStatus = subscriptionOf(snapshot)
  const { installed = '', latest = installed, channel } = subscriptionStatus ?? {}
  const isOfMinor = (csv: string) => {
    const version = operatorVersionOf(versionOfCsv(csv)?.text)
    return version !== undefined && platformOfOperator(version, releases) === minor
  }
  const left = [latest, headOf(snapshot, channel)].find((csv) => csv !== installed && isOfMinor(csv))
  if (left !== undefined) return left
  const runs = operatorNow(snapshot)?.version
  return runs !== versionOfCsv(installed)?.text && isOfMinor(installed) ? installed : undefined
}

function headOf({ lifecycle }: EusClusterSnapshot, channel: string | undefined): string {
  const channels = itemsOf(lifecycle.packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV ?? ''
}

const named = /^(?<before>(?:.*[^\d.])?)\d+\.\d+(?<patch>\.\d+)?$/u

/** `stable-v1.17`, `1.17.3`: one of many, in which no later minor of the operator appears (ocp 1.1). Not `stable`, in which each does. */
export function isOfOneMinor(channel: string | undefined): boolean {
  return named.test(channel ?? '')
}

/**
 * What the channel of a minor of the platform is called, next to that of another: `stable-v1.18` for 4.22, where `stable-v1.17` is set. Undefined where no row knows which operator belongs to
 * it, or where channels bear whole releases.
 */
export function channelFor(
  minor: string,
  set: string | undefined,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  const { before, patch } = named.exec(set ?? '')?.groups ?? {}
  const operator = knownMinors(releases).findLast(({ platform }) => platform === minor)?.operator
  return before === undefined || patch !== undefined || operator === undefined
    ? undefined
    : `${before}${operator}`
}

/** The channel that is set behind a hop: the last that it changes to, or the one that was set before it. */
export const channelBehind = (
  operators: EusHop['operators'],
  before: string | undefined,
): string | undefined => changedTo(operators) ?? before

/** Undefined where the hop leaves the channel as it is. */
const changedTo = (operators: EusHop['operators']): string | undefined =>
  operators.findLast(({ channel }) => channel !== undefined)?.channel
