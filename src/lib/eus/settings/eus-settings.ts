import { isRecord } from '../../kube/object.ts'
import type { Ref } from '../../kube/cluster.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../kube/kinds/openshift-kinds.ts'
import { Subscriptions } from '../../kube/kinds/operator-kinds.ts'
import type { Override } from '../../engine/journal.ts'
import { type Borrowable, overriddenEntry, overriddenField, type Place } from './saved-setting.ts'

/** An object that was looked at. */
interface ReadObject {
  name: string
  namespace?: string | undefined
  uid: string
}

const refOf = ({ name, namespace }: ReadObject): Ref =>
  namespace === undefined ? { name } : { name, namespace }

const weeks =
  'for weeks; nodes of the pool get no new configuration meanwhile, and the next minor waits for them'
const unwatched = 'for days; nodes that fail are not replaced meanwhile'

/** Keeps the nodes of a pool where they are (ocp 3.5). */
export const poolPaused = ({ name, uid }: ReadObject): Borrowable =>
  overriddenField(
    {
      loan: `pool-paused/${name}`,
      kind: MachineConfigPools,
      ref: { name },
      uid,
      path: ['spec', 'paused'],
      harmless: weeks,
    },
    true,
    { meanwhile: 'paused', absentMeans: false },
  )

/** By whom it is paused, where others look. */
const byKvup = 'kvup'

/** A machine that reboots is no machine to replace (night E7). The annotation counts by being there, so one that others set is left to them. */
export const machineHealthCheckPaused = (snapshot: ReadObject): Borrowable =>
  overriddenField(
    {
      loan: `machine-health-check/${snapshot.namespace ?? ''}/${snapshot.name}`,
      kind: MachineHealthChecks,
      ref: refOf(snapshot),
      uid: snapshot.uid,
      path: ['metadata', 'annotations', 'cluster.x-k8s.io/paused'],
      harmless: unwatched,
    },
    byKvup,
    { meanwhile: 'paused', presenceCounts: true },
  )

/** An entry of ours among the requests of others. */
export const nodeHealthCheckPaused = ({ name, uid }: ReadObject): Borrowable =>
  overriddenEntry(
    {
      loan: `node-health-check/${name}`,
      kind: NodeHealthChecks,
      ref: { name },
      uid,
      path: ['spec', 'pauseRequests'],
      harmless: unwatched,
    },
    'kvup: the platform is being updated',
    { meanwhile: 'paused' },
  )

export type Approval = 'Manual' | 'Automatic'

/** How OLM goes on, for as long as the window is open (night E7). */
export const approvalOf = (snapshot: ReadObject, approval: Approval): Borrowable =>
  overriddenField(
    {
      loan: 'approval',
      kind: Subscriptions,
      ref: refOf(snapshot),
      uid: snapshot.uid,
      path: ['spec', 'installPlanApproval'],
      harmless: 'for days; other operators of the namespace are approved in the same way',
    },
    approval,
    { meanwhile: approval, absentMeans: 'Automatic' },
  )

/** The channel of the ClusterVersion: given back only where no hop was accepted (night E2). */
export const platformChannel = ({ name, uid }: ReadObject, channel: string): Borrowable =>
  overriddenField(
    {
      loan: 'platform-channel',
      kind: ClusterVersions,
      ref: { name },
      uid,
      path: ['spec', 'channel'],
      harmless: 'always: a channel updates nothing by itself',
    },
    channel,
    { meanwhile: channel },
  )

/** What a loan is of: pools, health checks, approval. Undefined for those that are more than a field. */
export function fieldOfOverride({
  id,
  object: { name, namespace, uid },
  taken,
}: Override): Borrowable | undefined {
  const [family = ''] = id.split('/')
  return makers[family]?.({ name, namespace, uid }, taken?.value)
}

const makers: Readonly<Record<string, (snapshot: ReadObject, taken: unknown) => Borrowable>> = {
  'pool-paused': poolPaused,
  'machine-health-check': machineHealthCheckPaused,
  'node-health-check': nodeHealthCheckPaused,
  approval: (snapshot, taken) => approvalOf(snapshot, taken === 'Automatic' ? 'Automatic' : 'Manual'),
}

/** A release that the ClusterVersion is asked for. */
interface Update {
  version: string
  image?: string | undefined
}

/** What says which release, and how: of a request that was made before, none of it holds for ours. */
const ofOneRequest: ReadonlySet<string> = new Set(['version', 'image', 'force', 'mode'])

/**
 * What the ClusterVersion is asked for: ours until it is accepted (night E6). Whatever else desiredUpdate holds stays (accepted risks, as oc keeps them; ocp 4.1),
 * but nothing is ever forced.
 */
export function desiredUpdate({ name, uid }: ReadObject, update: Update): Borrowable {
  const place: Place = {
    loan: 'desired-update',
    kind: ClusterVersions,
    ref: { name },
    uid,
    path: ['spec', 'desiredUpdate'],
    harmless: 'not at all while it is refused: it starts by itself once nothing is in the way any more',
  }
  const words = { meanwhile: update.version }
  const field = overriddenField(place, update, words)
  return {
    ...field,
    isTaken: (object) => isAskedFor(field.valueIn(object), update),
    takenValue: (object) => merged(field.valueIn(object), update),
    take: (object) => overriddenField(place, merged(field.valueIn(object), update), words).take(object),
  }
}

/** What is written to ask for a release: a version or an image alone where an architecture is named, which the API allows beside no image. */
export function updateFor(present: unknown, { version, image }: Update): { version: string; image?: string } {
  const architecture = isRecord(present) ? present['architecture'] : undefined
  return image === undefined || architecture ? { version } : { version, image }
}

function merged(present: unknown, { version, image }: Update): Readonly<Record<string, unknown>> {
  const others = Object.entries(isRecord(present) ? present : {}).filter(([key]) => !ofOneRequest.has(key))
  return { ...Object.fromEntries(others), version, ...(image !== undefined && { image }) }
}

/** Exactly it: another image of the same version is another release. */
export const isAskedFor = (present: unknown, { version, image }: Update): boolean =>
  isRecord(present) && present['version'] === version && (present['image'] ?? '') === (image ?? '')
