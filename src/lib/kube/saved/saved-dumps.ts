import { statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { readBounded } from '../bounded-file.ts'
import * as core from '../kinds/core-kinds.ts'
import * as extension from '../kinds/extension-kinds.ts'
import * as kubevirt from '../kinds/kubevirt-kinds.ts'
import * as openshift from '../kinds/openshift-kinds.ts'
import * as operator from '../kinds/operator-kinds.ts'
import * as workload from '../kinds/workload-kinds.ts'
import { groupOf, isRecord, type Kind } from '../object.ts'
import { latestTime } from './saved-cluster.ts'
import type { ParsedFile } from './saved-file.ts'

/** Files of one folder that were written at one moment. */
export interface Dump {
  files: readonly ParsedFile[]
  /** Where the dump itself says when it was taken. */
  at?: Date
  /** Where it lies, if it has a folder of its own. */
  folder?: string
  /** It is of another cluster than the first dump. */
  otherCluster?: true
}

const kinds = [core, extension, kubevirt, openshift, operator, workload]
  .flatMap((module): unknown[] => Object.values(module))
  .filter(isKind)

/** `GROUP/PLURAL`, the core group as `core`, as a must-gather names its folders and files. */
const asked: ReadonlySet<string> = new Set(kinds.map((kind) => `${groupOf(kind) || 'core'}/${kind.plural}`))
const askedKinds: ReadonlySet<string> = new Set(kinds.map((kind) => `${groupOf(kind)} ${kind.kind}`))

function isKind(value: unknown): value is Kind {
  return isRecord(value) && typeof value['plural'] === 'string' && typeof value['apiVersion'] === 'string'
}

/** What a must-gather names by its group, above or below its namespace: one object, or the list of all. */
const ofGroup =
  /(?:^|\/)(?:cluster-scoped-resources|namespaces\/[^/]+)\/(?<group>[^/]+)\/(?<plural>[^/]+?)(?:\/[^/]+)?\.(?:ya?ml|json)$/u
const inLayout = /(?:^|\/)(?:cluster-scoped-resources|namespaces)\//u
/** `namespaces/NS/pods/POD/POD.yaml`, which `core/pods.yaml` has as well; only where that is missing it tells something. */
const ofPod = /(?:^|\/)namespaces\/[^/]+\/pods\/(?<pod>[^/]+)\/\k<pod>\.ya?ml$/u

/**
 * Whether a file of a folder may hold what kvup asks for. A must-gather has thousands of others, whose names tell that; elsewhere every file may.
 */
export function isAsked(path: string): boolean {
  const name = path.replaceAll('\\', '/').replace(/\.gz$/u, '')
  if (!inLayout.test(name)) return true
  const { group, plural } = ofGroup.exec(name)?.groups ?? {}
  if (group !== undefined && plural !== undefined && asked.has(`${group}/${plural}`)) return true
  return ofPod.test(name)
}

interface Group {
  /** The folder of a must-gather; absent for files that lie about. */
  folder?: string
  at?: Date
  /** The file that says when; one gather by several images has one of them. */
  clock?: string
  files: ParsedFile[]
  otherCluster?: true
}

/**
 * The dumps that the files are of, the newest first, those of another cluster than the others last. Files that do not contradict one another are of one, unless they say themselves that they are of other
 * times, or what they hold cannot be of one cluster.
 */
export function dumpsIn(files: readonly ParsedFile[], from: string): readonly Dump[] {
  const groups = groupsOf(files, from.replace(/(?<=.)[/\\]+$/u, '')).flatMap((group) =>
    group.at ? [group] : apart(group),
  )
  const dumps: { group: Group; states: States }[] = []
  for (const group of newestFirst(groups)) {
    const fits = dumps.find(
      (dump) =>
        isOneGather(dump.group, group) || (isNear(dump.group, group) && agree(dump.states, group.files)),
    )
    const states = fits?.states ?? new Map()
    if (fits) fits.group.files.push(...group.files)
    else dumps.push({ group, states })
    remember(group.files, states)
  }
  return newestFirst(dumps.flatMap(({ group }) => (group.at ? [group] : byCluster(group))))
}

const hour = 3_600_000

const isOneGather = (a: Group, b: Group): boolean => a.clock !== undefined && a.clock === b.clock

const isNear = (a: Group, b: Group): boolean =>
  !a.at || !b.at || Math.abs(a.at.getTime() - b.at.getTime()) < hour

const timeOf = ({ at, files }: Group): number =>
  at?.getTime() ?? Date.parse(latestTime(files.flatMap(({ objects }) => objects)) ?? '1970-01-01T00:00:00Z')

const newestFirst = (groups: readonly Group[]): Group[] =>
  groups
    .map((group) => ({ group, time: timeOf(group), other: Number(group.otherCluster ?? 0) }))
    .toSorted((a, b) => a.other - b.other || b.time - a.time)
    .map(({ group }) => group)

function groupsOf(files: readonly ParsedFile[], from: string): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const file of files) {
    const folder = folderOf(file.file, from)
    const group = groups.get(folder) ?? { folder, files: [], ...timestampIn(folder, from) }
    groups.set(folder, group)
    group.files.push(file)
  }
  return [...groups.values()]
}

