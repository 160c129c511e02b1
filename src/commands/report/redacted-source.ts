import { isSecretKey, isSecretName, redactBody } from '../../lib/kube/http/trace.ts'
import { type Fields, fieldsOf, textOf } from '../../lib/output/report/fields.ts'
import type { ReportSource } from '../../lib/output/report/report-source.ts'
import { hostKey, Hosts } from './host-names.ts'

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

function redacted(value: unknown, hosts: Hosts): unknown {
  if (typeof value === 'string') return redactedText(value, hosts)
  if (Array.isArray(value)) return redactedList(value, hosts)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Fields
  const isHidden = isPrivatePath(textOf(fields['path']) ?? '') || isPrivateEnv(fields)
  return Object.fromEntries(
    Object.entries(fields).map(([key, one]) => {
      if (key === 'annotations') return [key, redactedNotes(one, hosts)]
      if (key === 'context' && typeof one === 'string') return [key, hosts.without(contextOf(one))]
      if (hostKey.test(key) && typeof one === 'string') return [key, hosts.standIn(one)]
      if (key === 'leaves') return [key, redactedLeaves(one, hosts)]
      const isValue = key === 'from' || key === 'to' || key === 'value' || key === 'was'
      return [hosts.without(key), isHidden && isValue ? hidden : redacted(one, hosts)]
    }),
  )
}

/** What stands behind `--token` is one, in the list of the arguments of a program too. */
const redactedList = (list: readonly unknown[], hosts: Hosts): readonly unknown[] =>
  list.map((one, index) => {
    const before: unknown = list[index - 1]
    return typeof one === 'string' && typeof before === 'string' && isSecretFlag(before)
      ? hidden
      : redacted(one, hosts)
  })

const isSecretFlag = (text: string): boolean => /^--?[a-z][\w-]*$/iu.test(text) && isSecretKey(text)

/** A patch of customizeComponents is JSON in a text; other texts tell of fields, flags and variables in words. */
function redactedText(text: string, hosts: Hosts): string {
  if (/^\s*[[{]/u.test(text)) {
    const inner = jsonOf(text)
    if (typeof inner === 'object' && inner !== null) {
      const left = JSON.stringify(redacted(inner, hosts))
      return left === JSON.stringify(inner) ? text : left
    }
  }
  return hosts.without(withoutValues(text))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A field that is private, as sentences and lines of a diff name it, and what they say behind it. */
const toldField = /(?:^|(?<=[\s"'`]))\S*(?:\benv[[./]|annotations[[./]|\b(?:hostname|subdomain)\b)\S*/u
const toldValues: readonly (readonly [RegExp, string])[] = [
  [/^(.*? from ).+?( to ).+?(, and save the value)?$/su, `$1${hidden}$2${hidden}$3`],
  [/^(.*?: ).+?(; it was ).+$/su, `$1${hidden}$2${hidden}`],
  [/^(.*?(?: back to | to |, which was )).+$/su, `$1${hidden}`],
  [/^([:=]\s*).+$/su, `$1${hidden}`],
  [/^(.*?[:=]\s+).+$/su, `$1${hidden}`],
]
/** `{"name": "db_url", "value": "x"}` in a text that is no JSON, its quotes escaped or not. */
const toldEnv =
  /(\bname\\*["']?\s*:\s*\\*["']?)([\w.-]+)(\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*:\s*)(\\+"(?:(?!\\+").)*\\+"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}\]]+)/gu
/** `DB_URL=x`, as a shell has it. */
const assigned = /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=)(?!<redacted>)("[^"]*"|'[^']*'|[^\s,;"']+)/gu
/** `--token X` */
const flagged = /(?<![\w-])(--?[a-z][\w-]*)(\\*["']?\s*[,\s]\s*\\*["']?)(?![-\s<])([^\s"'\\,\]]+)/giu

function withoutValues(text: string): string {
  const field = toldField.exec(text)
  return (field === null ? text : withoutTold(text, field))
    .replace(toldEnv, (all, before: string, name: string, between: string) =>
      isPrivateName(name) ? `${before}${name}${between}${hidden}` : all,
    )
    .replace(assigned, (all, name: string) => (isPrivateName(name.slice(0, -1)) ? name + hidden : all))
    .replace(flagged, (all, flag: string, between: string) =>
      isSecretKey(flag) ? `${flag}${between}${hidden}` : all,
    )
}

/** The field stays, its values do not, however many lines they have. */
function withoutTold(text: string, { 0: found, index }: RegExpExecArray): string {
  const field = found.replace(/[:=,;].*$/su, '')
  if (!isPrivatePath(field)) return text
  const end = index + field.length
  const [before, rest] = [text.slice(0, end), text.slice(end)]
  const [pattern, instead] = toldValues.find(([one]) => one.test(rest)) ?? []
  return pattern === undefined || instead === undefined ? text : before + rest.replace(pattern, instead)
}

/** oc makes names of contexts of addresses and users. */
const contextOf = (context: string): string => (/[/:@]|\..*\./u.test(context) ? hidden : context)

/** Of Kubernetes and its extensions, which name no person and no secret. */
const ownKey = /(?:^|[./])(?:kubevirt|kubernetes|(?:x-)?k8s|kvup|openshift)\.io(?:$|[/"\]])/u
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
  // One argument by its place: of which flag is not said.
  if (/\bargs(?:\[\d+\]|[./]\d+)$/u.test(path)) return true
  const env = /\benv(?:\[(?<name>[^\]]*)\]|[./](?<place>\d+))/u.exec(path)?.groups
  return env !== undefined && isPrivateName(env['name'] ?? '')
}

const isPrivateName = (name: string): boolean => isSecretName(name) || !ownEnv.test(name)

/** `{name: db_url, value: …}` and nothing else is a variable, however its name is written. */
const isPrivateEnv = (fields: Fields): boolean =>
  typeof fields['name'] === 'string' &&
  fields['value'] !== undefined &&
  (Object.keys(fields).length === 2 || /^[A-Z][A-Z0-9_]+$/u.test(fields['name'])) &&
  isPrivateName(fields['name'])
