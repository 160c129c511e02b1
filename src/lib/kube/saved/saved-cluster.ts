import { ApiError, exitCode, KvupError, usageError } from '../errors.ts'
import type { Access, Cluster, Reader, Reviewer, ServerVersion, Where, Writer } from '../cluster.ts'
import {
  eachText,
  groupOf,
  isRecord,
  keyOf,
  type Kind,
  type KubeObject,
  type OwnerReference,
  parseLabels,
  resourceOf,
} from '../object.ts'
import { HyperConvergeds } from '../kinds/operator-kinds.ts'
import { shellWord } from '../shell-line.ts'
import { KubeVirts } from '../kinds/kubevirt-kinds.ts'
import { ClusterOperators, ClusterVersions, MachineConfigPools } from '../kinds/openshift-kinds.ts'
import type { ParsedFile } from './saved-file.ts'

/** A cluster as it was at one moment. Its Writer refuses everything. */
export interface SavedCluster extends Cluster {
  /** When it was saved; of what kubectl printed, the latest time in it; undefined where there is none. */
  readonly takenAt: Date | undefined
  /** Files of its folder. */
  readonly files?: readonly string[]
  /** Of a folder: files that hold nothing of a cluster, or are broken. */
  readonly passedOver?: readonly PassedOver[]
}

/** A file of a folder that was not read, by its path in it. */
export interface PassedOver {
  file: string
  why: string
}

/** What has to be in it, of what is asked there: KubeVirt, or whatever is told of OKD and OpenShift without it. */
export type Needed = 'kubevirt' | 'platform' | 'any'

/**
 * A cluster made of what files hold: a snapshot of kvup, or what `kubectl get … -o yaml` printed. Throws `usage` for a snapshot that
 * lacks objects, two snapshots at once, and files without anything of what is needed.
 */
export function savedCluster(
  files: readonly ParsedFile[],
  from: string,
  needed: Needed = 'kubevirt',
  at?: Date,
): SavedCluster {
  const all = files.flatMap(({ objects }) => objects)
  const indexes = all.filter(isIndex)
  const [index, second] = indexes
  if (second) throw unfit(from, `it has ${indexes.length} snapshots, but kvup needs one`)
  for (const file of files) requireWhole(file)
  const objects = all.filter((object) => !isIndex(object))
  requireKnownFormat(from, index, objects)
  requireOneCluster(from, objects)
  const saved: Saved = {
    file: from,
    objects: new SavedObjects(objects),
    index,
    empty: files.flatMap(({ empty }) => empty),
    alerts: files.find(({ alerts }) => alerts !== undefined)?.alerts,
    byNamespace: files.some(({ file }) => /[/\\]namespaces[/\\]/u.test(file)),
  }
  requireOne(saved, needed)
  const writer = refusingWriter(from)
  return {
    reader: savedReader(saved),
    writer,
    reviewer: savedReviewer(saved, writer),
    takenAt: (index ? undefined : at) ?? takenAt(from, index, objects),
  }
}

const day = 24 * 60 * 60_000

/** A snapshot was not taken a day before what is in it was made: then the time of the newest object is taken. Clocks that differ by less are as they are. */
function takenAt(
  from: string,
  index: SnapshotIndex | undefined,
  objects: readonly KubeObject[],
): Date | undefined {
  if (index?.takenAt === undefined) {
    const time = latestTime(objects)
    return time === undefined ? undefined : new Date(time)
  }
  const said = Date.parse(index.takenAt)
  if (Number.isNaN(said)) throw unfit(from, 'its index does not say when it was taken')
  const made = objects.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') || said)
  const latest = made.reduce((last, one) => Math.max(last, one), said)
  return new Date(latest - said > day ? latest : said)
}

function requireWhole({ file, objects }: ParsedFile): void {
  const index = objects.find(isIndex)
  const there = objects.length - 1
  if (index && there < index.objects)
    throw unfit(file, `it is truncated: ${there} of ${index.objects} objects are there`)
}