/** Of a file in the layout of a must-gather the folder that has it; of any other that in which it lies. */
function folderOf(file: string, from: string): string {
  const path = relative(from, file).replaceAll('\\', '/')
  const layout = inLayout.exec(path)
  return layout === null ? dirname(file) : join(from, path.slice(0, layout.index))
}

/** `timestamp` of a must-gather, beside its images' folders or in one: when it began and when it ended. */
function timestampIn(folder: string, from: string): Pick<Group, 'at' | 'clock'> {
  for (let within = folder; ; within = dirname(within)) {
    const clock = join(within, 'timestamp')
    const at = lastTime(clock)
    if (at) return { at, clock }
    // `./x` and `x` are one folder.
    if (relative(from, within) === '' || within === dirname(within)) return {}
  }
}

const written = /(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)/gu

function lastTime(file: string): Date | undefined {
  const text = textOf(file)
  const [, day, time, zone = 'Z'] = [...text.matchAll(written)].at(-1) ?? []
  if (day === undefined || time === undefined) return undefined
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  const found = new Date(`${day}T${time}${offset}`)
  return Number.isNaN(found.getTime()) ? undefined : found
}

/** A few hundred bytes. What is no file, as a pipe or a device, may have no end, and is not read. */
function textOf(file: string): string {
  try {
    return statSync(file).isFile() ? readBounded(file, 64 * 1024).toString('utf8') : ''
  } catch {
    return ''
  }
}

/** What is known of each object, by its name. */
type States = Map<string, string>

/** Whether none of these objects is known with other contents. What nobody asks for makes no difference. A folder may hold thousands of files: each is looked at once. */
const agree = (states: States, files: readonly ParsedFile[]): boolean =>
  files.every(({ objects }) =>
    objects.filter(isOfUse).every((object) => {
      const state = states.get(keyOf(object))
      return state === undefined || state === stateOf(object)
    }),
  )

function remember(files: readonly ParsedFile[], states: States): void {
  for (const { objects } of files)
    for (const object of objects.filter(isOfUse)) states.set(keyOf(object), stateOf(object))
}

type Objects = ParsedFile['objects'][number]

const isOfUse = ({ apiVersion, kind }: Objects): boolean =>
  askedKinds.has(`${groupOf({ apiVersion })} ${kind}`)

const keyOf = ({ apiVersion, kind, metadata: { namespace = '', name } }: Objects): string =>
  `${groupOf({ apiVersion })} ${kind} ${namespace}/${name}`

/** Its resourceVersion is of the moment; without one all that it says. */
const stateOf = (object: Objects): string => object.metadata.resourceVersion ?? JSON.stringify(object)

/** Files that lie about, as `monday-cv.yaml` and `tuesday-cv.yaml`: those whose names begin alike belong together, where they contradict one another. */
function apart(group: Group): readonly Group[] {
  if (inOneLayout(group) || isWhole(group.files)) return [group]
  const named = new Map<string, ParsedFile[]>()
  for (const file of group.files) {
    const stem = stemOf(file.file)
    named.set(stem, [...(named.get(stem) ?? []), file])
  }
  return [...named.values()].flatMap((files) =>
    isWhole(files) ? [{ files }] : files.map((file) => ({ files: [file] })),
  )
}

/** No object stands in two of them with other contents. */
function isWhole(files: readonly ParsedFile[]): boolean {
  const states: States = new Map()
  return files.every((file) => {
    const agrees = agree(states, [file])
    remember([file], states)
    return agrees
  })
}

/** A must-gather reads some objects twice within its minutes. */
const inOneLayout = ({ folder, files }: Group): boolean =>
  folder !== undefined &&
  files.some(({ file }) => inLayout.test(relative(folder, file).replaceAll('\\', '/')))

/** Its name without what it holds: `day1` of `day1-clusterversion.yaml`. */
const stemOf = (file: string): string =>
  basename(file)
    .replace(/\.(?:ya?ml|json|ndjson|jsonl)(?:\.gz)?$/u, '')
    .replace(/[-_.]?[a-z]+$/iu, '')

