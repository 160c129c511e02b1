import { isDeepStrictEqual } from 'node:util'
import { valueAt } from '../../kube/server-side-apply.ts'
import type { JsonOperation, Reader, Ref } from '../../kube/cluster.ts'
import { type Kind, type KubeObject, resourceOf } from '../../kube/object.ts'
import type { Override } from '../../engine/journal.ts'

/** One setting of one object that is other than its owner wants it while the window is open, and is put back at its end. */
export interface Borrowable {
  /** Its name in the journal: `pool-paused/worker`. */
  readonly loan: string
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
export type Place = Pick<Borrowable, 'loan' | 'kind' | 'ref' | 'uid' | 'harmless'> & {
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

/** The object that a loan is of: there, another one of the same name in its place, or none. */
export type Sought =
  | { is: 'there'; object: KubeObject }
  | { is: 'replaced'; object: KubeObject }
  | { is: 'gone' }

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

/** The open loan of this name, whichever object it was taken from. */
export const overrideNamed = (loans: readonly Override[], name: string): Override | undefined =>
  loans.find(({ id }) => id === name)

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
