/** One step into an object: a key, an element of a list that is known by a key of its own, or one by its place. */
export type Segment = string | { by: string; value: unknown } | { index: number }
export type FieldPath = readonly Segment[]

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `spec.containers[virt-operator].image`; keys with dots are quoted: `labels["kubevirt.io"]`. */
export function pathText(path: FieldPath): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment !== 'string') return `${text}[${'index' in segment ? segment.index : segment.value}]`
    if (segment.includes('.') || segment.includes('/')) return `${text}[${JSON.stringify(segment)}]`
    return text === '' ? segment : `${text}.${segment}`
  }, '')
}

/** Lists that the server merges by a key of their elements; it takes all others as a whole. */
const keyOfList: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
}

/** The key by which the elements of this list are merged; undefined for a list that is one value. */
export function mergeKey(path: FieldPath, elements: readonly unknown[]): string | undefined {
  const last = path.at(-1)
  const key = typeof last === 'string' ? keyOfList[last] : undefined
  return key !== undefined && elements.every((e) => isFields(e) && e[key] !== undefined) ? key : undefined
}

/** What is at the path, undefined where nothing is. */
export function valueAt(root: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>(childOf, root)
}

function childOf(at: unknown, segment: Segment): unknown {
  if (typeof segment === 'string') return isFields(at) ? at[segment] : undefined
  if (!Array.isArray(at)) return undefined
  return 'index' in segment ? at[segment.index] : at[placeOf(at, segment)]
}

/** Where in a list the element is that has this value under its key; -1 where there is none. */
export function placeOf(list: readonly unknown[], { by, value }: { by: string; value: unknown }): number {
  return list.findIndex((element) => isFields(element) && element[by] === value)
}