/** What the objects of a file tell of the cluster that they are of. */
interface Traces {
  /** ms: when what every cluster has from its installation on was made. */
  installed: readonly number[]
  /** ms: the latest time that it speaks of. */
  latest: number
  /** Of the ClusterVersion, as it says itself or as its ClusterOperators say. */
  versions: readonly string[]
  /** Names of rendered configurations, which are hashes of what a cluster is configured with. */
  configs: readonly string[]
}

function tracesOf({ objects }: ParsedFile): Traces {
  return {
    installed: objects
      .filter(isInstalled)
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
      .filter((time) => !Number.isNaN(time)),
    latest: Date.parse(latestTime(objects) ?? ''),
    versions: objects.flatMap(versionOf),
    configs: objects.flatMap(configsOf),
  }
}

/** Of parts that come later, as of an operator that a release brings, nothing follows. */
function isInstalled({ kind, metadata: { name } }: Objects): boolean {
  if (kind === 'ClusterVersion') return name === 'version'
  if (kind === 'MachineConfigPool') return name === 'master'
  return kind === 'ClusterOperator' && (name === 'machine-config' || name === 'kube-apiserver')
}

function versionOf({ kind, metadata }: Objects): string[] {
  if (kind === 'ClusterVersion') return metadata.uid === undefined ? [] : [metadata.uid]
  if (kind !== 'ClusterOperator') return []
  return (metadata.ownerReferences ?? []).flatMap((owner) =>
    owner.kind === 'ClusterVersion' ? [owner.uid] : [],
  )
}

const note = 'machineconfiguration.openshift.io'

function configsOf(object: Objects): string[] {
  const { kind, metadata } = object
  if (kind === 'MachineConfig') return [metadata.name]
  if (kind === 'Node')
    return [`${note}/currentConfig`, `${note}/desiredConfig`].flatMap(
      (name) => metadata.annotations?.[name] ?? [],
    )
  if (kind !== 'MachineConfigPool') return []
  const { spec, status } = object as openshift.MachineConfigPool
  return [spec?.configuration?.name, status?.configuration?.name].filter((name) => name !== undefined)
}

interface Traced {
  file: ParsedFile
  traces: Traces
}

const day = 24 * hour

/** One of them speaks of nothing that is not over days before the other was installed, or they have two ClusterVersions. */
function areOfOtherClusters(a: readonly Traced[], b: readonly Traced[]): boolean {
  if (isOverBefore(a, b) || isOverBefore(b, a)) return true
  const [one = [], other = []] = [a, b].map((some) => some.flatMap(({ traces }) => traces.versions))
  return one.length > 0 && other.length > 0 && !one.some((uid) => other.includes(uid))
}

function isOverBefore(early: readonly Traced[], late: readonly Traced[]): boolean {
  const made = Math.min(...late.flatMap(({ traces }) => traces.installed))
  if (early.every(({ traces }) => traces.installed.length === 0)) return false
  const latest = Math.max(...early.map((one) => one.traces.latest).filter((time) => !Number.isNaN(time)))
  return Number.isFinite(made) && Number.isFinite(latest) && latest + day < made
}

/** Files that cannot be of one cluster apart, the cluster of the ClusterVersion first; what tells nothing of its own is of that. */
function byCluster(group: Group): readonly Group[] {
  const traced = group.files.map((file) => ({ file, traces: tracesOf(file) }))
  const [telling, silent] = [traced.filter(tells), traced.filter((one) => !tells(one))]
  const clusters: Traced[][] = []
  for (const part of linked(telling).toSorted((a, b) => Number(hasVersion(b)) - Number(hasVersion(a)))) {
    const fits = clusters.find((cluster) => !areOfOtherClusters(cluster, part))
    if (fits) fits.push(...part)
    else clusters.push([...part])
  }
  if (clusters.length < 2) return [group]
  const [first = [], ...others] = clusters.map((some) => some.map(({ file }) => file))
  return [
    { files: [...first, ...silent.map(({ file }) => file)] },
    ...others.map((files) => ({ files, otherCluster: true as const })),
  ]
}

const tells = ({ traces: { installed, versions, configs } }: Traced): boolean =>
  installed.length + versions.length + configs.length > 0

/** Pools, nodes and configurations that name one another. */
function linked(files: readonly Traced[]): readonly (readonly Traced[])[] {
  let parts: Traced[][] = []
  for (const one of files) {
    const names = new Set(one.traces.configs)
    const near = parts.filter((part) =>
      part.some(({ traces }) => traces.configs.some((name) => names.has(name))),
    )
    parts = [...parts.filter((part) => !near.includes(part)), [...near.flat(), one]]
  }
  return parts
}

const hasVersion = (files: readonly Traced[]): boolean =>
  files.some(({ file }) => file.objects.some(({ kind }) => kind === 'ClusterVersion'))
