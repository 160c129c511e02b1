import { isRecord, type Kind, type KubeObject, resourceOf } from '../../kube/object.ts'
import type { JsonOperation, Reader, Ref } from '../../kube/cluster.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../kube/kinds/openshift-kinds.ts'
import { Subscriptions } from '../../kube/kinds/operator-kinds.ts'
import type { Override } from '../../engine/journal.ts'
import { isDeepStrictEqual } from 'node:util'
import { valueAt } from '../../kube/server-side-apply.ts'

/** An object that was looked at. */
interface ReadObject {
  name: string
  namespace?: string | undefined
  uid: string
}

const refOf = ({ name, namespace }: ReadObject): Ref =>
  namespace === undefined ? { name } : { name, namespace }

const weeks =
  'for weeks; the nodes of the pool get no new configuration meanwhile, and the next minor waits for them'
const unwatched = 'for days; failed nodes are not replaced meanwhile'

/** Keeps the nodes of a pool where they are (ocp 3.5). */
export const poolPaused = ({ name, uid }: ReadObject): Borrowable =>
  overriddenField(
    {
      override: `pool-paused/${name}`,
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
      override: `machine-health-check/${snapshot.namespace ?? ''}/${snapshot.name}`,
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
      override: `node-health-check/${name}`,
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
      override: 'approval',
      kind: Subscriptions,
      ref: refOf(snapshot),
      uid: snapshot.uid,
      path: ['spec', 'installPlanApproval'],
      harmless: 'for days; other operators of the namespace are approved automatically too',
    },
    approval,
    { meanwhile: approval, absentMeans: 'Automatic' },
  )

/** The channel of the ClusterVersion: given back only where no hop was accepted (night E2). */
export const platformChannel = ({ name, uid }: ReadObject, channel: string): Borrowable =>
  overriddenField(
    {
      override: 'platform-channel',
      kind: ClusterVersions,
      ref: { name },
      uid,
      path: ['spec', 'channel'],
      harmless: 'always: a channel updates nothing by itself',
    },
    channel,
    { meanwhile: channel },
  )

/** What an override is of: pools, health checks, approval. Undefined for those that are more than a field. */
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
    override: 'desired-update',
    kind: ClusterVersions,
    ref: { name },
    uid,
    path: ['spec', 'desiredUpdate'],
    harmless: 'not at all while it is refused: it starts by itself once its cause is gone',
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

/** One setting of one object that is other than its owner wants it while the window is open, and is put back at its end. */
export interface Borrowable {
  /** Its name in the journal: `pool-paused/worker`. */
  readonly override: string
  readonly kind: Kind
  readonly ref: Ref
  readonly uid: string
  /** JSON pointer of the field. */
  readonly pointer: string
  /** What it is while it is borrowed, in words: `paused`. */
  readonly meanwhile: string
  /** For how long it is harmless to leave it so, and what does not work meanwhile. */
  readonly harmless: string
  /** What is kept; undefined where the field is absent. */
  valueIn(object: KubeObject): unknown
  /** What is kept of how it is meanwhile. */
  takenValue(object: KubeObject): unknown
  isTaken(object: KubeObject): boolean
  /** It is so already by somebody else's doing: nothing is taken then. Default: only what reads as kvup would write it. */
  suffices?(object: KubeObject): boolean
  /** It means what it meant before it was borrowed. */
  isBack(object: KubeObject, was: Override['was']): boolean
  /** Guarded by `test`: refused where the object is another one, or the field was written since it was read. */
  take(object: KubeObject): readonly JsonOperation[]
  give(object: KubeObject, was: Override['was']): readonly JsonOperation[]
}

/** What a borrowed thing is of, and what the journal says of it. */
type Place = Pick<Borrowable, 'override' | 'kind' | 'ref' | 'uid' | 'harmless'> & {
  path: readonly string[]
}

interface OneValue {
  meanwhile: string
  /** What it is where nobody set it, so that absence and that value are one. */
  absentMeans?: unknown
  /** That it is there is all that counts: whoever set it has done what is wanted. */
  presenceCounts?: boolean
}

