/** What a verb takes. `words`: how many stand behind it. */
interface Verb {
  words: readonly [least: number, most: number]
  /** With a value behind them. */
  valued?: readonly string[]
  alone?: readonly string[]
}

type Tool = Readonly<Record<string, Verb>>

const many = [1, 9] as const
const [one, two, three] = [[1, 1] as const, [2, 2] as const, [3, 3] as const]

/** openshift/oc, pkg/cli/admin/upgrade; kubernetes/kubectl, pkg/cmd. What kvup prints and no more: a flag that is not in here is looked up before it is added. */
const kubectl: Tool = {
  get: {
    words: many,
    valued: ['-n', '-l', '-o', '-L', '--field-selector', '--sort-by', '--subresource'],
    alone: ['-A', '--show-managed-fields', '--show-labels', '-w'],
  },
  describe: { words: [1, 2], valued: ['-n', '-l'], alone: ['-A'] },
  logs: {
    words: [0, 1],
    valued: ['-n', '-l', '-c', '--tail', '--since'],
    alone: ['--previous', '--prefix', '--all-containers', '--timestamps'],
  },
  patch: { words: two, valued: ['-n', '-p', '--type', '--subresource'] },
  delete: {
    words: many,
    valued: ['-n', '-l', '--field-selector', '--grace-period', '--wait'],
    alone: ['--force'],
  },
  edit: { words: two, valued: ['-n'] },
  wait: { words: many, valued: ['-n', '--for', '--timeout'] },
  exec: { words: many, valued: ['-n', '-c'] },
  apply: { words: [0, 0], valued: ['-n', '-f'], alone: ['--server-side', '--force-conflicts'] },
  replace: { words: [0, 0], valued: ['-f', '--subresource'], alone: ['--force'] },
  create: { words: [0, 9], valued: ['-n', '-f', '--from-literal'] },
  annotate: { words: many, valued: ['-n'], alone: ['--overwrite'] },
  label: { words: many, valued: ['-n'], alone: ['--overwrite', '--all'] },
  cordon: { words: one },
  uncordon: { words: one },
  scale: { words: many, valued: ['-n', '--replicas'] },
  'rollout restart': { words: many, valued: ['-n'] },
  'rollout status': { words: many, valued: ['-n', '--timeout'] },
  'config view': { words: [0, 0], valued: ['--kubeconfig', '--raw'] },
  'config get-contexts': { words: [0, 0] },
  'config use-context': { words: one },
  proxy: { words: [0, 0], valued: ['--port'] },
  debug: { words: one, valued: ['-n', '--image'], alone: ['-it'] },
  'auth can-i': { words: many, valued: ['-n', '--as'] },
  'api-resources': { words: [0, 0], valued: ['--api-group', '-o'] },
  version: { words: [0, 0], valued: ['-o'] },
}

const tools: Readonly<Record<string, Tool>> = {
  kubectl,
  oc: {
    ...kubectl,
    // `channel` without one clears the channel.
    'adm upgrade channel': { words: one, alone: ['--allow-explicit-channel'] },
    'adm upgrade recommend': {
      words: [0, 0],
      valued: ['--version'],
      alone: ['--show-outdated-releases', '--quiet'],
    },
    'adm upgrade': {
      words: [0, 0],
      valued: ['--to'],
      alone: ['--clear', '--include-not-recommended', '--allow-not-recommended'],
    },
    'adm uncordon': { words: one },
  },
  /** kubevirt/kubevirt, pkg/virtctl/vm. */
  virtctl: {
    start: { words: one, valued: ['-n'], alone: ['--paused', '--dry-run'] },
    stop: { words: one, valued: ['-n', '--grace-period'], alone: ['--force', '--dry-run'] },
    restart: { words: one, valued: ['-n', '--grace-period'], alone: ['--force', '--dry-run'] },
    migrate: { words: one, valued: ['-n', '--addedNodeSelector'], alone: ['--dry-run'] },
    'migrate-cancel': { words: one, valued: ['-n'], alone: ['--dry-run'] },
    'evacuate-cancel': { words: two, valued: ['-n'], alone: ['--dry-run'] },
  },
  etcdctl: { 'snapshot save': { words: one } },
  skopeo: { copy: { words: two, alone: ['--all'] }, inspect: { words: one, alone: ['--raw'] } },
  crictl: { pull: { words: one } },
  /** operator-framework/operator-registry, cmd/opm/render. */
  opm: { render: { words: many, valued: ['-o'] } },
  helm: { get: { words: three, valued: ['-n'] } },
}

/** Why a tool would not take this line; undefined: it does, as far as verb, flags and the number of words tell. `words`: the tool first. */
export function refusedBy(words: readonly string[]): string | undefined {
  const [name = '', ...rest] = words
  const tool = tools[name]
  if (tool === undefined) return `no table of ${name}`
  const { flags, plain } = split(rest, tool)
  const verb = Object.keys(tool)
    .filter((path) => `${plain.join(' ')} `.startsWith(`${path} `))
    .toSorted((a, b) => b.length - a.length)[0]
  const takes = verb === undefined ? undefined : tool[verb]
  if (verb === undefined || takes === undefined) return `${name} has no such verb: ${plain.join(' ')}`
  const unknown = flags.find((flag) => ![...(takes.valued ?? []), ...(takes.alone ?? [])].includes(flag))
  if (unknown !== undefined) return `${name} ${verb} has no ${unknown}`
  const count = plain.length - verb.split(' ').length
  const [least, most] = takes.words
  return count < least || count > most
    ? `${name} ${verb} takes ${least} to ${most} words, not ${count}`
    : undefined
}

/** What stands behind `--` is another program's. */
function split(words: readonly string[], tool: Tool): { flags: string[]; plain: string[] } {
  const valued = new Set(Object.values(tool).flatMap((verb) => verb.valued ?? []))
  const flags: string[] = []
  const plain: string[] = []
  for (let i = 0; i < words.length && words[i] !== '--'; i++) {
    const word = words[i] ?? ''
    if (!word.startsWith('-') || word === '-') plain.push(word)
    else {
      const [flag = ''] = word.split('=', 1)
      flags.push(flag)
      if (valued.has(flag) && !word.includes('=')) i++
    }
  }
  return { flags, plain }
}
