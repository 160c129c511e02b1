import { isIP } from 'node:net'
import type { Fields } from '../../lib/output/report/fields.ts'

/** Names of fields whose values say where something runs, or whose it is. */
export const hostKey = /^(?:hostname|subdomain|host|hostIP|podIP|serverName)$/u

/** Hosts that everybody knows: of releases, registries and documentation. Another host of the same domain is somebody's own. */
const publicHosts: ReadonlySet<string> = new Set([
  ...below('redhat.com', 'access bugzilla catalog console docs issues registry.access registry.connect'),
  ...below('openshift.com', 'api console docs mirror'),
  ...below('docker.io', 'index registry-1'),
  ...below('githubusercontent.com', 'objects raw'),
  ...`quay.io cdn.quay.io docker.io ghcr.io gcr.io mcr.microsoft.com registry.redhat.io github.com www.github.com
api.github.com kubevirt.github.io storage.googleapis.com helm.sh etcd.io www.qemu.org docs.oasis-open.org
localhost.localdomain cluster.local`.split(/\s+/u),
])

function below(domainName: string, names: string): readonly string[] {
  return names.split(' ').map((name) => `${name}.${domainName}`)
}
/** Domains of groups of APIs, labels and annotations that Kubernetes and its extensions share, and of what is in them. */
const groups =
  /(?:^|\.)(?:kubevirt\.io|kubernetes\.io|k8s\.io|x-k8s\.io|kvup\.io|openshift\.io|coreos\.com|operatorframework\.io|medik8s\.io|cncf\.io|argoproj\.io|fluxcd\.io|helm\.sh|istio\.io|cattle\.io|konveyor\.io|longhorn\.io|cert-manager\.io|metal3\.io|tekton\.dev|ovn\.org|cilium\.io|projectcalico\.org|csi\.ceph\.com)$|^(?:nvidia\.com|intel\.com|topolvm\.io)$/u
/** Of Kubernetes' own groups, which have one word: `deployments.apps`, `cronjobs.v1beta1.batch`. */
const resource =
  /^(?:deployments|daemonsets|statefulsets|replicasets|controllerrevisions|poddisruptionbudgets|podsecuritypolicies|jobs|cronjobs|horizontalpodautoscalers|ingresses)(?:\.v\d\w*)?\.(?:apps|policy|batch|autoscaling|extensions)$/u
/** Services have names only within their cluster. */
const service = /\.svc(?:\.cluster\.local)?$|\.(?:pod|node)\.cluster\.local$/u
/** `kubevirt-operator.yaml`: more labels than a file has are a host where the ending is one of domains too. */
const file =
  /\.(?:ya?ml|json|ndjson|html?|txt|log|go|tgz|gz|tar|iso|img|qcow2|raw|vmdk|key|crt|pem|csr|cfg|conf|ini|toml|lock|sock|xml|svg|png|css|bak|kubeconfig|config|service|target|slice|scope|mount|db)$|^[^.]+\.(?:sh|md|py|js|ts|rs|zip|tls)$/u
/** `spec.paused`, `metadata.name`; what may begin the name of a host too is a field by its second label. */
const field =
  /^(?:spec|metadata|items|limits|requests|allocatable|capacity|olm|strategy|selector|labels|annotations|features|containers|volumes|webhooks|rules)\.|^(?:status|data|template|object|env|resources|cpu|memory|nodefs|imagefs|pid|vms|domain|devices)\.[^.]+$|^(?:status|template|object|data)\.(?:conditions|phase|allocatable|capacity|volumes|history|desired|versions|spec|metadata|status)\.|\.(?:unavailable|interrupted|paused|uid)$/u
/** Ends of names that are of hosts even where a name is written as no host is. */
const domain = /\.(?:com|org|net|edu|gov|io|dev|cloud|corp|local|lan|internal|example|[a-z]{2})$/iu

