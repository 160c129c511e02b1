import { isIP } from 'node:net'
import { isSecretName, redactBody } from '../../lib/kube/http/trace.ts'
import { type Fields, fieldsOf, textOf } from '../../lib/output/report/fields.ts'
import type { ReportSource } from '../../lib/output/report/report-source.ts'

const hidden = '<redacted>'

/**
 * The same without what a page that is forwarded must not have: credentials, values of environment variables, annotations of people, host names and addresses. The same host is
 * the same stand-in everywhere.
 */
export function redactedSource({ document, events }: ReportSource): ReportSource {
  // Both at once: a host that is told in the document stands in the texts of the events.
  const bare = JSON.parse(redactBody(JSON.stringify([document, ...events]), '')) as Fields[]
  const hosts = new Hosts(bare)
  const [first, ...rest] = bare.map((one) => fieldsOf(redacted(one, hosts)))
  return { document: { ...first, kind: document.kind }, events: rest }
}

/** Names of fields whose values say where something runs, or whose it is. */
const hostKey = /^(?:hostname|subdomain|host|hostIP|podIP|serverName)$/u

function redacted(value: unknown, hosts: Hosts): unknown {
  if (typeof value === 'string') return hosts.without(value)
  if (Array.isArray(value)) return value.map((one) => redacted(one, hosts))
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Fields
  const isHidden = isPrivatePath(textOf(fields['path']) ?? '') || isPrivateEnv(fields)
  return Object.fromEntries(
    Object.entries(fields).map(([key, one]) => {
      if (key === 'annotations') return [key, redactedNotes(one, hosts)]
      if (key === 'context' && typeof one === 'string') return [key, contextOf(one)]
      if (hostKey.test(key) && typeof one === 'string') return [key, hosts.standIn(one)]
      if (key === 'leaves') return [key, redactedLeaves(one, hosts)]
      const isValue = key === 'from' || key === 'to' || key === 'value' || key === 'was'
      return [hosts.without(key), isHidden && isValue ? hidden : redacted(one, hosts)]
    }),
  )
}

/** oc makes names of contexts of addresses and users. */
const contextOf = (context: string): string => (/[/:@]|\..*\./u.test(context) ? hidden : context)

/** Of Kubernetes and its extensions, which name no person and no secret. */
const ownKey = /(?:^|[./])(?:kubevirt|kubernetes|k8s|kvup|openshift)\.io(?:$|[/"\]])/u
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

const redactedNotes = (notes: unknown, hosts: Hosts): unknown =>
  Object.fromEntries(
    Object.entries(fieldsOf(notes)).map(([key, one]) =>
      ownKey.test(key) && key !== lastApplied ? [key, redacted(one, hosts)] : [hosts.without(key), hidden],
    ),
  )

const redactedLeaves = (leaves: unknown, hosts: Hosts): unknown =>
  Object.fromEntries(
    Object.entries(fieldsOf(leaves)).map(([path, leaf]) => [
      hosts.without(path),
      isPrivatePath(path) ? hidden : redacted(leaf, hosts),
    ]),
  )

/** Environment variables with which KubeVirt names its own images and places. */
const ownEnv = /_IMAGE$|_SHASUM$|_VERSION$|^(?:OPERATOR_|KUBEVIRT_|VIRT_|WATCH_NAMESPACE)/u

/** A field of a diff: `spec.template.spec.containers[virt-operator].env[HTTPS_PROXY].value`. */
function isPrivatePath(path: string): boolean {
  if (/annotations/u.test(path)) return !ownKey.test(path) || path.includes(lastApplied)
  if (/(?:^|[./])(?:hostname|subdomain)$/u.test(path)) return true
  const env = /\benv(?:\[(?<name>[^\]]*)\]|[./](?<place>\d+))/u.exec(path)?.groups
  return env !== undefined && isPrivateName(env['name'] ?? '')
}

const isPrivateName = (name: string): boolean => isSecretName(name) || !ownEnv.test(name)

/** `{name: HTTPS_PROXY, value: …}` */
const isPrivateEnv = ({ name, value }: Fields): boolean =>
  typeof name === 'string' &&
  typeof value === 'string' &&
  /^[A-Z][A-Z0-9_]+$/u.test(name) &&
  isPrivateName(name)

/** Places that everybody knows: releases, registries, documentation; and groups of APIs, which read like hosts. */
const known =
  /(?:^|\.)(?:kubevirt\.io|kubernetes\.io|k8s\.io|kvup\.io|openshift\.io|openshift\.com|operatorframework\.io|coreos\.com|quay\.io|redhat\.io|redhat\.com|github\.com|github\.io|githubusercontent\.com|docker\.io|ghcr\.io|gcr\.io|cncf\.io|x-k8s\.io|helm\.sh|etcd\.io)$/iu
/** Ends of names that are names of hosts, and of no file, field or version. */
const ending =
  'com|org|net|edu|gov|mil|int|biz|info|cloud|dev|app|local|localdomain|lan|internal|intern|intranet|corp|home|priv|private|example|invalid|test|arpa|eu|de|at|ch|fr|uk|us|nl|es|it|be|se|no|dk|fi|pl|cz|pt|ie|ca|br|cn|jp|kr|in|au|nz|ru|za|mx'
const named = new RegExp(
  String.raw`(?<![\w.-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}(?:${ending}|io)(?![\w-]|\.\w)`,
  'giu',
)
const linked = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"'<>\\:[\]@]+|\[[0-9a-f:.]+\])/giu
/** What may be an address: of version 6 where it has colons. */
const address = /(?<![\w:.])(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8})(?![\w:]|\.\d)/giu

