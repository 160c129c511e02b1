/** A value that is compared as a whole: a scalar, a list of scalars, or an empty object or list. */
export type Leaf = string | number | boolean | null | readonly unknown[] | Readonly<Record<string, never>>

/** Every leaf of an object by its path in kubectl's words: `spec.template.spec.containers[virt-operator].image`. */
export type Leaves = Readonly<Record<string, Leaf>>

/** What became of one field; without `from` it was not there, without `to` it is no more. */
export interface FieldChange {
  path: string
  from?: Leaf
  to?: Leaf
}

/**
 * Flattens plain JSON. Elements of lists are known by their `name`, where all have one of their own, and else by their place. Logins in
 * addresses and values under a secret's name are left out: what is made of leaves is shown and kept.
 */
export function leavesOf(value: unknown, at = ''): Leaves {
  return Object.fromEntries(entriesOf(value, at))
}

/** In the order of `before`, then what is new. */
export function fieldChanges(before: Leaves, after: Leaves): FieldChange[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].flatMap((path) => {
    const [from, to] = [leafAt(before, path), leafAt(after, path)]
    if (sameLeaf(from, to)) return []
    return [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }]
  })
}

/** A node may be named as what every object has. */
const leafAt = (leaves: Leaves, path: string): Leaf | undefined =>
  Object.hasOwn(leaves, path) ? leaves[path] : undefined

/** Absence is a value too. */
export function sameLeaf(one: Leaf | undefined, other: Leaf | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

type Entry = [path: string, leaf: Leaf]

function entriesOf(value: unknown, at: string): Entry[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return inList(value, at)
  if (typeof value !== 'object' || value === null) return [[at, scalar(value)]]
  const fields = Object.entries(blanked(value)).filter(([, inner]) => inner !== undefined)
  if (fields.length === 0) return [[at, {}]]
  return fields.flatMap(([key, inner]) => entriesOf(inner, below(at, key)))
}

function inList(list: readonly unknown[], at: string): Entry[] {
  if (!list.some((element) => typeof element === 'object' && element !== null))
    return [[at, list.map(scalar)]]
  const names = list.map(nameOf)
  const named = names.every((name) => name !== undefined) && new Set(names).size === names.length
  return list.flatMap((element, index) => entriesOf(element, `${at}[${named ? names[index] : index}]`))
}

function nameOf(element: unknown): string | undefined {
  if (typeof element !== 'object' || element === null || !('name' in element)) return undefined
  return typeof element.name === 'string' ? element.name : undefined
}

function below(at: string, key: string): string {
  if (/[./]/u.test(key)) return `${at}[${JSON.stringify(key)}]`
  return at === '' ? key : `${at}.${key}`
}

function scalar(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return withoutLogin(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** `user:password@host` with and without a scheme; a password may hold what it should not. The digest of an image is no host. */
const logins =
  /(:\/\/)(?:[^\s"'/?#]*|[^\s"'/@:]*:[^\s"'@]*)@(?!sha256:)|^[^\s"'/@:]+:[^\s"'/@]+@(?!sha256:)/gu

const withoutLogin = (text: string): string => text.replaceAll(logins, (_, scheme = '') => `${scheme}…@`)

const secretName = /token|passw|secret|credential|api_?key|private_?key/iu

/** A variable of a container: `{ name: API_TOKEN, value: … }`. */
function blanked(object: object): object {
  const isSecret = 'name' in object && typeof object.name === 'string' && secretName.test(object.name)
  return isSecret && 'value' in object && typeof object.value === 'string'
    ? { ...object, value: '…' }
    : object
}
