import { parseJson } from '../../kube/object.ts'
import { createHash } from 'node:crypto'
import type { Cluster, Reader, Writer } from '../../kube/cluster.ts'
import { type ConfigMap, ConfigMaps } from '../../kube/kinds/core-kinds.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Census, InstanceMark, VmMark, Mark, SetMark } from './vm-census.ts'

/** What a census in the cluster says of itself. Anybody who may write ConfigMaps there can write it: it is evidence, and leads to words alone. */
export interface CensusOrigin {
  /** Of the run that took it: `upgrade to v1.8.4`. */
  procedure: string
  /** Of those that took it up when that one was cut off. */
  takenUpBy?: readonly string[]
  /** Uid of the KubeVirt. */
  kubevirt: string
  /** RFC 3339. */
  at: string
  /** user@host. */
  by: string
  /** Changes had begun already when it was taken: what ran before them nobody knows. */
  late: boolean
}

/** `incomplete`: a part is missing or another one, as when the run that wrote it was killed over it. */
type KeptCensus =
  | { is: 'none' }
  | { is: 'incomplete'; origin: CensusOrigin | undefined }
  | { is: 'whole'; origin: CensusOrigin; packed: Packed }

/** The ConfigMaps, in KubeVirt's namespace. Fixed names, for a right can be given to a name and not to a beginning of one. */
export const censusNames = [1, 2, 3, 4].map((part) => `kvup-census-${part}`)
const [headName = ''] = censusNames

/** Under the 1 MiB that a ConfigMap may hold. */
const partBytes = 900_000

/** What one cluster has room for: VMs by name up to some 30,000. */
export const mostCensusBytes = partBytes * censusNames.length

const labels = { 'app.kubernetes.io/managed-by': 'kvup', 'kvup.io/census': 'true' }

interface Head extends CensusOrigin {
  parts: number
  sha256: string
}

/** Every procedure that it is of. */
export const proceduresOf = ({ procedure, takenUpBy = [] }: CensusOrigin): readonly string[] => [
  procedure,
  ...takenUpBy,
]

/** Throws ApiError. */
export async function getCensus(reader: Reader, namespace: string): Promise<KeptCensus> {
  const found = await reader.get(ConfigMaps, { name: headName, namespace })
  if (found.is !== 'object') return { is: 'none' }
  const head = headOf(found.object)
  if (head === undefined) return { is: 'incomplete', origin: undefined }
  const { parts, sha256, ...origin } = head
  const pieces = [pieceOf(found.object, sha256)]
  for (const name of censusNames.slice(1, parts)) {
    const more = await reader.get(ConfigMaps, { name, namespace })
    pieces.push(more.is === 'object' ? pieceOf(more.object, sha256) : undefined)
  }
  const packed = Buffer.concat(pieces.flatMap((piece) => piece ?? []))
  return digest(packed) === sha256 ? { is: 'whole', origin, packed } : { is: 'incomplete', origin }
}

/**
 * Writes it, in place of whatever another run has left there. The first part names the others: it is written first and deleted
 * last, so that nothing is ever left that it does not lead to. Safe to repeat. Throws ApiError.
 */
