import { changedWhereVisible, hidden, isSecretName } from '../../lib/kube/http/secret-text.ts'
import { isCommand } from '../../lib/kube/shell-line.ts'
import { redactBody } from '../../lib/kube/http/trace.ts'
import { parseJson } from '../../lib/kube/object.ts'
import { type Fields, fieldsOf, type ReportSource, textOf } from '../../lib/output/report/fields.ts'
import { hasStandIn, hostKey, Hosts } from './host-names.ts'

/**
 * The same without what a page that is forwarded must not have: credentials, values of environment variables, annotations of people, host names and addresses. The same host is
 * the same stand-in everywhere.
 */
export function redactedSource(
  { document, events }: ReportSource,
  names: 'hidden' | 'kept' = 'hidden',
): ReportSource {
  // Both at once: a host that is told in the document stands in the texts of the events.
  const bare = JSON.parse(redactBody(JSON.stringify([document, ...events]), '')) as Fields[]
  const hosts = names === 'kept' ? asTheyAre : new Hosts(bare)
  const [first, ...rest] = bare.map((one) => fieldsOf(redacted(one, hosts)))
  return { document: { ...first, kind: document.kind }, events: rest }
}

type Named = Pick<Hosts, 'without' | 'standIn'>

/** For a review: which registry and which cluster is meant has to be read. */
const asTheyAre: Named = { without: (text) => text, standIn: (text) => text }

/** What is typed with a stand-in in it means something else. */
const canBeTyped = (before: unknown, after: unknown): boolean =>
  before === after || typeof before !== 'string' || !isCommand(before) || !hasStandIn(String(after))

function redactedIn(key: string, value: unknown, hosts: Named): unknown {
  if (!Array.isArray(value) || !/^(?:next|remedy|undo|back)$/u.test(key)) return redacted(value, hosts)
  return value.flatMap((line: unknown) => {
    const left = redacted(line, hosts)
    return canBeTyped(line, left) ? [left] : []
  })
}

function redacted(value: unknown, hosts: Named): unknown {
  if (typeof value === 'string') return redactedText(value, hosts)
  if (Array.isArray(value)) return value.map((one) => redacted(one, hosts))
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Fields
  const path = textOf(fields['path']) ?? ''
  const isHidden = isPrivatePath(path) || isPrivateEnv(fields)
  return Object.fromEntries(
    Object.entries(fields).map(([key, one]) => {
      if (key === 'annotations') return [key, redactedNotes(one, hosts)]
      if (key === 'context' && typeof one === 'string') return [key, hosts.without(contextOf(one))]
      if (hostKey.test(key) && typeof one === 'string') return [key, hosts.standIn(one)]
      if (key === 'env') return [key, redactedEnv(one, hosts)]
      if (key === 'leaves') return [key, redactedLeaves(one, hosts)]
      const isValue = key === 'from' || key === 'to' || key === 'value' || key === 'was'
      if (isValue && isEnvPath(path)) return [key, redactedEnv(one, hosts)]
      return [hosts.without(key), isHidden && isValue ? hidden : redactedIn(key, one, hosts)]
    }),
  )
}

/** Variables of a program: a list, a map, one of them, or any of these as a text. */
function redactedEnv(env: unknown, hosts: Named): unknown {
  if (typeof env === 'string') {
    const inner = parseJson(env)
    return typeof inner === 'object' && inner !== null ? JSON.stringify(redactedEnv(inner, hosts)) : hidden
  }
  if (Array.isArray(env))
    return env.map((one) => (typeof one === 'string' ? withoutValue(one) : redactedEnv(one, hosts)))
  if (typeof env !== 'object' || env === null) return env
  const { name } = env as Fields
  return Object.fromEntries(
    Object.entries(env).map(([key, one]) => {
      if (typeof name === 'string' && key === 'value')
        return [key, isPrivateName(name) ? hidden : redacted(one, hosts)]
      const isValue = typeof name !== 'string' && typeof one !== 'object' && isPrivateName(key)
      return [hosts.without(key), isValue ? hidden : redacted(one, hosts)]
    }),
  )
}

const withoutValue = (variable: string): string => {
  const name = variable.split('=', 1)[0] ?? ''
  return isPrivateName(name) && name !== variable ? `${name}=${hidden}` : variable
}

