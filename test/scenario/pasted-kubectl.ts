import type { Cluster, Where } from '../../src/lib/kube/cluster.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { groupOf, type Kind, type KubeObject } from '../../src/lib/kube/object.ts'
import { InstallPlans } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { parseTemplate } from '../../src/lib/output/formats/jsonpath.ts'
import type { Store } from '../../src/simulator/api/store.ts'
import { shellWords } from './shell-words.ts'

/** Where a line is pasted; with the writer of a dry run nothing is changed. */
interface Place {
  cluster: Cluster
  store: Store
}

interface Parsed {
  words: string[]
  flags: Map<string, string>
}

const withValue = new Set([
  '-n',
  '-l',
  '-o',
  '-c',
  '-p',
  '-L',
  '--tail',
  '--type',
  '--field-selector',
  '--sort-by',
  '--subresource',
])
const without = new Set([
  '-A',
  '--previous',
  '--show-managed-fields',
  '--all-containers',
  '--prefix',
  '--show-labels',
])
const outputs = /^(wide|yaml|json|name|jsonpath=.+|custom-columns=.+)$/

/**
 * Does what a pasted kubectl line would do, by the Reader, and gives what it would show. Throws where kubectl would fail or show nothing:
 * an unknown verb, flag or resource, an object that is not there, an empty list, an empty log.
 */
export async function pasteKubectl(line: string, place: Place): Promise<string> {
  const parsed = parse(shellWords(line))
  const [, verb = ''] = parsed.words
  const act = verbs[verb]
  if (!act) throw new Error(`kubectl has no such verb here: ${line}`)
  const shown = await act(parsed, place)
  if (shown.trim() === '') throw new Error(`shows nothing: ${line}`)
  return shown
}

const verbs: Record<string, (parsed: Parsed, place: Place) => Promise<string>> = {
  logs,
  describe,
  get,
  delete: remove,
  patch,
  annotate,
}

function parse([tool = '', ...rest]: readonly string[]): Parsed {
  if (tool !== 'kubectl') throw new Error(`not kubectl: ${tool}`)
  const words = [tool]
  const flags = new Map<string, string>()
  for (let i = 0; i < rest.length; i++) {
    const [name, value] = split(rest[i] ?? '')
    if (!name.startsWith('-')) words.push(rest[i] ?? '')
    else if (without.has(name) && value === undefined) flags.set(name, 'true')
    else if (withValue.has(name)) flags.set(name, value ?? rest[++i] ?? missing(name))
    else throw new Error(`kubectl has no such flag here: ${rest[i]}`)
  }
  return { words, flags }
}

