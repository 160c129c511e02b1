/** Reading of documents of any kind: whatever is of another type than is looked for counts as absent, so that no report fails halfway. */
export type Fields = Readonly<Record<string, unknown>>

/** What a report is made of: a document of kvup, and the events of its run. */
export interface ReportSource {
  document: Fields & { kind: string }
  events: readonly Fields[]
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object, or an empty one. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The objects of a list. */
export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isFields) : []

/** A text, or a number as one. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** The texts of a list. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** ms since the epoch of an RFC 3339 time. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Of each entry of a journal the next one about the same step that says one of these. */
export function laterEntries(
  items: readonly Fields[],
  ...whats: readonly string[]
): ReadonlyMap<Fields, Fields> {
  const later = new Map<Fields, Fields>()
  const next = new Map<unknown, Fields>()
  for (const item of items.toReversed()) {
    const found = next.get(item['step'])
    if (found !== undefined) later.set(item, found)
    if (whats.includes(String(textOf(item['what'])))) next.set(item['step'], item)
  }
  return later
}

/** `namespace/name`. */
export const placedName = ({ namespace, name }: Fields): string =>
  [textOf(namespace), textOf(name)].filter((part) => part !== undefined && part !== '').join('/')