export async function keepCensus(
  { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
  namespace: string,
  { origin, packed }: { origin: CensusOrigin; packed: Packed },
): Promise<void> {
  await dropCensus({ reader, writer }, namespace)
  const parts = Math.max(1, Math.ceil(packed.length / partBytes))
  const sha256 = digest(packed)
  for (const [index, name] of censusNames.slice(0, parts).entries()) {
    const piece = packed.subarray(index * partBytes, (index + 1) * partBytes)
    const head: Head = { ...origin, parts, sha256 }
    const data = { sha256, ...(index === 0 && { run: JSON.stringify(head) }) }
    await create(
      { reader, writer },
      {
        apiVersion: ConfigMaps.apiVersion,
        kind: ConfigMaps.kind,
        metadata: { name, namespace, labels },
        data,
        binaryData: { census: piece.toString('base64') },
        immutable: true,
      },
    )
  }
}

/** Deletes the parts that are there, each by the uid that was read. Throws ApiError. */
export async function dropCensus(
  { reader, writer }: { reader: Reader; writer: Pick<Writer, 'delete'> },
  namespace: string,
): Promise<void> {
  const found = await reader.get(ConfigMaps, { name: headName, namespace })
  if (found.is !== 'object') return
  // What it says of its parts may be anybody's word.
  const parts = headOf(found.object)?.parts ?? censusNames.length
  for (const name of censusNames.slice(1, parts).toReversed()) {
    const more = await reader.get(ConfigMaps, { name, namespace })
    if (more.is === 'object') await remove(writer, more.object)
  }
  await remove(writer, found.object)
}

/** Whoever deleted it before, or made another one meanwhile, is welcome. */
async function remove(writer: Pick<Writer, 'delete'>, { metadata }: ConfigMap): Promise<void> {
  const { name, namespace, uid } = metadata
  try {
    await writer.delete(ConfigMaps, { name, namespace }, { uid })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** One of that name that is there without a first part that leads to it is a stranger's, or our own write whose answer was lost. */
async function create(
  { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
  part: ConfigMap,
): Promise<void> {
  try {
    await writer.create(ConfigMaps, part)
  } catch (error) {
    if (!isConflict(error)) throw error
    const { name, namespace } = part.metadata
    const there = await reader.get(ConfigMaps, { name, namespace })
    if (there.is === 'object') await remove(writer, there.object)
    await writer.create(ConfigMaps, part)
  }
}

function pieceOf({ data, binaryData }: ConfigMap, sha256: string): Buffer | undefined {
  const text = binaryData?.['census']
  return data?.['sha256'] === sha256 && text !== undefined ? Buffer.from(text, 'base64') : undefined
}

function headOf({ data }: ConfigMap): Head | undefined {
  const run = parseJson(data?.['run'] ?? '')
  if (typeof run !== 'object' || run === null) return undefined
  const { procedure, takenUpBy, kubevirt, at, by, late, parts, sha256 } = run as Partial<
    Record<keyof Head, unknown>
  >
  const texts = [procedure, kubevirt, at, by, sha256]
  if (!texts.every((text) => typeof text === 'string') || Number.isNaN(Date.parse(String(at))))
    return undefined
  if (typeof parts !== 'number' || parts < 1 || parts > censusNames.length) return undefined
  // Only what is known: whoever takes it up writes it again.
  return {
    procedure: String(procedure),
    takenUpBy: Array.isArray(takenUpBy) ? takenUpBy.map(String) : [],
    kubevirt: String(kubevirt),
    at: String(at),
    by: String(by),
    late: late === true,
    parts,
    sha256: String(sha256),
  }
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * A census as it is kept, in memory and in the cluster: gzip over a JSON array per line, of which the first value says what it is. By
 * name it holds every instance with what its VM was then; beyond what a cluster has room for, the number that ran in each namespace.
 */
export type Packed = Buffer

/** What can be told from a packed census. */
type Unpacked = { is: 'by-name'; census: Census } | { is: 'counted'; running: ReadonlyMap<string, number> }

/** Of a text that kvup wrote itself: some 200 bytes a line, of which the ConfigMaps hold 35,000 (106 bytes each once packed). Anybody else's could be endless. */
const mostBytes = 16 * 1024 * 1024

export const pack = (census: Census): Packed => gzipped(linesOf(census))

/** How many ran in each namespace. */
export function packCounts(census: Census): Packed {
  return gzipped([...runningIn(census)].map(([namespace, running]) => ['running', namespace, running]))
}

type Line = readonly (string | number | object)[]

function* linesOf(census: Census): Generator<Line> {
  const { instances, vms, restartRequired, sets, volumes, migrations, unread } = census
  for (const [name, { uid, phase, ready, migratable, drains, set }] of instances) {
    const has = flags({ r: ready, m: migratable, d: drains, q: restartRequired.has(name) })
    const of = set === undefined ? [] : [{ set }]
    yield ['instance', ...inTwo(name), uid, phase, has, ...vmCells(vms.get(name)), ...of]
  }
  for (const [name, vm] of vms) if (!instances.has(name)) yield ['machine', ...inTwo(name), ...vmCells(vm)]
  for (const name of restartRequired) if (!instances.has(name)) yield ['restart', ...inTwo(name)]
  for (const [name, { uid, generation }] of sets) yield ['set', ...inTwo(name), uid, generation]
  for (const [name, { uid, phase }] of volumes) yield ['volume', name, uid, phase]
  for (const uid of migrations.keys()) yield ['migration', uid]
  for (const plural of unread) yield ['unread', plural]
}

/** By namespace. */
export function runningIn({ instances }: Census): ReadonlyMap<string, number> {
  const running = new Map<string, number>()
  for (const [name, { phase }] of instances) {
    const [namespace] = inTwo(name)
    if (phase === 'Running') running.set(namespace, (running.get(namespace) ?? 0) + 1)
  }
  return running
}

/** Undefined where any of it is not what kvup writes. */
export function unpack(packed: Packed): Unpacked | undefined {
  const running = new Map<string, number>()
  const into: Filling = {
    instances: new Map(),
    vms: new Map(),
    sets: new Map(),
    restartRequired: new Set(),
    volumes: new Map(),
    migrations: new Map(),
    unread: [],
    running,
  }
  try {
    const text = gunzipSync(packed, { maxOutputLength: mostBytes }).toString('utf8')
    for (const line of text.split('\n')) if (line !== '') take(into, JSON.parse(line))
  } catch {
    return undefined
  }
  const { running: _, ...census } = into
  return running.size > 0 ? { is: 'counted', running } : { is: 'by-name', census }
}

interface Filling extends Census {
  instances: Map<string, InstanceMark>
  vms: Map<string, VmMark>
  sets: Map<string, SetMark>
  restartRequired: Set<string>
  volumes: Map<string, Mark>
  migrations: Map<string, { vmi: string; phase: string }>
  unread: string[]
  running: Map<string, number>
}

/** Throws where the line is none of kvup's. */
function take(into: Filling, line: unknown): void {
  if (!Array.isArray(line)) throw new TypeError('a line that is no list')
  const [what, ...cells] = line as unknown[]
  const row = new Row(cells)
  switch (what) {
    case 'instance':
      return takeInstance(into, row)
    case 'machine':
      return void into.vms.set(row.name(), row.machine())
    case 'restart':
      return void into.restartRequired.add(row.name())
    case 'set':
      return void into.sets.set(row.name(), { uid: row.text(), generation: row.number() })
    case 'volume':
      return void into.volumes.set(row.text(), { uid: row.text(), phase: row.text() })
    case 'migration':
      return void into.migrations.set(row.text(), { vmi: '', phase: '' })
    case 'unread':
      return void into.unread.push(row.text())
    case 'running':
      return void into.running.set(row.text(), row.number())
    default:
      throw new TypeError('a line of another kind')
  }
}

function takeInstance(into: Filling, row: Row): void {
  const [name, uid, phase, has] = [row.name(), row.text(), row.text(), row.text()]
  const mark = {
    uid,
    phase,
    ready: has.includes('r'),
    migratable: has.includes('m'),
    drains: has.includes('d'),
  }
  if (has.includes('q')) into.restartRequired.add(name)
  if (row.isText()) into.vms.set(name, row.machine())
  const set = row.set()
  into.instances.set(name, { ...mark, ...(set !== undefined && { set }) })
}

/** The cells of one line, taken one after the other; throws where one is not what is asked for. */
class Row {
  readonly #cells: readonly unknown[]
  #at = 0

  constructor(cells: readonly unknown[]) {
    this.#cells = cells
  }

  isText(): boolean {
    return typeof this.#cells[this.#at] === 'string'
  }

  text(): string {
    const cell = this.#cells[this.#at++]
    if (typeof cell !== 'string') throw new TypeError('no text')
    return cell
  }

  number(): number {
    const cell = this.#cells[this.#at++]
    if (typeof cell !== 'number') throw new TypeError('no number')
    return cell
  }

  name(): string {
    return `${this.text()}/${this.text()}`
  }

  machine(): VmMark {
    return { uid: this.text(), generation: this.number(), spec: this.text(), runStrategy: this.text() }
  }

  set(): string | undefined {
    const cell = this.#cells[this.#at++]
    if (cell === undefined) return undefined
    const set: unknown = typeof cell === 'object' && cell !== null ? Reflect.get(cell, 'set') : undefined
    if (typeof set !== 'string') throw new TypeError('no set')
    return set
  }
}

const vmCells = (vm: VmMark | undefined): (string | number)[] =>
  vm === undefined ? [] : [vm.uid, vm.generation, vm.spec, vm.runStrategy]

const flags = (of: Readonly<Record<string, boolean>>): string =>
  Object.keys(of)
    .filter((key) => of[key])
    .join('')

/** Neither a namespace nor a name of Kubernetes holds a slash. */
function inTwo(name: string): [namespace: string, name: string] {
  const slash = name.indexOf('/')
  return [name.slice(0, slash), name.slice(slash + 1)]
}

function gzipped(lines: Iterable<Line>): Packed {
  let text = ''
  for (const line of lines) text += `${JSON.stringify(line)}\n`
  return gzipSync(text, { level: 9 })
}
