import type { StandIns } from './stand-ins.ts'

/** Puts the stand-ins into texts. */
export interface Words {
  /** The same value with stand-ins in all its strings; member names stay. */
  within(value: unknown): unknown
}

interface Vocabulary {
  /** Never replaced in a text, even where a VM is called so. */
  known: ReadonlySet<string>
  registries: readonly (readonly [string, string])[]
  users: ReadonlyMap<string, string>
}

const word = /[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/gi
/** Looked for only from where a name begins: in a text of one long word it would take hours otherwise. */
const person = /(?<![\w.+-])[\w.+-]+@(?!sha256:)[\w.-]*\w/g
const launcher = /^(?<before>virt-launcher-)(?<vm>.+)(?<after>-[a-z0-9]{5})$/

/** Fields that hold one name: it is replaced whatever else it means. */
const nameFields = new Set(['nodeName', 'sourceNode', 'targetNode', 'evacuationNodeName', 'vmiName'])
/** Words of Kubernetes: none of them is a name. */
const fixedFields = new Set(['apiVersion', 'kind', 'type', 'status', 'phase', 'reason', 'uid', 'op', 'code'])
const common =
  'kubevirt default system true false linux amd64 arm64 s390x node nodes pod pods get list watch patch create delete metadata spec status'

export function wordsOf(places: StandIns, { known, registries, users }: Vocabulary): Words {
  const { nodes, machines, others, namespaces } = places
  const names = new Map([...others, ...machines, ...nodes, ...namespaces])
  const people = new Map(users)
  const spared = new Set([...known, ...common.split(' ')])
  const personOf = (name: string): string => {
    const standIn = people.get(name) ?? `user-${people.size + 1}@host`
    people.set(name, standIn)
    return standIn
  }
  const wordOf = (one: string): string => {
    if (spared.has(one)) return one
    const { before = '', vm = '', after = '' } = launcher.exec(one)?.groups ?? {}
    const machine = machines.get(vm)
    return names.get(one) ?? (machine === undefined ? one : `${before}${machine}${after}`)
  }
  const textOf = (text: string): string => {
    let result = text
    for (const [registry, standIn] of registries) result = result.replaceAll(registry, standIn)
    for (const [user, standIn] of users) result = result.replaceAll(user, standIn)
    return result.replaceAll(person, personOf).replaceAll(word, wordOf)
  }
  const valueOf = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      if (fixedFields.has(key)) return value
      return (nameFields.has(key) ? names.get(value) : undefined) ?? textOf(value)
    }
    if (Array.isArray(value)) return value.map((one) => valueOf(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, valueOf(below, name)]))
  }
  return { within: (value) => valueOf(value, '') }
}
