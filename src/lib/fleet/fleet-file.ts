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
  const [broken] = parsed.errors
  if (broken) throw wrong(`${file}:${lines.linePos(broken.pos[0]).line}`, broken.message)
  return new FleetReading(file, lines).fleet(parsed.contents)
}

const wrong = (where: string, why: string): KvupError =>
  usageError('fleet-file', `${where}: ${why}`, {
    remedy: 'kvup fleet status --help     shows what a fleet file has',
  })

class FleetReading {
  readonly #file: string
  readonly #lines: LineCounter

  constructor(file: string, lines: LineCounter) {
    this.#file = file
    this.#lines = lines
  }

  fleet(node: Node | null): readonly FleetMember[] {
    if (!isMap(node)) throw wrong(`${this.#file}:1`, 'it is no fleet file: it has no fields')
    const given = this.#fields(node, top, 'a fleet file')
    if (this.#text(given.get('kind') ?? node, 'kind') !== 'Fleet')
      throw wrong(this.#at(given.get('kind') ?? node), 'kind has to be Fleet')
    if (this.#text(given.get('apiVersion') ?? node, 'apiVersion') !== 'kvup.io/v1alpha1')
      throw wrong(this.#at(given.get('apiVersion') ?? node), 'apiVersion has to be kvup.io/v1alpha1')
    const clusters = given.get('clusters')
    if (!isSeq(clusters) || clusters.items.length === 0)
      throw wrong(this.#at(clusters ?? node), 'clusters has to be a list of clusters')
    const members = clusters.items.map((one) => this.#member(one as Node))
    for (const [index, { name, at = '' }] of members.entries())
      if (members.findIndex((one) => one.name === name) < index)
        throw wrong(at, `the name ${JSON.stringify(name)} stands twice`)
    return members
  }

  #member(node: Node): FleetMember {
    if (!isMap(node)) throw wrong(this.#at(node), 'a cluster has fields: name, context')
    const given = this.#fields(node, fields, 'a cluster')
    const place = given.get('context') ?? given.get('name')
    if (place === undefined) throw wrong(this.#at(node), 'a cluster needs a context')
    const context = this.#text(place, 'context')
    const [name, kubeconfig] = [given.get('name'), given.get('kubeconfig')]
    const group = this.#group(given.get('canary'), given.get('group'))
    return {
      name: name === undefined ? context : this.#text(name, 'name'),
      context,
      ...(kubeconfig && { kubeconfig: this.#text(kubeconfig, 'kubeconfig') }),
      ...(group !== undefined && { group }),
      accept: this.#texts(given.get('accept'), 'accept'),
      at: this.#at(node),
    }
  }

  #group(canary: Node | undefined, group: Node | undefined): number | undefined {
    if (canary !== undefined && (!isScalar(canary) || typeof canary.value !== 'boolean'))
      throw wrong(this.#at(canary), 'canary has to be true or false')
    const isCanary = isScalar(canary) && canary.value === true
    if (group === undefined) return isCanary ? 0 : undefined
    const number = isScalar(group) ? group.value : undefined
    if (!Number.isSafeInteger(number) || Number(number) < 1)
      throw wrong(this.#at(group), 'group has to be a number from 1')
    if (isCanary) throw wrong(this.#at(group), 'a canary is in the first group of all: leave out group')
    return Number(number)
  }

  #texts(node: Node | undefined, what: string): readonly string[] {
    if (node === undefined) return []
    return (isSeq(node) ? (node.items as Node[]) : [node]).map((one) => this.#text(one, what))
  }

  #text(node: Node, what: string): string {
    if (isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value
    throw wrong(this.#at(node), `${what} has to be a text`)
  }

  #fields(node: YAMLMap, known: readonly string[], of: string): ReadonlyMap<string, Node> {
    const found = new Map<string, Node>()
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      if (!known.includes(name)) {
        const meant = nearest(name, known)
        const hint = meant === undefined ? `; it has ${known.join(', ')}` : `; did you mean ${meant}?`
        throw wrong(this.#at(key as Node), `${of} has no field ${JSON.stringify(name)}${hint}`)
      }
      if (value === null || (isScalar(value) && value.value === null))
        throw wrong(this.#at(key as Node), `${name} is empty`)
      found.set(name, value as Node)
    }
    return found
  }

  #at(node: Node): string {
    return `${this.#file}:${this.#lines.linePos(node.range?.[0] ?? 0).line}`
  }
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
