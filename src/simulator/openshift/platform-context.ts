import { isDeepStrictEqual } from 'node:util'
import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import { isNotFound } from '../../lib/kube/errors.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import type { OpenShiftShape, PoolShape } from './openshift-shape.ts'

/** What every operator of the platform works with. */
export interface Platform extends ControllerContext {
  readonly shape: OpenShiftShape
  readonly faults: Faults<OpenShiftFaults>
}

export const minute = 60_000

/** How often an update under way is looked at, as the passing of time has no event of its own; in ms. */
export const pollEvery = 15_000

/** All of them; none where the cluster does not know the kind. Throws ApiError. */
export async function listServed<T extends KubeObject>(cx: ControllerContext, kind: Kind<T>): Promise<T[]> {
  try {
    return await cx.reader.list(kind)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

/**
 * Replaces the status of what was read, null fields included; nothing where it is that already. Throws ApiError 422 where
 * somebody wrote meanwhile.
 */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  cx: ControllerContext,
  kind: Kind<T>,
  object: T,
  status: T['status'],
): Promise<void> {
  if (isDeepStrictEqual(object.status, status)) return
  const { name, namespace, resourceVersion } = object.metadata
  await cx.writer.jsonPatch(
    kind,
    { name, namespace },
    [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/status', value: status },
    ],
    'status',
  )
}

/** What goes wrong with a platform and its machines. */
export interface OpenShiftFaults {
  degradedOperators?: readonly string[] | undefined
  slowOperators?: readonly string[] | undefined
  /** ClusterOperators that say Upgradeable=False: an update to another minor is refused. */
  notUpgradeable?: readonly NotUpgradeable[] | undefined
  /** The update service does not answer: no updates are known. */
  updatesNotRetrieved?: boolean | undefined
  /** Names of nodes on which a pod refuses to go. */
  undrainableNodes?: readonly string[] | undefined
  lostNodes?: readonly string[] | undefined
  /** How long a reboot takes, in ms; default three minutes. */
  rebootTime?: number | undefined
  /** Somebody adds this pool, with its nodes. */
  addedPool?: PoolShape | undefined
  /** Somebody unpauses these pools, once. */
  unpausedPools?: readonly string[] | undefined
  firing?: readonly { name: string; severity: string; namespace?: string }[] | undefined
}

interface NotUpgradeable {
  operator: string
  reason: string
  message: string
}

/** With those conditions set; the transition time of each is that of the last change of status. `at`: RFC 3339. */
export function withConditions(
  conditions: readonly Condition[],
  claims: readonly Condition[],
  at: string,
): Condition[] {
  const all = [...conditions]
  for (const said of claims) {
    const place = all.findIndex(({ type }) => type === said.type)
    const before = all[place]
    const since = before?.status === said.status ? before.lastTransitionTime : undefined
    all.splice(before ? place : all.length, 1, { ...said, lastTransitionTime: since ?? at })
  }
  return all
}

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.find((c) => c.type === type)?.status === 'True'

/** ms since a condition became what it is; 0 where nobody knows. */
export function msSince(conditions: readonly Condition[] | undefined, type: string, now: Date): number {
  const at = conditions?.find((c) => c.type === type)?.lastTransitionTime
  return at === undefined ? 0 : now.getTime() - Date.parse(at)
}
