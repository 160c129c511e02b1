import { statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readBounded } from '../bounded-file.ts'
import * as core from '../kinds/core-kinds.ts'
import * as extension from '../kinds/extension-kinds.ts'
import * as kubevirt from '../kinds/kubevirt-kinds.ts'
import * as openshift from '../kinds/openshift-kinds.ts'
import * as operator from '../kinds/operator-kinds.ts'
import * as workload from '../kinds/workload-kinds.ts'
import { groupOf, isRecord, keyOf, type Kind, type KubeObject } from '../object.ts'
import { shellWord } from '../shell-line.ts'
import { unfit } from './saved-cluster.ts'
import type { ParsedFile } from './saved-file.ts'

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
  /(?:^|\/)(?:cluster-scoped-resources|namespaces\/[^/]+)\/(?<group>[^/]+)\/(?<plural>[^/]+?)(?:(?:\/custom)?\/[^/]+)?\.(?:ya?ml|json)$/u
/** That of OpenShift Virtualization: a folder for each kind, named as its CRD. */
const ofCrd =
  /(?:^|\/)(?:cluster-scoped-resources|namespaces\/[^/]+\/crs)\/(?<plural>[^/.]+)\.(?<group>[^/]+)\/[^/]+\.ya?ml$/u
/** And what it has of OLM, with a line of dashes between two objects. */
const withoutExtension = /(?:^|\/)namespaces\/[^/]+\/(?:installplans|subscriptions)$/u
const inLayout = /(?:^|\/)(?:cluster-scoped-resources|namespaces)\//u
/** `namespaces/NS/pods/POD/POD.yaml`, which `core/pods.yaml` has as well; only where that is missing it tells something. */
const ofPod = /(?:^|\/)namespaces\/[^/]+\/pods\/(?<pod>[^/]+)\/\k<pod>\.ya?ml$/u

/**
 * Whether a file of a folder may hold what kvup asks for. A must-gather has thousands of others, whose names tell that; elsewhere every file may.
 */
export function isAsked(path: string): boolean {
  const name = path.replaceAll('\\', '/').replace(/\.gz$/u, '')
  if (withoutExtension.test(name)) return true
  if (!/\.(?:ya?ml|json|ndjson|jsonl)$/iu.test(name)) return false
  if (!inLayout.test(name)) return true
  const { group, plural } = (ofCrd.exec(name) ?? ofGroup.exec(name))?.groups ?? {}
  if (group !== undefined && plural !== undefined && asked.has(`${group}/${plural}`)) return true
  return ofPod.test(name)
}

/** Where a file lies, and when that was gathered. */
interface Place {
  /** The folder of a must-gather; of a file that lies about that in which it lies. */
  folder: string
  /** Absent where nothing says so. */
  at?: Date
  /** A must-gather reads some objects twice within its minutes. */
  inLayout: boolean
}

/** The files of one moment, what was gathered last behind all else; the moment where a must-gather says so. */
interface Moment {
  files: readonly ParsedFile[]
  at?: Date
}

/** Throws `usage` for files of several moments: they would be judged as what no cluster ever was. */
export function momentOf(files: readonly ParsedFile[], from: string): Moment {
  const root = from.replace(/(?<=.)[/\\]+$/u, '')
  const places = new Map<string, Place>()
  const placed = files
    .map((file) => ({ file, place: placeOf(file.file, root, places) }))
    .toSorted((a, b) => timeOf(a.place) - timeOf(b.place))
  const timed = placed.filter(({ place }) => place.at !== undefined)
  const [first, last] = [timed[0]?.place, timed.at(-1)?.place]
  if (first && last && timeOf(last) - timeOf(first) > hour)
    throw several(from, `${first.folder} and ${last.folder} were gathered at different times`, last.folder)
  const known = new Map<string, { state: string; file: ParsedFile; place: Place }>()
  for (const { file, place } of placed)
    for (const object of file.objects.filter(isOfUse)) {
      const [key, state] = [placeIn(object), stateOf(object)]
      const before = known.get(key)
      const isSame = before === undefined || before.state === state
      if (!isSame && !areOneGather(before.place, place))
        throw several(
          from,
          `${object.kind} ${object.metadata.name} is different in ${before.file.file} and ${file.file}`,
        )
      known.set(key, { state, file, place })
    }
  return { files: placed.map(({ file }) => file), ...(last?.at && { at: last.at }) }
}

const hour = 3_600_000

const timeOf = ({ at }: Place): number => at?.getTime() ?? 0

const areOneGather = (a: Place, b: Place): boolean =>
  (a.at !== undefined && b.at !== undefined) || (a.folder === b.folder && a.inLayout && b.inLayout)

const several = (from: string, why: string, newest?: string): Error =>
  unfit(from, `it has more than one moment: ${why}`, 'any', [
    newest === undefined
      ? 'put the files of one moment into a folder of their own'
      : `kvup status --from ${shellWord(newest)}     reads the newest`,
  ])

function placeOf(file: string, root: string, known: Map<string, Place>): Place {
  const path = relative(root, file).replaceAll('\\', '/')
  const layout = inLayout.exec(path)
  const folder = layout === null ? dirname(file) : join(root, path.slice(0, layout.index))
  const key = `${layout !== null} ${folder}`
  const place = known.get(key) ?? { folder, inLayout: layout !== null, ...timestampIn(folder, root) }
  known.set(key, place)
  return place
}

/** `timestamp` of a must-gather, beside its images' folders or in one: when it began and when it ended. */
function timestampIn(folder: string, from: string): Pick<Place, 'at'> {
  const at = lastTime(join(folder, 'timestamp'))
  if (at) return { at }
  // `./x` and `x` are one folder.
  const isTop = relative(from, folder) === '' || folder === dirname(folder)
  return isTop ? {} : timestampIn(dirname(folder), from)
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

const isOfUse = (object: KubeObject): boolean => askedKinds.has(`${groupOf(object)} ${object.kind}`)

const placeIn = (object: KubeObject): string => `${groupOf(object)} ${object.kind} ${keyOf(object)}`

/** Its resourceVersion is of the moment; without one all that it says. */
const stateOf = (object: KubeObject): string => object.metadata.resourceVersion ?? JSON.stringify(object)