/** A machine may be called `vm`, which is a word of every sentence here. */
const isDistinct = (name: string): boolean => /[.:]/u.test(name) || (name.length > 5 && /[-\d]/u.test(name))

/** The longest first, so that none is found within another. */
const anyOf = (names: readonly string[]): string =>
  names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replaceAll(/[^\w-]/gu, String.raw`\$&`))
    .join('|')

/** Hosts of one document by their stand-ins. */
class Hosts {
  readonly #standIns = new Map<string, string>()
  /** Of the document's own hosts: those that no word of a sentence can be, and all behind an @. */
  readonly #own: RegExp | undefined

  /** Hosts that fields name as such are known wherever they stand: of the server, and behind the @ of who ran kvup. */
  constructor(documents: readonly Fields[]) {
    const told = new Set<string>()
    walk(documents, (key, value) => {
      if (key === 'server')
        told.add(/^(?:[a-z]+:\/\/)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+)/iu.exec(value)?.[1] ?? '')
      if (key === 'by' || key === 'holder') told.add(/^[^@]+@([^/\s]+)/u.exec(value)?.[1] ?? '')
      if (hostKey.test(key)) told.add(value)
    })
    const own = [...told].filter((name) => name.length > 1 && name !== 'localhost')
    for (const name of own) this.standIn(name)
    const [long, short] = [own.filter(isDistinct), own.filter((name) => !isDistinct(name))]
    const parts = [
      ...(long.length > 0 ? [String.raw`(?<![\w.-])(?:${anyOf(long)})`] : []),
      ...(short.length > 0 ? [`(?<=@)(?:${anyOf(short)})`] : []),
    ]
    if (parts.length > 0) this.#own = new RegExp(String.raw`(?:${parts.join('|')})(?![\w-]|\.\w)`, 'giu')
  }

  standIn(host: string): string {
    const key = host.toLowerCase()
    const found = this.#standIns.get(key) ?? `host-${this.#standIns.size + 1}`
    this.#standIns.set(key, found)
    return found
  }

  without(text: string): string {
    const replaced = this.#own === undefined ? text : text.replace(this.#own, (host) => this.standIn(host))
    if (!/[.:]/u.test(replaced)) return replaced
    return replaced
      .replace(linked, (all, scheme: string, host: string) =>
        known.test(host) || /^host-\d+$/u.test(host) ? all : `${scheme}${this.standIn(host)}`,
      )
      .replace(named, (host) => (known.test(host) ? host : this.standIn(host)))
      .replace(address, (one) => (isIP(one) > 0 ? this.standIn(one) : one))
  }
}

function walk(value: unknown, tell: (key: string, value: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, one] of Object.entries(value)) {
    if (typeof one === 'string') tell(key, one)
    else walk(one, tell)
  }
}
