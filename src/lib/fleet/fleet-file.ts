import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'
import { type KvupError, usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'

/** A cluster of a fleet, as a person names it. */
export interface FleetMember {
  /** Of its rows: the context, unless the file has another name. */
  name: string
  context: string
  /** Absent: the kubeconfig of the command line. */
  kubeconfig?: string
  /** 0 is the canary. Absent: behind those that say theirs, so many at a time. */
  group?: number
  /** Risks that are accepted for this cluster: ID, or ID=reason. */
  accept: readonly string[]
  at?: string
}

const fields = ['name', 'context', 'kubeconfig', 'canary', 'group', 'accept'] as const
const top = ['apiVersion', 'kind', 'clusters'] as const

/** Reads a fleet file. Throws `usage` that names the line for whatever is not meant: a field that there is not, a name that stands twice. */
export function parseFleet(text: string, file: string): readonly FleetMember[] {
  const lines = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const [broken] = parsed.errors
  if (broken) throw wrong(lineAt(broken.pos[0]), broken.message)
  const at: Placing = (node) => lineAt(node.range?.[0] ?? 0)
  const node = parsed.contents
  if (!isMap(node)) throw wrong(`${file}:1`, 'it is no fleet file: it has no fields')
  const given = fieldsOf(node, { known: top, of: 'a fleet file', at })
  for (const [name, value] of Object.entries({ kind: 'Fleet', apiVersion: 'kvup.io/v1alpha1' })) {
    const place = given.get(name) ?? node
    if (textOf(place, name, at) !== value) throw wrong(at(place), `${name} has to be ${value}`)
  }
  const clusters = given.get('clusters')
  if (!isSeq(clusters) || clusters.items.length === 0)
    throw wrong(at(clusters ?? node), 'clusters has to be a list of clusters')
  const members = clusters.items.map((one) => memberOf(one as Node, at))
  for (const [index, { name, at: where = '' }] of members.entries())
    if (members.findIndex((one) => one.name === name) < index)
      throw wrong(where, `the name ${JSON.stringify(name)} stands twice`)
  return members
}

const wrong = (where: string, why: string): KvupError =>
  usageError('fleet-file', `${where}: ${why}`, {
    remedy: 'kvup fleet status --help     shows what a fleet file has',
  })

/** File and line of a node. */
type Placing = (node: Node) => string

function memberOf(node: Node, at: Placing): FleetMember {
  if (!isMap(node)) throw wrong(at(node), 'a cluster has fields: name, context')
  const given = fieldsOf(node, { known: fields, of: 'a cluster', at })
  const place = given.get('context') ?? given.get('name')
  if (place === undefined) throw wrong(at(node), 'a cluster needs a context')
  const context = textOf(place, 'context', at)
  const [name, kubeconfig, accept] = [given.get('name'), given.get('kubeconfig'), given.get('accept')]
  const group = groupOf(given.get('canary'), given.get('group'), at)
  const risks = isSeq(accept) ? (accept.items as Node[]) : [accept].flatMap((one) => one ?? [])
  return {
    name: name === undefined ? context : textOf(name, 'name', at),
    context,
    ...(kubeconfig && { kubeconfig: textOf(kubeconfig, 'kubeconfig', at) }),
    ...(group !== undefined && { group }),
    accept: risks.map((one) => textOf(one, 'accept', at)),
    at: at(node),
  }
}

function groupOf(canary: Node | undefined, group: Node | undefined, at: Placing): number | undefined {
  if (canary !== undefined && (!isScalar(canary) || typeof canary.value !== 'boolean'))
    throw wrong(at(canary), 'canary has to be true or false')
  const isCanary = isScalar(canary) && canary.value === true
  if (group === undefined) return isCanary ? 0 : undefined
  const number = isScalar(group) ? group.value : undefined
  if (!Number.isSafeInteger(number) || Number(number) < 1)
    throw wrong(at(group), 'group has to be a number from 1')
  if (isCanary) throw wrong(at(group), 'a canary is in the first group of all: leave out group')
  return Number(number)
}

function textOf(node: Node, what: string, at: Placing): string {
  if (isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value
  throw wrong(at(node), `${what} has to be a text`)
}

function fieldsOf(
  node: YAMLMap,
  { known, of, at }: { known: readonly string[]; of: string; at: Placing },
): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>()
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : ''
    if (!known.includes(name)) {
      const meant = nearest(name, known)
      const hint = meant === undefined ? `; it has ${known.join(', ')}` : `; did you mean ${meant}?`
      throw wrong(at(key as Node), `${of} has no field ${JSON.stringify(name)}${hint}`)
    }
    if (value === null || (isScalar(value) && value.value === null))
      throw wrong(at(key as Node), `${name} is empty`)
    found.set(name, value as Node)
  }
  return found
}

/** Those contexts that one of the patterns names, in the order of the kubeconfig: `*` is any text, `?` one character, all else itself. */
export function contextsLike(contexts: readonly string[], patterns: readonly string[]): readonly string[] {
  const forms = patterns.map(patternOf)
  return contexts.filter((name) => forms.some((form) => form.test(name)))
}

function patternOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/[.*+?^${}()|[\]\\]/gu, (sign) =>
    sign === '*' ? '.*' : sign === '?' ? '.' : `\\${sign}`,
  )
  return new RegExp(`^${source}$`, 'u')
}

/** Whether this name is one that a pattern names. */
export const isLike = (name: string, patterns: readonly string[]): boolean =>
  contextsLike([name], patterns).length > 0