function split(word: string): [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

function missing(flag: string): never {
  throw new Error(`${flag} needs a value`)
}

async function logs({ words, flags }: Parsed, { cluster: { reader } }: Place): Promise<string> {
  const namespace = flags.get('-n') ?? 'default'
  const labels = flags.get('-l')
  const pods =
    labels === undefined
      ? [{ metadata: { name: words[2] ?? '', namespace } }]
      : await reader.list(Pods, { namespace, labels })
  const container = flags.get('-c')
  const tail = flags.get('--tail')
  const texts = pods.map(({ metadata }) =>
    reader.log(metadata, {
      ...(container !== undefined && { container }),
      ...(flags.has('--previous') && { previous: true }),
      ...(tail !== undefined && { tailLines: Number(tail) }),
    }),
  )
  return (await Promise.all(texts)).join('')
}

async function describe({ words: [, , resource = '', name], flags }: Parsed, place: Place): Promise<string> {
  const kind = kindOf(resource, place.store)
  if (name !== undefined) return JSON.stringify(await one(kind, name, { flags, place }))
  const all = await place.cluster.reader.list(kind, whereOf(kind, flags))
  return all.map((each) => JSON.stringify(each)).join('\n')
}

async function get({ words: [, , resource = '', name], flags }: Parsed, place: Place): Promise<string> {
  const output = flags.get('-o') ?? 'wide'
  if (!outputs.test(output)) throw new Error(`kubectl has no such output: ${output}`)
  const found: KubeObject[] = []
  for (const each of resource.split(',')) {
    const kind = kindOf(each, place.store)
    if (name !== undefined) found.push(await one(kind, name, { flags, place }))
    else found.push(...(await place.cluster.reader.list(kind, whereOf(kind, flags))))
  }
  // An empty List is written, and nothing for people.
  if (found.length === 0 && name === undefined && /^(?:yaml|json)$/u.test(output)) return '{"items":[]}'
  if (found.length === 0) return ''
  return output.startsWith('jsonpath=')
    ? atPath(found[0], output.slice('jsonpath='.length))
    : JSON.stringify(found)
}

/** InstallPlans alone: OLM makes another one. */
async function remove(
  { words: [, , resource = '', name = ''], flags }: Parsed,
  place: Place,
): Promise<string> {
  if (!/^installplans?$/.test(resource)) throw new Error(`kubectl has no such verb here: delete ${resource}`)
  const { metadata } = await one(kindOf(resource, place.store), name, { flags, place })
  await place.cluster.writer.delete(InstallPlans, metadata)
  return `installplan "${name}" deleted`
}

/** By a merge or by operations; of the status where it is named as the subresource. */
async function patch(
  { words: [, , resource = '', name = ''], flags }: Parsed,
  place: Place,
): Promise<string> {
  const kind = kindOf(resource, place.store)
  const { metadata } = await one(kind, name, { flags, place })
  const body = JSON.parse(flags.get('-p') ?? missing('-p')) as never
  const on = flags.get('--subresource')
  if (on !== undefined && on !== 'status') throw new Error(`kubectl patches no subresource ${on} here`)
  const { writer } = place.cluster
  if (flags.get('--type') === 'merge') await writer.mergePatch(kind, metadata, body, on)
  else if (flags.get('--type') === 'json') await writer.jsonPatch(kind, metadata, body, on)
  else throw new Error('kubectl patches custom resources by --type merge or json alone')
  return `${kind.plural}/${name} patched`
}

/** `KEY=VALUE` sets, `KEY-` takes away. */
async function annotate(
  { words: [, , resource = '', name = '', ...changes], flags }: Parsed,
  place: Place,
): Promise<string> {
  const kind = kindOf(resource, place.store)
  const { metadata } = await one(kind, name, { flags, place })
  if (changes.length === 0) throw new Error('kubectl annotates with KEY=VALUE or KEY-')
  const annotations = Object.fromEntries(
    changes.map((change) => {
      const [key = '', value] = change.endsWith('-') ? [change.slice(0, -1), null] : change.split('=', 2)
      return [key, value ?? null]
    }),
  )
  await place.cluster.writer.mergePatch(kind, metadata, { metadata: { annotations } })
  return `${kind.plural}/${name} annotated`
}

async function one(
  kind: Kind,
  name: string,
  { flags, place }: { flags: Parsed['flags']; place: Place },
): Promise<KubeObject> {
  const { namespace } = whereOf(kind, flags)
  const found = await place.cluster.reader.get(kind, { name, namespace })
  if (found.is !== 'object') throw new Error(`kubectl: ${kind.plural} "${name}" not found`)
  return found.object
}

function whereOf(kind: Kind, flags: Parsed['flags']): Where {
  const everywhere = !kind.namespaced || flags.has('-A')
  const [labels, fields] = [flags.get('-l'), flags.get('--field-selector')]
  return {
    ...(everywhere ? {} : { namespace: flags.get('-n') ?? 'default' }),
    ...(labels !== undefined && { labels }),
    ...(fields !== undefined && { fields }),
  }
}

function kindOf(word: string, store: Store): Kind {
  const [short = '', ...group] = word.split('.')
  const found = store.kinds
    .all()
    .filter((kind) => group.length === 0 || groupOf(kind) === group.join('.'))
    .find(({ plural, singular, shortNames }) => [plural, singular, ...shortNames].includes(short))
  if (!found) throw new Error(`the server does not have a resource type "${word}"`)
  return found
}

/** Only fields: `{.status.storedVersions}`. */
function atPath(object: unknown, template: string): string {
  const [node] = parseTemplate(template)
  if (node?.is !== 'path') throw new Error(`no path: ${template}`)
  let value = object
  for (const step of node.path) {
    if (step.is !== 'field') throw new Error(`more than fields: ${template}`)
    value = (value as Record<string, unknown> | undefined)?.[step.name]
  }
  return value === undefined ? '' : JSON.stringify(value)
}