/** A field that has one value. */
export function overriddenField(
  { path, ...place }: Place,
  value: unknown,
  { meanwhile, absentMeans, presenceCounts }: OneValue,
): Borrowable {
  const now = (object: KubeObject) => valueAt(object, path)
  const meaning = (found: unknown) => found ?? absentMeans
  return {
    ...place,
    pointer: pointerOf(path),
    meanwhile,
    valueIn: now,
    takenValue: () => value,
    isTaken: (object) => isDeepStrictEqual(meaning(now(object)), value),
    ...(presenceCounts && { suffices: (object: KubeObject) => now(object) !== undefined }),
    isBack: (object, was) =>
      isDeepStrictEqual(meaning(now(object)), meaning(was.present ? was.value : undefined)),
    take: (object) => [...guards(object, path), ...adding(object, path, value)],
    give: (object, was) => [
      ...guards(object, path),
      was.present ? { op: 'replace', path: pointerOf(path), value: was.value } : removing(path),
    ],
  }
}

/** One entry in a list that others write as well: theirs stay. */
export function overriddenEntry(
  { path, ...place }: Place,
  entry: string,
  { meanwhile }: { meanwhile: string },
): Borrowable {
  const now = (object: KubeObject): readonly unknown[] => listIn(valueAt(object, path))
  return {
    ...place,
    pointer: pointerOf(path),
    meanwhile,
    valueIn: (object) => valueAt(object, path),
    takenValue: () => entry,
    isTaken: (object) => now(object).includes(entry),
    isBack: (object) => !now(object).includes(entry),
    take: (object) => [...guards(object, path), ...adding(object, path, [...now(object), entry])],
    give(object, was) {
      const rest = now(object).filter((one) => one !== entry)
      const back: JsonOperation =
        rest.length === 0 && !was.present
          ? removing(path)
          : { op: 'replace', path: pointerOf(path), value: rest }
      return [...guards(object, path), back]
    },
  }
}

/** `machineconfigpools.machineconfiguration.openshift.io/worker`, with its namespace where it has one. */
export function nameOfOverridden({ kind, ref }: Pick<Borrowable, 'kind' | 'ref'>): string {
  const name = `${resourceOf(kind)}/${ref.name}`
  return ref.namespace === undefined ? name : `${name} in namespace ${ref.namespace}`
}

/** Command that shows who writes which field of it. */
export function showsOverridden({ kind, ref }: Pick<Borrowable, 'kind' | 'ref'>): string {
  const where = ref.namespace === undefined ? '' : `-n ${ref.namespace} `
  return `kubectl ${where}get ${resourceOf(kind)} ${ref.name} -o yaml --show-managed-fields`
}

/** Absence cannot be tested for: where the field is not there, nothing else may have been written either. */
function guards(object: KubeObject, path: readonly string[]): readonly JsonOperation[] {
  const { uid, resourceVersion } = object.metadata
  const value = valueAt(object, path)
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    value === undefined
      ? { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }
      : { op: 'test', path: pointerOf(path), value },
  ]
}

/** Makes what is missing on the way there. */
function adding(object: KubeObject, path: readonly string[], value: unknown): readonly JsonOperation[] {
  const missing = path.findIndex((_, at) => valueAt(object, path.slice(0, at + 1)) === undefined)
  if (missing < 0) return [{ op: 'replace', path: pointerOf(path), value }]
  const within = path.slice(missing + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  return [{ op: 'add', path: pointerOf(path.slice(0, missing + 1)), value: within }]
}

const removing = (path: readonly string[]): JsonOperation => ({ op: 'remove', path: pointerOf(path) })

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const pointerOf = (path: readonly string[]): string =>
  `/${path.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`

/** The object that an override is of: there, another one of the same name in its place, or none. */
type Sought = { is: 'there'; object: KubeObject } | { is: 'replaced'; object: KubeObject } | { is: 'gone' }

/** Throws ApiError. An object that is being deleted counts as gone: what is written to it lasts for nobody. */
export async function getOverridden(
  reader: Reader,
  { kind, ref }: Pick<Borrowable, 'kind' | 'ref'>,
  uid: string,
): Promise<Sought> {
  const found = await reader.get(kind, ref)
  if (found.is !== 'object' || found.object.metadata.deletionTimestamp !== undefined) return { is: 'gone' }
  const { object } = found
  return { is: object.metadata.uid === uid ? 'there' : 'replaced', object }
}

/** The open override of this name, whichever object it was taken from. */
export const overrideNamed = (overrides: readonly Override[], name: string): Override | undefined =>
  overrides.find(({ id }) => id === name)

/** `spec.paused of MachineConfigPool worker`, with its namespace where it has one. */
export const whatIs = ({ pointer, kind, ref }: Borrowable): string => {
  const where = ref.namespace === undefined ? '' : ` in namespace ${ref.namespace}`
  return `${pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')} of ${kind.kind} ${ref.name}${where}`
}

/** As it reads in a sentence. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'absent'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const keptText = ({ was }: Override): string => valueText(was.present ? was.value : undefined)