/** A patch of customizeComponents is JSON in a text; other texts tell of fields, flags and variables in words. */
function redactedText(text: string, hosts: Named): string {
  if (/^\s*[[{]/u.test(text)) {
    const inner = parseJson(text)
    if (typeof inner === 'object' && inner !== null) {
      const left = JSON.stringify(redacted(inner, hosts))
      return left === JSON.stringify(inner) ? text : left
    }
  }
  return changedWhereVisible(text, (visible) => hosts.without(withoutValues(visible)))
}

/** A field that is private, as sentences and lines of a diff name it, and what they say behind it. */
const privateWord = /\benv[[./]|annotations[[./]|\b(?:hostname|subdomain)\b/u
/** As long as the name of a field may be, before the word that makes it private and behind it. */
const widest = 400

function toldField(text: string): { field: string; index: number } | undefined {
  const at = text.search(privateWord)
  if (at === -1) return undefined
  const before = /\S*$/u.exec(text.slice(Math.max(0, at - widest), at))?.[0] ?? ''
  const behind = /^\S*/u.exec(text.slice(at, at + widest))?.[0] ?? ''
  return { field: (before + behind).replace(/[:=,;].*$/su, ''), index: at - before.length }
}
const toldValues: readonly (readonly [RegExp, string])[] = [
  [/^(.*? from ).+?( to ).+?(, and save the value)?$/su, `$1${hidden}$2${hidden}$3`],
  [/^(.*?: ).+?(; it was ).+$/su, `$1${hidden}$2${hidden}`],
  [/^(.*?(?: back to | to |, which was )).+$/su, `$1${hidden}`],
  [/^([:=]\s*).+$/su, `$1${hidden}`],
  [/^(.*?[:=]\s+).+$/su, `$1${hidden}`],
]
/** `{"name": "db_url", "value": "x"}` in a text that is no JSON, its quotes escaped or not. */
const toldEnv =
  /(\bname\\{0,8}["']?\s{0,8}:\s{0,8}\\{0,8}["']?)([\w.-]{1,253})(\\{0,8}["']?(?:\s|\\{1,8}[nrt]){0,40},?\s{0,40}\\{0,8}["']?value\\{0,8}["']?\s{0,8}:\s{0,8})(\\{1,8}"(?:(?!\\{1,8}").){0,8192}\\{1,8}"|"(?:[^"\\]|\\.){0,8192}"|'[^']{0,8192}'|[^\s,}\]]{1,8192})/gu
/** `DB_URL=x`, as a shell has it. */
const assigned =
  /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=)(?!<redacted>)("[^"]{0,8192}"|'[^']{0,8192}'|[^\s,;"']+)/gu
/** Longer sentences about a field are not read: what stands behind the field is left out. */
const longest = 4096

function withoutValues(text: string): string {
  const field = toldField(text)
  return (field === undefined ? text : withoutTold(text, field))
    .replace(toldEnv, (all, before: string, name: string, between: string) =>
      isPrivateName(name) ? `${before}${name}${between}${hidden}` : all,
    )
    .replace(assigned, (all, name: string) => (isPrivateName(name.slice(0, -1)) ? name + hidden : all))
}

/** The field stays, its values do not, however many lines they have. */
function withoutTold(text: string, { field, index }: { field: string; index: number }): string {
  if (!isPrivatePath(field)) return text
  const end = index + field.length
  const [before, rest] = [text.slice(0, end), text.slice(end)]
  if (rest.length > longest) return `${before} ${hidden}`
  const [pattern, instead] = toldValues.find(([one]) => one.test(rest)) ?? []
  return pattern === undefined || instead === undefined ? text : before + rest.replace(pattern, instead)
}

/** oc makes names of contexts of addresses and users. */
const contextOf = (context: string): string => (/[/:@]|\..*\./u.test(context) ? hidden : context)

/** Of Kubernetes and its extensions, which name no person and no secret. */
const ownKey = /(?:^|[./])(?:kubevirt|kubernetes|(?:x-)?k8s|kvup|openshift)\.io(?:$|[/"\]])/u
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

const redactedNotes = (notes: unknown, hosts: Named): unknown =>
  Object.fromEntries(
    Object.entries(fieldsOf(notes)).map(([key, one]) =>
      ownKey.test(key) && key !== lastApplied ? [key, redacted(one, hosts)] : [hosts.without(key), hidden],
    ),
  )

const redactedLeaves = (leaves: unknown, hosts: Named): unknown =>
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
  const env = /\benv(?:\[(?<name>[^\]]{0,300})\]|[./](?<member>[\w-]+))/u.exec(path)?.groups
  return env !== undefined && isPrivateName(env['name'] ?? env['member'] ?? '')
}

const isEnvPath = (path: string): boolean => /(?:^|[./\]])env(?:\[\]|[./]-)?$/u.test(path)

const isPrivateName = (name: string): boolean => isSecretName(name) || !ownEnv.test(name)

/** `{name: db_url, value: …}` and nothing else is a variable, however its name is written. */
const isPrivateEnv = (fields: Fields): boolean =>
  typeof fields['name'] === 'string' &&
  fields['value'] !== undefined &&
  (Object.keys(fields).length === 2 || /^[A-Z][A-Z0-9_]+$/u.test(fields['name'])) &&
  isPrivateName(fields['name'])
