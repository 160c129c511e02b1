import type { JsonOperation } from './cluster.ts'
import { isRecord, type KubeObject, type ManagedField } from './object.ts'

type Fields = Record<string, unknown>

/** Who owned one field, as managedFields said before kvup changed it for a time. */
export interface FieldOwner {
  manager: string
  operation: 'Apply' | 'Update'
  /** In whose words `path` is. */
  apiVersion: string
  subresource?: string
  /** JSON pointer of the field. */
  path: string
  /** It owned nothing else, so that its entry goes with the field. `time` is that of the entry. */
  only?: { time?: string }
}

/**
 * The owners of the field that stands at one of these JSON pointers (each version of a kind may have it at another place); none where nobody owns it. Undefined where
 * the server tells no owners at all.
 */
export function ownersOfField(
  { metadata: { managedFields } }: KubeObject,
  pointers: readonly string[],
): readonly FieldOwner[] | undefined {
  if (managedFields === undefined || managedFields.length === 0) return undefined
  return managedFields.flatMap((entry): FieldOwner[] => {
    const { manager = '', operation, apiVersion = '', subresource, time } = entry
    const path = pointers.find((pointer) => isLeafOf(entry, pointer))
    if (path === undefined || manager === '' || (operation !== 'Apply' && operation !== 'Update')) return []
    const isAll = without(entry.fieldsV1 ?? {}, keysOf(path)) === undefined
    const only = isAll && { only: time === undefined ? {} : { time } }
    return [{ manager, operation, apiVersion, ...(subresource && { subresource }), path, ...only }]
  })
}

const text = (value: unknown, most = 128): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)

/** As they were written down: undefined where any of it is no entry of kvup, or is of another field. */
export function ownersFrom(said: unknown, pointers: readonly string[]): readonly FieldOwner[] | undefined {
  if (!Array.isArray(said) || said.length > 20) return undefined
  const owners = said.map((one) => ownerFrom(one, pointers))
  return owners.some((one) => one === undefined) ? undefined : owners.flatMap((one) => one ?? [])
}

function ownerFrom(said: unknown, pointers: readonly string[]): FieldOwner | undefined {
  if (!isRecord(said)) return undefined
  const { manager, operation, apiVersion, subresource, path, only } = said
  if (!text(manager) || !text(apiVersion) || !text(path, 300) || !pointers.includes(path)) return undefined
  if ((operation !== 'Apply' && operation !== 'Update') || !isOptional(subresource)) return undefined
  const all = isRecord(only) ? onlyFrom(only) : {}
  return all && { manager, operation, apiVersion, ...(subresource && { subresource }), path, ...all }
}

function onlyFrom({ time }: Fields): Pick<FieldOwner, 'only'> | undefined {
  if (!isOptional(time) || (time !== undefined && Number.isNaN(Date.parse(time)))) return undefined
  return { only: time === undefined ? {} : { time } }
}

const isOptional = (value: unknown): value is string | undefined => value === undefined || text(value)

/**
 * What gives the field at one of these pointers, which kvup's own updates have taken and which reads as before, to its former owners: managedFields alone are changed, of them that one field
 * alone, and the object has to be the one that was read (422 otherwise). An apply that leaves the field out would delete it instead. None where kvup does not own it or owned it before, and
 * where no entry of a former owner is left to give it to.
 */
export function ownershipBack(
  { metadata: { managedFields = [], resourceVersion } }: KubeObject,
  pointers: readonly string[],
  owners: readonly FieldOwner[],
): readonly JsonOperation[] {
  const isTaken = (entry: ManagedField) => isKvups(entry) && pointers.some((one) => isLeafOf(entry, one))
  if (resourceVersion === undefined || !managedFields.some(isTaken) || owners.some(isKvups)) return []
  const rest = managedFields.flatMap((entry) => (isTaken(entry) ? released(entry, pointers) : [entry]))
  const kept = rest.map((entry) => owners.filter((owner) => isOf(entry, owner)).reduce(taking, entry))
  const made = owners
    .filter((owner) => owner.only && !rest.some((entry) => isNear(entry, owner)))
    .map(entryOf)
  const isGiven = made.length > 0 || kept.some((entry, i) => entry !== rest[i])
  const after = [...kept, ...made]
  if (after.length === 0 || (owners.length > 0 && !isGiven)) return []
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value: after },
  ]
}

const isKvups = ({ manager, operation, subresource = '' }: ManagedField): boolean =>
  manager === 'kvup' && operation === 'Update' && subresource === ''

/** Under another version of the API it would have to be said in other words: then nothing is said. */
const isNear = (entry: ManagedField, owner: FieldOwner): boolean =>
  entry.manager === owner.manager &&
  entry.operation === owner.operation &&
  (entry.subresource ?? '') === (owner.subresource ?? '')

const isOf = (entry: ManagedField, owner: FieldOwner): boolean =>
  isNear(entry, owner) && entry.apiVersion === owner.apiVersion

const taking = (entry: ManagedField, { path }: FieldOwner): ManagedField => ({
  ...entry,
  fieldsV1: withLeaf(entry.fieldsV1 ?? {}, keysOf(path)),
})

const entryOf = ({ path, only, ...who }: FieldOwner): ManagedField => ({
  ...who,
  ...only,
  fieldsType: 'FieldsV1',
  fieldsV1: withLeaf({}, keysOf(path)),
})

function released(entry: ManagedField, pointers: readonly string[]): readonly ManagedField[] {
  let left: Fields | undefined = entry.fieldsV1
  for (const pointer of pointers) if (isLeafOf(entry, pointer)) left &&= without(left, keysOf(pointer))
  return left === undefined ? [] : [{ ...entry, fieldsV1: left }]
}

/** `/metadata/annotations/a.io~1b` as managedFields name it: `f:metadata`, `f:annotations`, `f:a.io/b`. */
const keysOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => `f:${name.replaceAll('~1', '/').replaceAll('~0', '~')}`)

/** The entry owns that field, and owns it as one value. */
function isLeafOf({ fieldsV1 }: ManagedField, pointer: string): boolean {
  let at: unknown = fieldsV1
  for (const key of keysOf(pointer)) at = isRecord(at) ? at[key] : undefined
  return isRecord(at) && Object.keys(at).length === 0
}

/** A holder that is owned itself is `{}` while nothing in it is, and has a `.` beside what is. */
function withLeaf(fields: Fields, [first = '', ...rest]: readonly string[]): Record<string, unknown> {
  const below = fields[first]
  if (rest.length === 0) return { ...fields, [first]: below ?? {} }
  const holder = isRecord(below) ? (Object.keys(below).length === 0 ? { '.': {} } : below) : {}
  return { ...fields, [first]: withLeaf(holder, rest) }
}

/** Undefined where nothing is left. */
function without(fields: Fields, [first = '', ...rest]: readonly string[]): Fields | undefined {
  const { [first]: below, ...others } = fields
  const left = rest.length > 0 && isRecord(below) ? without(below, rest) : undefined
  const all = left === undefined ? others : { ...others, [first]: left }
  const names = Object.keys(all)
  if (names.length === 0) return undefined
  return names.length === 1 && names[0] === '.' ? {} : all
}
