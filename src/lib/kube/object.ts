/** What every Kubernetes object has; `spec` and `status` are narrowed per kind, in `kinds/`. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: Metadata
}

/** Its times are RFC 3339, as the server wrote them: nothing here is ever turned into a `Date`. */
export interface Metadata extends Texts<
  'namespace' | 'generateName' | 'uid' | 'resourceVersion' | 'creationTimestamp' | 'deletionTimestamp'
> {
  name: string
  generation?: number
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  managedFields?: ManagedField[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
}

export interface ManagedField extends Texts<
  'manager' | 'operation' | 'apiVersion' | 'time' | 'fieldsType' | 'subresource'
> {
  fieldsV1?: Record<string, unknown>
}

export interface Condition extends Texts<'reason' | 'message' | 'lastTransitionTime'> {
  type: string
  status: 'True' | 'False' | 'Unknown'
  lastProbeTime?: string | null
}

/** Members that are a text, where they are there at all. */
export type Texts<Name extends string> = { [N in Name]?: string }
export type Numbers<Name extends string> = { [N in Name]?: number }

export interface Conditions {
  conditions?: Condition[]
}

/** The condition of that type, if the object has it. Absent and `Unknown` are different answers. */
export const condition = (of: { status?: Conditions }, type: string): Condition | undefined =>
  of.status?.conditions?.find((c) => c.type === type)

/** Whether whoever acts on it has seen its spec as it is now. */
export const isObserved = (of: { metadata: Metadata; status?: { observedGeneration?: number } }): boolean =>
  (of.status?.observedGeneration ?? 0) >= (of.metadata.generation ?? 0)

/** A kind that kvup talks to. The type parameter travels with the value, so that `find(KubeVirts, …)` is typed. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** `v1` or `group/version`. */
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Only the metadata is listed; an answer of whole objects is as good. Who follows gets those. */
  readonly metadataOnly?: true
  /** Never set; carries T. */
  readonly shape?: T
}

/** A kind whose objects lie in namespaces. Its plural is the kind with an s, unless it is named. */
export const namespacedKind = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural = `${kind.toLowerCase()}s`,
): Kind<T> => ({ apiVersion, kind, plural, namespaced: true })

/** A kind whose objects lie in no namespace. */
export const clusterKind = <T extends KubeObject>(...names: Parameters<typeof namespacedKind>): Kind<T> => ({
  ...namespacedKind<T>(...names),
  namespaced: false,
})

/** The same kind under another version of its group. */
export function atVersion<T extends KubeObject>(kind: Kind<T>, version: string): Kind<T> {
  return { ...kind, apiVersion: [...kind.apiVersion.split('/').slice(0, -1), version].join('/') }
}

/** The same kind, for who lists it and needs no more than the metadata. */
export function metadataOf({ apiVersion, kind, plural, namespaced }: Kind): Kind {
  return { apiVersion, kind, plural, namespaced, metadataOnly: true }
}

/** Whole objects of it again, for who keeps what others asked for. */
export function wholeOf<T extends KubeObject>(kind: Kind<T>): Kind<T> {
  const { metadataOnly: _, ...whole } = kind
  return whole
}

/** `` for the core group. */
export function groupOf({ apiVersion }: Pick<Kind, 'apiVersion'>): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** `deployments.apps`, `pods`: as RBAC and error messages name it. */
export function resourceOf(kind: Pick<Kind, 'apiVersion' | 'plural'>): string {
  const group = groupOf(kind)
  return group === '' ? kind.plural : `${kind.plural}.${group}`
}

/**
 * The kind whose objects a call of this kind acts on: virt-api serves `subresources.kubevirt.io` for those of `kubevirt.io`, and has none
 * to read there (a GET of one is 401, lab "Seen with workloads" 13).
 */
export function actedOn<T extends Pick<Kind, 'apiVersion'>>(kind: T): T {
  return { ...kind, apiVersion: kind.apiVersion.replace(/^subresources\.kubevirt\.io\//, 'kubevirt.io/') }
}

type Labels = Readonly<Record<string, string>>
export type LabelTest = (labels: Labels | undefined) => boolean

const setBased = /^(?<key>[^\s!=,()]+)\s+(?<not>not)?in\s*\((?<values>[^()]*)\)$/
const equality = /^(?<key>[^\s!=,()]+)\s*(?<operator>==|=|!=)\s*(?<value>[^\s!=,()]*)$/
const presence = /^(?<not>!)?\s*(?<key>[^\s!=,()]+)$/

/** kubectl's whole grammar: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws what `refuse` makes on anything else. */
export function parseLabels(selector: string | undefined, refuse: (why: string) => Error): LabelTest {
  if (selector === undefined || selector.trim() === '') return () => true
  // Commas inside parentheses separate values, not requirements.
  const tests = selector.split(/,(?![^(]*\))/).map((part) => {
    const test = requirement(part.trim())
    if (test !== undefined) return test
    throw refuse(
      `unable to parse requirement: found '${part.trim()}', expected: in, notin, =, ==, !=, gt, lt in selector '${selector}'`,
    )
  })
  return (labels) => tests.every((test) => test(labels))
}

function requirement(source: string): LabelTest | undefined {
  const found = (setBased.exec(source) ?? equality.exec(source) ?? presence.exec(source))?.groups
  if (found === undefined) return undefined
  const { key = '', not, values, operator, value } = found
  const isNegated = not !== undefined || operator === '!='
  const wanted = values === undefined ? value : new Set(values.split(',').map((one) => one.trim()))
  return (labels) => {
    const has = labels?.[key]
    const fits = wanted instanceof Set ? has !== undefined && wanted.has(has) : has === wanted
    return (wanted === undefined ? has !== undefined : fits) !== isNegated
  }
}

/**
 * The same value, changed in place, without the fields and the elements that are null: in an object of Kubernetes null says what absence says, and who writes YAML by hand or by a
 * template leaves some. What was read judges absence, as an API server has it.
 */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) {
    if (value.includes(null)) value.splice(0, value.length, ...value.filter((one) => one !== null))
    for (const one of value) if (typeof one === 'object') withoutNulls(one)
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>
    // Every object that is read comes by here: a list of entries of each would be more than the objects themselves.
    for (const name of Object.keys(fields)) {
      const below = fields[name]
      if (below === null) Reflect.deleteProperty(fields, name)
      else if (typeof below === 'object') withoutNulls(below)
    }
  }
  return value
}

/** Levels of an object of Kubernetes: schemas of CRDs have some sixty. */
export const deepest = 1000

/** Text of others may be nested in a hundred thousand levels, and every walk through that would end in the stack. */
export const isTooDeep = (value: unknown, left: number = deepest): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((below) => isTooDeep(below, left - 1)))

/** An object of JSON: no list, and not null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every text in a value, with the key under which it stands; in a list that of the list. */
export function eachText(value: unknown, visit: (text: string, key: string) => void, key = ''): void {
  if (typeof value === 'string') visit(value, key)
  else if (Array.isArray(value)) for (const one of value) eachText(one, visit, key)
  else if (isRecord(value)) for (const [name, below] of Object.entries(value)) eachText(below, visit, name)
}

/** Undefined for a text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `namespace/name`; `/name` of what has no namespace. */
export const keyOf = ({ metadata: { namespace = '', name } }: Pick<KubeObject, 'metadata'>): string =>
  `${namespace}/${name}`

/** Where kubectl keeps what it applied. */
export const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** The members whose names are wanted. */
export function withoutKeys(from: object, unwanted: (key: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !unwanted(key)))
}