/** Another kvup may have written more, or in another format: what this one needs has to be there. */
function requireKnownFormat(from: string, index: SnapshotIndex | undefined, objects: readonly KubeObject[]) {
  const unknown = objects.find(({ kind }) => kind === 'SnapshotIndex')?.apiVersion
  if (unknown !== undefined)
    throw unfit(from, `its format is ${unknown}, which this kvup does not know: another kvup wrote it`)
  if (index === undefined) return
  const missing =
    (['read', 'unread', 'rights'] as const).find((part) => !Array.isArray(index[part])) ??
    (isRecord(index.groups) ? undefined : 'groups')
  if (missing === undefined) return
  const by = typeof index.takenBy === 'string' ? index.takenBy : 'another kvup'
  throw unfit(from, `its index lacks ${missing}, which this kvup needs: ${by} wrote it`)
}

/** What a cluster has once, and never anew. */
const onlyOnes = new Set(['Namespace/kube-system', 'ClusterVersion/version'])
/** Whose names stand for one object at a time. */
const kindsOfOne = new Set([KubeVirts.kind, 'Node', 'Namespace'])

function requireOneCluster(from: string, objects: readonly KubeObject[]): void {
  const uids = new Map<string, string>()
  const owners = objects.flatMap(({ kind, metadata }) =>
    kind === 'ClusterOperator' ? (metadata.ownerReferences ?? []).map(asObject) : [],
  )
  for (const { kind, metadata } of [...objects, ...owners]) {
    const { name, namespace = '', uid } = metadata
    const what = `${kind}/${name}`
    if (uid === undefined || !(onlyOnes.has(what) || kindsOfOne.has(kind))) continue
    const place = `${namespace} ${what}`
    const before = uids.get(place) ?? uid
    uids.set(place, uid)
    if (before === uid) continue
    const why = `it contains two clusters: ${what} is there with two uids. Save each to a file of its own`
    throw unfit(from, why)
  }
}

const asObject = ({ kind, name, uid }: OwnerReference) => ({ kind, metadata: { name, uid, namespace: '' } })

const kinds: Record<Exclude<Needed, 'any'>, readonly Kind[]> = {
  kubevirt: [KubeVirts],
  platform: [KubeVirts, ClusterVersions, MachineConfigPools, ClusterOperators, HyperConvergeds],
}

/** Without any of them every command would end with "cannot tell", and blame rights for it. */
function requireOne({ file, objects, index, empty }: Saved, needed: Needed): void {
  const isInIt = (kind: Kind) => objects.has(kind) || empty.some((one) => one.kind === kind.kind)
  if (index || needed === 'any' || kinds[needed].some(isInIt)) return
  const names = kinds[needed].map(({ apiVersion, kind }) => `${kind} (${apiVersion})`)
  const why = `it has no ${names.join(', ')}`
  if (!kinds.platform.some(isInIt) || file === 'standard input') throw unfit(file, why, needed)
  throw unfit(file, why, needed, [
    `kvup status --from ${shellWord(file)}      shows the platform, which it contains`,
  ])
}

export function unfit(
  from: string,
  why: string,
  needed: Needed = 'kubevirt',
  first: readonly string[] = [],
): Error {
  const save = `kvup snapshot --to-file cluster.yaml      or ${printed[needed === 'any' ? 'platform' : needed]}`
  const remedy = [...first, save]
  return usageError('snapshot-unreadable', `cannot use ${from} as a saved cluster: ${why}`, { remedy })
}

const printed: Record<Exclude<Needed, 'any'>, string> = {
  kubevirt: 'kubectl get kubevirts,deployments,daemonsets,pods -A -o yaml >FILE',
  platform: 'oc get clusterversion,co,mcp,nodes -o yaml >FILE',
}

