/** A module of the program, as the bundler knows it. */
export interface Module {
  /** Bytes of its code. */
  size: number
  /** Ids of what it imports, and of what it imports when it is needed. */
  imports: readonly string[]
  dynamic: readonly string[]
}

type Modules = ReadonlyMap<string, Module>

/** Modules that the same dynamic imports need. */
interface ModuleSet {
  users: ReadonlySet<number>
  ids: ReadonlySet<string>
}

/** What each dynamic import needs, by its number; and the modules that are read before all of them. */
interface Needs {
  modules: Modules
  of: readonly ReadonlySet<string>[]
  taken: ReadonlyMap<string, string>
}

/** Opening a file takes as long as reading this many bytes more of one that is open (measured: 0.35 ms, and 10 ns each). */
const fileInBytes = 35_000

/**
 * The file of each module that is not alone in one, by id: those of `first` (roots of each file, by its name) in the first that reaches
 * them; the others with those that the same dynamic imports need, and such sets together where a file less to open is worth what is read
 * in vain. No two files import each other.
 */
export function chunksOf(
  modules: Modules,
  first: Readonly<Record<string, readonly string[]>>,
): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, roots] of Object.entries(first))
    for (const id of reached(modules, roots)) if (!names.has(id)) names.set(id, name)
  const of = entriesOf(modules).map((entry) => reached(modules, [entry]))
  const needs = { modules, of, taken: names }
  for (const [index, { users, ids }] of merged(needs, setsOf(needs)).entries())
    if (users.size > 1) for (const id of ids) names.set(id, `shared-${index}`)
  return names
}

function reached(modules: Modules, roots: readonly string[]): Set<string> {
  const found = new Set<string>()
  const left = [...roots]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const module = modules.get(id)
    if (module === undefined || found.has(id)) continue
    found.add(id)
    left.push(...module.imports)
  }
  return found
}

function setsOf({ of, taken }: Needs): ModuleSet[] {
  const usersOf = new Map<string, number[]>()
  for (const [user, ids] of of.entries())
    for (const id of ids) if (!taken.has(id)) usersOf.set(id, [...(usersOf.get(id) ?? []), user])
  const sets = new Map<string, ModuleSet>()
  for (const [id, users] of usersOf) {
    const one = { users: new Set(users), ids: new Set([id]) }
    const others = sets.get(users.join())
    sets.set(users.join(), others === undefined ? one : joined(others, one))
  }
  return [...sets.values()]
}

function entriesOf(modules: Modules): string[] {
  const dynamic = [...modules.values()].flatMap((module) => module.dynamic)
  return [...new Set(dynamic)].filter((id) => modules.has(id))
}

const joined = (one: ModuleSet, other: ModuleSet): ModuleSet => ({
  users: new Set([...one.users, ...other.users]),
  ids: new Set([...one.ids, ...other.ids]),
})

function merged(needs: Needs, sets: readonly ModuleSet[]): readonly ModuleSet[] {
  const vain = inVain(needs)
  let left = sets
  for (let pair = bestPair(needs, left, vain); pair !== undefined; pair = bestPair(needs, left, vain)) {
    const [one, other] = pair
    left = [...left.filter((set) => set !== one && set !== other), joined(one, other)]
  }
  return left
}

/** The two that save most together, of those that do. */
function bestPair(
  { modules }: Needs,
  sets: readonly ModuleSet[],
  vain: InVain,
): readonly [ModuleSet, ModuleSet] | undefined {
  const pairs = sets.flatMap((one, index) =>
    sets.slice(index + 1).map((other) => ({ pair: [one, other] as const, saves: saved([one, other], vain) })),
  )
  return pairs
    .filter(({ saves }) => saves > 0)
    .toSorted((a, b) => b.saves - a.saves)
    .find(({ pair: [one, other] }) => !isRound(modules, sets, joined(one, other)))?.pair
}

/** In bytes, of all that need one of them. */
function saved([one, other]: readonly [ModuleSet, ModuleSet], vain: InVain): number {
  let bytes = 0
  for (const user of one.users) bytes += other.users.has(user) ? fileInBytes : -vain(user, other)
  for (const user of other.users) if (!one.users.has(user)) bytes -= vain(user, one)
  return bytes
}

/** Bytes that a dynamic import reads for nothing where it is given a set: the set, and whatever that imports, as far as it does not need them. */
type InVain = (user: number, set: ModuleSet) => number

function inVain({ modules, of, taken }: Needs): InVain {
  const known = new WeakMap<ModuleSet, readonly number[]>()
  const bytesFor = (set: ModuleSet): readonly number[] => {
    const whole = [...reached(modules, [...set.ids])].filter((id) => !taken.has(id))
    return of.map((needed) =>
      whole.reduce((sum, id) => sum + (needed.has(id) ? 0 : (modules.get(id)?.size ?? 0)), 0),
    )
  }
  return (user, set) => {
    let bytes = known.get(set)
    if (bytes === undefined) known.set(set, (bytes = bytesFor(set)))
    return bytes[user] ?? 0
  }
}

/** Whether what it imports from other sets leads back to it. */
function isRound(modules: Modules, sets: readonly ModuleSet[], { ids }: ModuleSet): boolean {
  const setOf = new Map(sets.flatMap((set) => [...set.ids].map((id) => [id, set])))
  const importsOf = (some: Iterable<string>) => [...some].flatMap((id) => modules.get(id)?.imports ?? [])
  const left = importsOf(ids).filter((id) => !ids.has(id))
  const observed = new Set<ModuleSet>()
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (ids.has(id)) return true
    const set = setOf.get(id)
    if (set === undefined || observed.has(set)) continue
    observed.add(set)
    left.push(...importsOf(set.ids))
  }
  return false
}
