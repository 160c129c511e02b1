import type { Reader } from '../../cluster/cluster.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { Followed } from '../../procedure/step.ts'
import { compareOperatorVersions, stemOf, versionOfCsv } from '../../releases/operator-version.ts'
import { blocked } from '../../system/errors.ts'
import type { OperatorHop } from './operator-hop-types.ts'

/** What OLM shows of the operator at one look. */
export interface OperatorScene {
  subscription: Subscription
  /** The one that the Subscription names. */
  plan?: InstallPlan
  /** Those of the namespace; copies from others are left out (ocp 2.7). */
  csvs: readonly ClusterServiceVersion[]
}

type Place = Pick<OperatorHop, 'subscription'>

const notCopied = `!${copiedFromLabel}`

/** Throws `blocked` when the Subscription is gone or another one took its place. */
export async function lookAtOperator(
  reader: Reader,
  { subscription: wanted }: Place,
): Promise<OperatorScene> {
  const { namespace, name, uid } = wanted
  const [found, csvs] = await Promise.all([
    reader.find(Subscriptions, { namespace, name }),
    reader.list(ClusterServiceVersions, { namespace, labels: notCopied }),
  ])
  const object = `subscriptions/${name} in namespace ${namespace}`
  if (found.is !== 'object')
    throw blocked('subscription-gone', `${object} does not exist any more`, { object, remedy: 'kvup status' })
  if (found.object.metadata.uid !== uid)
    throw blocked('subscription-replaced', `${object} was deleted and created again while kvup was at work`, {
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
  const found = await reader.find(InstallPlans, { name, namespace })
  return found.is === 'object' ? found.object : undefined
}

/** What `lookAtOperator` reads. */
export function sceneFollows({ subscription: { namespace } }: Place): Followed[] {
  return [
    { kind: Subscriptions, where: { namespace } },
    { kind: InstallPlans, where: { namespace } },
    { kind: ClusterServiceVersions, where: { namespace, labels: notCopied } },
  ]
}

/** The hop is being made or behind us: its CSV is there, or one that came after it. */
export function isEntered({ csvs, subscription }: OperatorScene, { csv }: Pick<OperatorHop, 'csv'>): boolean {
  return csvs.some(({ metadata }) => metadata.name === csv) || isPast(subscription, csv)
}

/** OLM went on to a later release of the same operator. */
export function isPast({ status }: Subscription, csv: string): boolean {
  const [installed, ours] = [versionOfCsv(status?.installedCSV), versionOfCsv(csv)]
  const sameStem = stemOf(status?.installedCSV ?? '') === stemOf(csv)
  return (
    sameStem && installed !== undefined && ours !== undefined && compareOperatorVersions(installed, ours) > 0
  )
}

/** The CSV of this hop. */
export function csvOf(
  { csvs }: OperatorScene,
  { csv }: Pick<OperatorHop, 'csv'>,
): ClusterServiceVersion | undefined {
  return csvs.find(({ metadata }) => metadata.name === csv)
}

/** Later than `from` and not as late as `to`, of the same operator. */
export function isBetween(csv: string | undefined, from: string | undefined, to: string): boolean {
  const [version, begin, end] = [csv, from, to].map(versionOfCsv)
  if (csv === undefined || stemOf(csv) !== stemOf(to)) return false
  if (version === undefined || begin === undefined || end === undefined) return false
  return compareOperatorVersions(version, begin) > 0 && compareOperatorVersions(version, end) < 0
}
