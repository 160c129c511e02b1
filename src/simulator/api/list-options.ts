import { type KubeObject, type LabelTest, parseLabels } from '../../lib/kube/object.ts'
import { at } from './json.ts'
import { badRequest, Refusal } from './api-refusal.ts'
import type { SimKind } from './kinds/sim-kind.ts'
import type { StoreEvent } from './etcd.ts'
import type { Listing } from './store.ts'

type FieldTest = (object: KubeObject) => boolean

const everywhere = new Set(['metadata.name', 'metadata.namespace'])
/**
 * The one name that a list or watch is narrowed to: RBAC then asks for that name, as the real server does
 * (apiserver/pkg/endpoints/request/requestinfo.go), so that `resourceNames` can allow it.
 */
export function nameSelected(selector: string | undefined): string | undefined {
  if (selector === undefined) return undefined
  return /(?:^|,)\s*metadata\.name==?(?<name>[^,]+)/.exec(selector)?.groups?.['name']?.trim()
}

/** A label that everything selected has, with its value where the selector names one. Undefined also where it is not plain to see. */
export const labelSelected = (selector = ''): NeededLabel | undefined =>
  selector === '' ? undefined : readSelector(selector).needs

interface NeededLabel {
  key: string
  value?: string
}

function neededLabel(selector: string): NeededLabel | undefined {
  if (/[()]/.test(selector)) return undefined
  const parts = selector.split(',').map((part) => part.trim())
  for (const part of parts) {
    const { key, value } = /^(?<key>[^\s!=]+)\s*==?\s*(?<value>[^\s!=]*)$/.exec(part)?.groups ?? {}
    if (key !== undefined && value !== undefined) return { key, value }
  }
  const key = parts.find((part) => /^[^\s!=]+$/.test(part))
  return key === undefined ? undefined : { key }
}

interface LabelSelector {
  readonly test: LabelTest
  readonly needs: NeededLabel | undefined
}

/** Controllers ask with the same selectors again and again: so many of the last are kept as they were read. */
const mostSelectors = 1000
const selectors = new Map<string, LabelSelector>()

function readSelector(selector: string): LabelSelector {
  const known = selectors.get(selector)
  if (known) return known
  const read = { test: parseLabels(selector, badRequest), needs: neededLabel(selector) }
  if (selectors.size >= mostSelectors) selectors.clear()
  selectors.set(selector, read)
  return read
}

/** `metadata.name=x,status.phase!=Running`. Throws 400 for a field that the kind cannot be selected by. */
export function fieldTest(kind: SimKind, selector = ''): FieldTest {
  const terms = selector.split(',').map((term) => term.trim())
  const tests = terms.filter((term) => term !== '').map((term) => fieldTerm(kind, term, selector))
  return tests.length === 0 ? everything : (object) => tests.every((test) => test(object))
}

function fieldTerm(kind: SimKind, source: string, whole: string): FieldTest {
  const { field, operator, value } =
    /^(?<field>[^=!]+)(?<operator>==|=|!=)(?<value>.*)$/.exec(source)?.groups ?? {}
  if (field === undefined || value === undefined)
    throw badRequest(`invalid field selector "${whole}"; can't understand '${source}'`)
  const { selectable } = kind
  if (!everywhere.has(field) && !selectable.includes(field))
    throw badRequest(
      kind.builtIn && selectable.length === 0
        ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    )
  const path = field === 'source' ? ['source', 'component'] : field.split('.')
  return (object) => (plain(at(object, ...path)) === value) === (operator !== '!=')
}

const plain = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** kubectl's whole grammar. Throws 400 on anything else. */
export const labelTest = (selector = ''): LabelTest =>
  selector === '' ? everything : readSelector(selector).test

/** The test that lets everything pass. */
export const everything = (): boolean => true
/** Whether an object is among those that were asked for. Throws 400 for a selector that cannot be read. */
export function selection(kind: SimKind, where: Listing): (object: KubeObject) => boolean {
  const labels = labelTest(where.labels)
  const fields = fieldTest(kind, where.fields)
  if (labels === everything && fields === everything && where.namespace === undefined) return everything
  return (object) =>
    (where.namespace === undefined || object.metadata.namespace === where.namespace) &&
    labels(object.metadata.labels) &&
    fields(object)
}

/** What a watcher of a selection sees of a change: an object that leaves the selection is deleted to it. */
export function shownAs(
  { type, object, before }: StoreEvent,
  matches: (object: KubeObject) => boolean,
): StoreEvent['type'] | undefined {
  const was = before !== undefined && matches(before)
  if (type === 'DELETED') return was ? 'DELETED' : undefined
  const is = matches(object)
  if (is) return was ? 'MODIFIED' : 'ADDED'
  return was ? 'DELETED' : undefined
}

export interface PageOf {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string
  readonly continue?: string
  readonly remaining?: number
}

interface Token {
  rv: number
  start: string
}

/** Lists that somebody is in the middle of, as they were when the first page was read. */
export class ListSnapshots {
  readonly #kept = new Map<number, Map<string, readonly KubeObject[]>>()

  /** `objects` is asked where a list begins, not where one goes on. */
  page(
    list: { id: () => string; objects: () => readonly KubeObject[]; revision: number },
    limit: number,
    token: string | undefined,
  ): PageOf {
    const from = token === undefined ? undefined : decoded(token)
    const objects = from && from.rv >= 0 ? this.#resumed(list.id(), from) : list.objects()
    const revision = from && from.rv >= 0 ? from.rv : list.revision
    const start = from ? firstFrom(objects, from.start) : 0
    const isWhole = from === undefined && (limit === 0 || objects.length <= limit)
    const items = isWhole ? objects : objects.slice(start, limit > 0 ? start + limit : undefined)
    const next = objects[start + items.length]
    if (next === undefined) return { items, resourceVersion: String(revision) }
    this.#keep(list.id(), revision, objects)
    return {
      items,
      resourceVersion: String(revision),
      continue: encoded({ rv: revision, start: place(next) }),
      remaining: objects.length - start - items.length,
    }
  }

  #resumed(id: string, from: Token): readonly KubeObject[] {
    const kept = this.#kept.get(from.rv)?.get(id)
    if (kept) return kept
    const metadata = { continue: encoded({ rv: -1, start: from.start }) }
    throw new Refusal(410, 'Expired', expired, { metadata })
  }

  #keep(id: string, revision: number, objects: readonly KubeObject[]): void {
    const lists = this.#kept.get(revision) ?? new Map<string, readonly KubeObject[]>()
    lists.set(id, objects)
    this.#kept.set(revision, lists)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > 50 && oldest !== undefined) this.#kept.delete(oldest)
  }
}

const expired =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
  'objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

const place = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

/** They are in order: by halves. */
function firstFrom(objects: readonly KubeObject[], start: string): number {
  let [low, high] = [0, objects.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const object = objects[middle]
    if (object !== undefined && place(object) < start) low = middle + 1
    else high = middle
  }
  return low
}

const encoded = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url')

function decoded(token: string): Token {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as Token
  } catch {
    throw badRequest('continue key is not valid: illegal base64 data')
  }
}