/** Words with dots between them, each run of them once and whole: nothing in it is tried again from its next dot. */
const dotted = /(?<![\w-])(?<![\w\])"']\.)\w[\w-]*(?:\.[\w-]+)+/giu
/** At least two labels, the last one of letters: a version has a figure there. */
const lastLabel = /\.(?:[a-z]{2,24}|xn--[a-z0-9-]{2,58})$/iu
const linked = /(?<=[a-z0-9+.-]:\/\/)(?:[^\s/?#"'<>\\:[\]@]+|\[[0-9a-f:.]{2,64}\])/giu
/** `ops@bastion77`, and a registry behind a login; an image has a digest there, a module a version. */
const behindAt = /(?<=[\w>]@)(?!sha\d{3}:|v?\d+(?![\w-]))[a-z0-9][\w-]{0,62}(?![\w-]|\.\w)/giu
/** A name of one label is a host by what stands around it: `lookup mirror01 on …`, `mirror01:5000/kubevirt/virt-api`. */
const alone =
  /(?<=\b(?:tcp|udp|lookup) )(?![\d.]+\b|failed\b)[a-z0-9-]+(?=:\d| on |: )|(?<![\w./:@-])(?=[\w-]*[a-z])[a-z0-9-]+(?=:\d{2,5}\/[a-z])/giu
/** What may be an address, of version 6 where it has colons. A version of a program has three parts, and a time has too few. */
const address =
  /(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){1,7}:(?:\d{1,3}\.){3}\d{1,3}(?![\w:]|\.\d)|(?<![a-z0-9.])(?:\d{1,3}\.){3}\d{1,3}(?![a-z0-9]|\.\d)|(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?!\w|\.\d)/giu

/** A machine may be called `vm`, which is a word of every sentence here. */
const isDistinct = (name: string): boolean => /[.:]/u.test(name) || (name.length > 5 && /[-\d]/u.test(name))

/** The longest first, so that none is found within another. */
const anyOf = (names: readonly string[]): string =>
  names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replaceAll(/[^\w-]/gu, String.raw`\$&`))
    .join('|')

/** A word with an underscore is a name of code unless its ending is one of domains. */
const isHost = (name: string): boolean => lastLabel.test(name) && (!name.includes('_') || domain.test(name))

/** Nobody's host: what everybody knows, and names that read like hosts. */
function isPublic(name: string, told: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase()
  if (publicHosts.has(lower) || groups.test(lower) || resource.test(lower) || service.test(lower)) return true
  if (told.has(lower) || file.test(lower)) return true
  if (field.test(lower)) return true
  // Fields are written `imageTag`, types `Unstructured`.
  return /[a-z][A-Z]|[A-Z][a-z]/u.test(name) && !domain.test(name)
}

/** `ocp.acme.bank` and `acme.bank` of `api.ocp.acme.bank`. */
function domainsOf(host: string): readonly string[] {
  if (isIP(host) > 0 || host.startsWith('[')) return []
  const labels = host.toLowerCase().split('.')
  return labels
    .slice(1, -1)
    .map((_, index) => labels.slice(index + 1).join('.'))
    .filter((one) => !groups.test(one) && !service.test(`.${one}`) && !publicHosts.has(one))
}

/** Hosts of one document by their stand-ins. */
export class Hosts {
  readonly #standIns = new Map<string, string>()
  /** Of the document's own hosts: those that no word of a sentence can be, and all behind an @. */
  readonly #own: RegExp | undefined
  /** Whatever is below the domain of one of its hosts is its own too. */
  readonly #below: RegExp | undefined
  /** Groups of the APIs of its objects. */
  readonly #groups: ReadonlySet<string>

  /** Hosts that fields name as such are known wherever they stand: of the server, and behind the @ of who ran kvup. */
  constructor(documents: readonly Fields[]) {
    const [told, apis] = [new Set<string>(), new Set<string>()]
    walk(documents, (key, value) => {
      if (key === 'server')
        told.add(/^(?:[a-z]+:\/\/)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+)/iu.exec(value)?.[1] ?? '')
      if (key === 'by' || key === 'holder') told.add(/^[^@]+@([^/\s]+)/u.exec(value)?.[1] ?? '')
      if (hostKey.test(key)) told.add(value)
      if (key === 'apiVersion') apis.add(value.split('/')[0] ?? '')
    })
    this.#groups = apis
    const own = [...told].filter((name) => name.length > 1 && name !== 'localhost')
    for (const name of own) this.standIn(name)
    const [long, short] = [own.filter(isDistinct), own.filter((name) => !isDistinct(name))]
    // oc makes names of clusters of hosts: api-ocp-acme-bank.
    const dashed = long.filter((name) => /\..*\./u.test(name)).map((name) => name.replaceAll('.', '-'))
    const parts = [
      ...(long.length > 0 ? [String.raw`(?<![\w.-])(?:${anyOf([...long, ...dashed])})`] : []),
      ...(short.length > 0 ? [`(?<=@)(?:${anyOf(short)})`] : []),
    ]
    if (parts.length > 0) this.#own = new RegExp(String.raw`(?:${parts.join('|')})(?![\w-]|\.\w)`, 'giu')
    const domains = [...new Set(own.flatMap(domainsOf))]
    if (domains.length > 0)
      this.#below = new RegExp(
        String.raw`(?<![\w-])(?:[\w-]{1,63}\.){0,12}(?:${anyOf(domains)})(?![\w-]|\.\w)`,
        'giu',
      )
  }

  standIn(host: string): string {
    const key = host.toLowerCase()
    const found = this.#standIns.get(key) ?? `host-${this.#standIns.size + 1}`
    this.#standIns.set(key, found)
    return found
  }

  without(text: string): string {
    const replaced = this.#own === undefined ? text : text.replace(this.#own, (host) => this.standIn(host))
    if (!/[.:@]|lookup /u.test(replaced)) return replaced
    return replaced
      .replace(this.#below ?? /$^/u, (host) =>
        publicHosts.has(host.toLowerCase()) ? host : this.standIn(host),
      )
      .replace(linked, (host) =>
        isPublic(host, this.#groups) || isStandIn(host) || host.startsWith('<') ? host : this.standIn(host),
      )
      .replace(dotted, (name) => (!isHost(name) || isPublic(name, this.#groups) ? name : this.standIn(name)))
      .replace(behindAt, (name) => (isStandIn(name) || name === 'localhost' ? name : this.standIn(name)))
      .replace(alone, (name) => (isStandIn(name) || name === 'localhost' ? name : this.standIn(name)))
      .replace(address, (found) => {
        const one = isIP(found) === 0 ? found.replace(/:$/u, '') : found
        return isIP(one) > 0 && one !== '::' ? this.standIn(one) + found.slice(one.length) : found
      })
  }
}

const isStandIn = (name: string): boolean => /^host-\d+$/u.test(name)

/** Somewhere in a text. */
export const hasStandIn = (text: string): boolean => /\bhost-\d/u.test(text)

function walk(value: unknown, tell: (key: string, value: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, one] of Object.entries(value)) {
    if (typeof one === 'string') tell(key, one)
    else walk(one, tell)
  }
}
