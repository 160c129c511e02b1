import { gunzipSync, gzipSync } from 'node:zlib'
import type { Census, InstanceMark, MachineMark, Mark, SetMark } from './census.ts'

/**
 * A census as it is kept, in memory and in the cluster: gzip over a JSON array per line, of which the first value says what it is. By
 * name it holds every instance with what its VM was then; beyond what a cluster has room for, the number that ran in each namespace.
 */
export type Packed = Buffer

/** What can be told from a packed census. */
export type Unpacked =
  | { is: 'by-name'; census: Census }
  | { is: 'counted'; running: ReadonlyMap<string, number> }

/** Of a text that kvup wrote itself: some 200 bytes a line, of which the ConfigMaps hold 35,000 (106 bytes each once packed). Anybody else's could be endless. */
const mostBytes = 16 * 1024 * 1024

export function pack(census: Census): Packed {
  return gzipped(linesOf(census))
}

/** How many ran in each namespace. */
export function packCounts(census: Census): Packed {
  return gzipped([...runningIn(census)].map(([namespace, running]) => ['running', namespace, running]))
}

type Line = readonly (string | number | object)[]

function* linesOf(census: Census): Generator<Line> {
  const { instances, machines, restartRequired, sets, volumes, migrations, unread } = census
  for (const [name, { uid, phase, ready, migratable, drains, set }] of instances) {
    const has = flags({ r: ready, m: migratable, d: drains, q: restartRequired.has(name) })
    const of = set === undefined ? [] : [{ set }]
    yield ['instance', ...inTwo(name), uid, phase, has, ...machineCells(machines.get(name)), ...of]
  }
  for (const [name, vm] of machines)
    if (!instances.has(name)) yield ['machine', ...inTwo(name), ...machineCells(vm)]
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
    machines: new Map(),
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
  machines: Map<string, MachineMark>
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
      return void into.machines.set(row.name(), row.machine())
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
  if (row.isText()) into.machines.set(name, row.machine())
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

  machine(): MachineMark {
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

const machineCells = (vm: MachineMark | undefined): (string | number)[] =>
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