function savedReviewer({ index, file }: Saved, dryRun: Writer): Reviewer {
  const answers = new Map(index?.rights.map(({ access, allowed }) => [rightKey(access), allowed]))
  return {
    can: async (access) => {
      const allowed = answers.get(rightKey(access))
      if (allowed === undefined)
        throw new NotSavedError(`whether ${access.verb} ${access.resource} is allowed`, file)
      return { allowed, reason: '' }
    },
    whoAmI: async () => undefined,
    dryRun,
  }
}

const rightKey = ({ verb, group, resource, subresource = '', namespace = '', name = '' }: Access): string =>
  [verb, group, resource, subresource, namespace, name].join(' ')

function refusingWriter(from: string): Writer {
  const refuse = async (): Promise<never> => {
    throw usageError('saved-cluster', `${from} is a saved cluster: nothing can be changed in it`)
  }
  const names = ['create', 'mergePatch', 'jsonPatch', 'apply', 'delete', 'subresource'] as const
  return Object.fromEntries(names.map((name) => [name, refuse])) as Record<
    (typeof names)[number],
    typeof refuse
  >
}

/** What was read from files. */
interface Saved {
  /** For messages. */
  file: string
  objects: SavedObjects
  /** Undefined for what `kubectl get` printed. */
  index: SnapshotIndex | undefined
  /** Kinds that a list without items was of: there are none. */
  empty: readonly { apiVersion: string; kind: string }[]
  /** What Prometheus answered. */
  alerts: string | undefined
  /** A must-gather, which has some namespaces: of the others nothing is known. */
  byNamespace: boolean
}

const readers = new WeakSet<object>()

/** Whether it answers from files. */
export const isSaved = (reader: object): boolean => readers.has(reader)

/**
 * Answers from saved objects. What was refused when they were saved is refused with the same words; what they do not hold is a
 * NotSavedError, never "there are none". `askService` is there only where the files hold what Prometheus said of alerts: no other service was asked.
 */
