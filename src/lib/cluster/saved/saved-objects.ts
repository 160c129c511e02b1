import type { Where } from '../cluster.ts'
import { groupOf, type Kind } from '../kind.ts'
import { parseLabels } from '../label-selector.ts'
import type { KubeObject } from '../object.ts'
import { usageError } from '../../system/errors.ts'

/** The objects of a saved cluster by kind, in the order in which a server lists them. */
export class SavedObjects {
  readonly #byKind = new Map<string, Map<string, KubeObject>>()

  constructor(objects: readonly KubeObject[]) {
    for (const object of objects.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)))
      this.#of(object).set(placeOf(object), object)
  }

  has(kind: Pick<Kind, 'apiVersion' | 'kind'>): boolean {
    return this.#byKind.has(keyOf(kind))
  }

  /** API versions in which objects of that group were saved. */
  versions(group: string): string[] {
    const all = [...this.#byKind.values()].flatMap((objects) => [...objects.values()].slice(0, 1))
    const versions = all.filter((object) => groupOf(object) === group).map(({ apiVersion }) => apiVersion)
    return [...new Set(versions.map((version) => version.slice(version.indexOf('/') + 1)))]
  }

  /** In the version that is asked for. Throws `usage` for a selector that is none. */
  select<T extends KubeObject>(kind: Kind<T>, { namespace, name, labels, fields }: Where): T[] {
    const labelled = parseLabels(labels, (why) => usageError('not-a-selector', why))
    const fits = fieldTest(fields)
    const all = this.#byKind.get(keyOf(kind)) ?? new Map<string, KubeObject>()
    return [...all.values()]
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => name === undefined || metadata.name === name)
      .filter((object) => labelled(object.metadata.labels) && fits(object))
      .map((object) => Object.assign({}, object as T, { apiVersion: kind.apiVersion }))
  }

  #of(object: KubeObject): Map<string, KubeObject> {
    const key = keyOf(object)
    const found = this.#byKind.get(key) ?? new Map<string, KubeObject>()
    this.#byKind.set(key, found)
    return found
  }
}

const keyOf = ({ apiVersion, kind }: Pick<Kind, 'apiVersion' | 'kind'>): string =>
  `${groupOf({ apiVersion })} ${kind}`
const placeOf = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`

type FieldTest = (object: KubeObject) => boolean

/** `status.phase=Running,spec.nodeName!=node-1` */
function fieldTest(selector = ''): FieldTest {
  const tests = selector
    .split(',')
    .filter((term) => term.trim() !== '')
    .map(termTest)
  return (object) => tests.every((test) => test(object))
}

function termTest(term: string): FieldTest {
  const {
    field = '',
    operator,
    value = '',
  } = /^\s*(?<field>[^=!\s]+)\s*(?<operator>==|=|!=)(?<value>.*?)\s*$/.exec(term)?.groups ?? {}
  if (field === '') throw usageError('not-a-selector', `${JSON.stringify(term)} is no field selector`)
  const path = field.split('.')
  const equal: FieldTest = (object) => valueAt(object, path) === value
  return operator === '!=' ? (object) => !equal(object) : equal
}

function valueAt(object: KubeObject, path: readonly string[]): string {
  let found: unknown = object
  for (const step of path) found = isRecord(found) ? found[step] : undefined
  return typeof found === 'string' ? found : found === undefined ? '' : JSON.stringify(found)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
