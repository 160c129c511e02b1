import { isDeepStrictEqual } from 'node:util'
import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { fillTemplate } from '../placeholders.ts'
import type { OpenShiftShape, PoolShape } from './openshift-shape.ts'
import data from './platform.json' with { type: 'json' }

/** What every operator of the platform works with. */
export interface Platform extends ControllerContext {
  readonly shape: OpenShiftShape
  readonly faults: Faults<OpenShiftFaults>
}

export const minute = 60_000

/** After how many ms to look at what is due in `left` ms, by who ticks every so often and waits `delay` of it after any change. */
export const nextTick = (left: number, { every, delay }: { every: number; delay: number }): number =>
  Math.ceil(left / every) * every - delay

/**
 * Replaces the status of what was read, null fields included; nothing where it is that already. Throws ApiError 422 where
 * somebody wrote meanwhile.
 */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  cx: ControllerContext,
  kind: Kind<T>,
  { metadata: { name, namespace, resourceVersion }, status: before }: T,
  status: T['status'],
): Promise<void> {
  if (isDeepStrictEqual(before, status)) return
  const unread = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } as const
  const patch = [unread, { op: 'add', path: '/status', value: status } as const]
  await cx.writer.jsonPatch(kind, { name, namespace }, patch, 'status')
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

type Words = Readonly<Record<string, string | number | undefined>>

/** A part of platform.json with these words in it. */
export const platformData = <T>(template: unknown, words: Words): T =>
  fillTemplate(template, { word: (name) => String(words[name] ?? '') })

/** A condition of platform.json; when it changed last is for who writes it to say. */
export const stated = (name: keyof typeof data.conditions, words: Words = {}): Condition =>
  platformData(data.conditions[name], words)

/** A text of platform.json. */
export const worded = (name: keyof typeof data.texts, words: Words = {}): string =>
  platformData(data.texts[name], words)

/** With those conditions set; the transition time of each is that of the last change of status. `at`: RFC 3339. */
export function withConditions(
  conditions: readonly Condition[] | undefined,
  claims: readonly Condition[],
  at: string,
): Condition[] {
  const all = new Map(conditions?.map((one) => [one.type, one]))
  for (const claim of claims) {
    const before = all.get(claim.type)
    const since = before?.status === claim.status ? before.lastTransitionTime : undefined
    all.set(claim.type, { ...claim, lastTransitionTime: since ?? at })
  }
  return [...all.values()]
}

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.find((c) => c.type === type)?.status === 'True'

/** ms since a condition became what it is; 0 where nobody knows. */
export function msSince(conditions: readonly Condition[] | undefined, type: string, now: Date): number {
  const at = conditions?.find((c) => c.type === type)?.lastTransitionTime
  return at === undefined ? 0 : now.getTime() - Date.parse(at)
}