function savedReader(saved: Saved): Reader {
  const { file, index, objects, empty, alerts } = saved
  const lacking = (what: string) => new NotSavedError(what, file)
  const list: Reader['list'] = async (kind, where = {}) => {
    const unread = unreadIn(saved, kind, where)
    if (unread !== undefined) throw errorOf(unread)
    return objects.select(kind, where)
  }
  const reader: Reader = {
    get: async (kind, ref) => {
      const { name, namespace } = ref
      const [object] = objects.select(kind, { name, ...(kind.namespaced && { namespace }) })
      // Also where only a list of some of them was asked for.
      if (object) return { is: 'object', object }
      const unread = unreadIn(saved, kind, ref)
      if (unread?.code === 404) return { is: 'unserved' }
      if (unread !== undefined) throw errorOf(unread)
      return { is: 'absent' }
    },
    list,
    pages: async function* (kind, where) {
      yield { items: await list(kind, where), resourceVersion: '' }
    },
    /** Nothing changes any more. */
    watch: async function* (kind, where, signal) {
      for (const object of await list(kind, where)) yield { type: 'added', object }
      yield { type: 'synced' }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
    versions: async (group) => {
      if (index) return index.groups[group] ?? objects.versions(group)
      // Who printed its pools alone has a platform all the same.
      const isPlatform =
        group === platformGroup &&
        (objects.has(MachineConfigPools) ||
          empty.some((one) => objectKey(one) === objectKey(MachineConfigPools)))
      return isPlatform ? ['v1'] : objects.versions(group)
    },
    version: async () => {
      if (index?.serverVersion === undefined) throw lacking('the version of the API server')
      return index.serverVersion
    },
    log: async ({ name }) => {
      throw lacking(`the log of pod ${name}`)
    },
    ...(alerts !== undefined && {
      askService: async ({ path }) => {
        if (path.endsWith('/alerts')) return alerts
        throw lacking(`the answer of ${path}`)
      },
    }),
  }
  readers.add(reader)
  return reader
}

/** Undefined where the objects answer it; why not, where the cluster said so. Throws NotSavedError. */
function unreadIn(saved: Saved, kind: Kind, where: Where): Unread | undefined {
  const asked = questionOf(kind, where)
  const { index, empty, file } = saved
  const held = index ? index.read.some((question) => covers(question, asked)) : isThere(saved, kind, where)
  if (held || empty.some((one) => one.apiVersion === asked.apiVersion && one.kind === asked.kind))
    return inOtherVersion(saved, asked)
  const unread = index?.unread.find((question) => covers(question, asked))
  if (unread !== undefined) return unread
  throw new NotSavedError(inWords(kind, where), file)
}

/** Pods are printed of one namespace as often as of all: of one that has none here nothing is known, and none is called gone. */
function isThere({ objects, byNamespace }: Saved, kind: Kind, { namespace }: Where): boolean {
  const isOfSome = byNamespace || kind.kind === 'Pod'
  if (!isOfSome || !kind.namespaced || namespace === undefined) return objects.has(kind)
  return objects.select(kind, { namespace }).length > 0
}

/** What kubectl printed is of one version: asked for in another one, the next may be tried. */
function inOtherVersion({ index, objects, empty, file }: Saved, asked: Question): Unread | undefined {
  const versions = index || empty.length > 0 ? [] : objects.versions(groupOf(asked))
  const version = asked.apiVersion.slice(asked.apiVersion.indexOf('/') + 1)
  if (versions.length === 0 || versions.includes(version)) return undefined
  return { ...asked, code: 404, reason: 'Unserved', why: `${file} has ${versions.join(', ')} of it` }
}

const platformGroup = 'config.openshift.io'

const errorOf = ({ code, reason, why }: Unread): ApiError => new ApiError(code, reason, why)

function inWords(kind: Kind, { namespace, name }: Where): string {
  const what = name === undefined ? resourceOf(kind) : `${resourceOf(kind)} ${name}`
  return namespace === undefined ? what : `${what} in namespace ${namespace}`
}

/** The objects of a saved cluster by kind, in the order in which a server lists them. */
class SavedObjects {
  readonly #byKind: ReadonlyMap<string, readonly KubeObject[]>

  /** Of several of one name the last counts. */
  constructor(objects: readonly KubeObject[]) {
    const all = new Map(objects.map((object) => [`${objectKey(object)} ${keyOf(object)}`, object]))
    const sorted = [...all.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    this.#byKind = Map.groupBy(sorted, objectKey)
  }

  has(kind: Pick<Kind, 'apiVersion' | 'kind'>): boolean {
    return this.#byKind.has(objectKey(kind))
  }

  /** API versions in which objects of that group were saved. */
  versions(group: string): string[] {
    const all = [...this.#byKind.values()].flatMap((objects) => objects.slice(0, 1))
    const versions = all.filter((object) => groupOf(object) === group).map(({ apiVersion }) => apiVersion)
    return [...new Set(versions.map((version) => version.slice(version.indexOf('/') + 1)))]
  }

  /** In the version that is asked for. Throws `usage` for a selector that is none. */
  select<T extends KubeObject>(kind: Kind<T>, { namespace, name, labels, fields }: Where): T[] {
    const labelled = parseLabels(labels, (why) => usageError('not-a-selector', why))
    const fits = fieldTest(fields)
    return (this.#byKind.get(objectKey(kind)) ?? [])
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => name === undefined || metadata.name === name)
      .filter((object) => labelled(object.metadata.labels) && fits(object))
      .map((object) => Object.assign({}, object as T, { apiVersion: kind.apiVersion }))
  }
}

const objectKey = ({ apiVersion, kind }: Pick<Kind, 'apiVersion' | 'kind'>): string =>
  `${groupOf({ apiVersion })} ${kind}`

type FieldTest = (object: KubeObject) => boolean

/** `status.phase=Running,spec.nodeName!=node-1` */
function fieldTest(selector = ''): FieldTest {
  const terms = selector.split(',').filter((term) => term.trim() !== '')
  const tests = terms.map(termTest)
  return (object) => tests.every((test) => test(object))
}

function termTest(term: string): FieldTest {
  const [, field, operator, value] = /^\s*([^=!\s]+)\s*(==|=|!=)(.*?)\s*$/.exec(term) ?? []
  if (field === undefined) throw usageError('not-a-selector', `${JSON.stringify(term)} is no field selector`)
  return (object) => {
    const found = field
      .split('.')
      .reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), object)
    const text = typeof found === 'string' ? found : found === undefined ? '' : JSON.stringify(found)
    return (text === value) === (operator !== '!=')
  }
}

/** Of what a snapshot's first object is: what was asked, and what was answered. Everything else in it is plain Kubernetes objects. */
export interface SnapshotIndex extends KubeObject {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'SnapshotIndex'
  /** RFC 3339. */
  takenAt: string
  /** Of kvup. */
  takenBy: string
  redacted: boolean
  /** How many objects follow: fewer is a truncated file. */
  objects: number
  kubevirtNamespace?: string
  serverVersion?: ServerVersion
  /** Everything of such a kind, in such a place, is in it: what is missing did not exist. */
  read: readonly Question[]
  /** Why something is not: an answer of the server, and not "there are none". */
  unread: readonly Unread[]
  /** Versions of API groups that were asked for. */
  groups: Readonly<Record<string, readonly string[]>>
  /** What the user could do. */
  rights: readonly { access: Access; allowed: boolean }[]
}

/** One list, or one object by its name. */
export interface Question extends Omit<Where, 'pageSize'> {
  apiVersion: string
  kind: string
}

export interface Unread extends Question {
  /** HTTP status: 403, 404. */
  code: number
  /** `metav1.Status.reason`; `Unserved` where the kind is not known to the server. */
  reason: string
  why: string
}

const isIndex = (object: KubeObject): object is SnapshotIndex =>
  object.apiVersion === 'kvup.io/v1alpha1' && object.kind === 'SnapshotIndex'

const limits = ['namespace', 'name', 'labels', 'fields'] as const

export function questionOf({ apiVersion, kind }: Kind, where: Where): Question {
  const asked = limits.flatMap((limit) => (where[limit] === undefined ? [] : [[limit, where[limit]]]))
  return { apiVersion, kind, ...Object.fromEntries(asked) }
}

/** Whether whoever knows the answer to `wide` knows that to `asked` as well. */
const covers = (wide: Question, asked: Question): boolean =>
  wide.apiVersion === asked.apiVersion &&
  wide.kind === asked.kind &&
  limits.every(
    (limit) =>
      wide[limit] === undefined ||
      wide[limit] === asked[limit] ||
      (limit === 'labels' && isOfOperands(wide, asked)),
  )

/**
 * Former snapshots hold what KubeVirt runs as `kubevirt.io,…`, a label that all of it had but the pods of virt-template: it is judged by that.
 */
function isOfOperands({ labels: wide = '', namespace }: Question, { labels: asked = '' }: Question): boolean {
  const [first, ...others] = wide.split(',')
  const terms = asked.split(',')
  return namespace !== undefined && first === 'kubevirt.io' && others.every((term) => terms.includes(term))
}

/** A saved cluster was asked for what it does not hold: neither "there is none" nor "there is one" would be true. */
export class NotSavedError extends KvupError {
  override readonly name = 'NotSavedError'

  constructor(what: string, file: string) {
    super(exitCode.usage, 'not-saved', `${file} does not contain ${what}`, {
      remedy: 'kvup snapshot --to-file cluster.yaml      saves everything that kvup reads',
    })
  }
}

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** These lie in the future. */
const future = /^(deletionTimestamp|notAfter|expirationTimestamp)$/

/** The latest time that an object speaks of: Leases and heartbeats are seconds old when they are read. RFC 3339. */
function latestTime(objects: readonly KubeObject[]): string | undefined {
  let latest: string | undefined
  eachText(objects, (text, key) => {
    const isPast = /time(stamp)?$/i.test(key) && !future.test(key)
    if (isPast && isTime.test(text) && (latest === undefined || text > latest)) latest = text
  })
  return latest
}
