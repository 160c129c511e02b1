import { Command, InvalidArgumentError, Option } from 'commander'
import type { ReportFormat } from '../lib/output/printer.ts'
import type { ConnectionFlag } from '../lib/output/command-line.ts'
import { shellWord } from '../lib/kube/shell-line.ts'
import { exitCode } from '../lib/kube/errors.ts'
import type { Context, Run, Wire } from '../context.ts'
import type { DryRun } from '../lib/engine/change.ts'
import type { RunLimits } from '../lib/engine/step.ts'
import { ensureDeadline, parseDeadline, parseDuration } from '../lib/kube/duration.ts'

/** As kubectl's -v. */
function level(text: string): number {
  if (/^\d$/u.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 9.')
}

/** What a flag gathers that may be given again. */
export const list = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** kubectl's names, so that nobody has to learn them again. */
export const connection: readonly Option[] = [
  new Option('--kubeconfig <file>', 'kubeconfig to use instead of KUBECONFIG or ~/.kube/config'),
  new Option('--context <name>', 'context of the kubeconfig'),
  new Option('--cluster <name>', 'cluster of the kubeconfig'),
  new Option('--user <name>', 'user of the kubeconfig'),
  new Option('-n, --namespace <namespace>', 'namespace of VMs; kvup finds the one of KubeVirt itself'),
  new Option('--as <user>', 'impersonate this user'),
  new Option('--as-group <group>', 'impersonate this group (repeatable)').argParser(list),
  new Option('--as-uid <uid>', 'impersonate this uid'),
  new Option('--request-timeout <duration>', 'time limit of one request').default('30s'),
  new Option('-s, --server <url>', 'address of the API server'),
  new Option('--token-file <file>', 'file with a bearer token; kvup rereads it'),
  new Option('--client-certificate <file>', 'client certificate'),
  new Option('--client-key <file>', 'key of the client certificate'),
  new Option('--certificate-authority <file>', 'certificate authority of the API server'),
  new Option('--insecure-skip-tls-verify', 'do not check the certificate of the API server'),
  new Option('--tls-server-name <name>', "name expected in the server's certificate"),
]

export const outputOptions = [
  new Option(
    '-o, --output <format>',
    'table, wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=SPEC, ndjson',
  ).default('table'),
  new Option('-q, --quiet', 'print only verdict and errors; ask nothing').conflicts('verbose'),
  new Option('--log-file <file>', 'also append all output here, with times'),
  new Option('--full', 'leave nothing out of -o html and markdown: passwords, names of hosts'),
  new Option('--no-headers', 'leave out the headings of tables'),
  new Option('--sort-by <jsonpath>', 'sort rows by this field'),
  new Option('--color <when>', 'color output').choices(['auto', 'always', 'never']).default('auto'),
  new Option('--no-color', 'the same as --color=never'),
  new Option('-y, --yes', 'do not ask; risks still need --accept').default(false),
  new Option('--verbose', 'show each step, not only stages'),
  new Option('--no-input', 'ask nothing: end where kvup would ask'),
  new Option('-v, --verbosity <level>', 'print requests to stderr: 6 lines, 7 headers, 8 and 9 bodies')
    .default(0)
    .argParser(level),
]

/** Nobody is sent a token without it. */
export const alertsOption = (asked: string): Option =>
  new Option(
    '--alerts <how>',
    `read firing alerts through the Route of Prometheus, which sends it your token; ${asked}`,
  ).choices(['route'])

/** Flags of the connection that do not say which cluster, nor as whom. */
const aside: ReadonlySet<string> = new Set(['--namespace', '--request-timeout'])
const kvupOnly: ReadonlySet<string> = new Set(['--token-file'])

/** The connection flags of `options` that were typed, whatever environment and config file say. */
export function typedConnection(command: Command, options: readonly Option[]): ConnectionFlag[] {
  let root = command
  while (root.parent) root = root.parent
  return options
    .filter(({ long }) => !aside.has(long ?? ''))
    .filter((option) => root.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => connectionFlag(option, root.getOptionValue(option.attributeName())))
}

function connectionFlag({ long = '', short }: Option, value: unknown): ConnectionFlag {
  const values = Array.isArray(value) ? value : [value]
  return {
    names: [long, ...(short === undefined ? [] : [short])],
    text: values.map((one) => (one === true ? long : `${long} ${shellWord(String(one))}`)).join(' '),
    kubectl: !kvupOnly.has(long),
  }
}

const codes: Readonly<Record<keyof typeof exitCode, string>> = {
  done: 'done, or nothing to do',
  bug: 'a bug',
  usage: 'usage',
  blocked: 'blocked',
  timedOut: 'timed out',
  drifted: 'the plan no longer fits',
  locked: 'locked by another run',
  forbidden: 'unauthorized or forbidden',
  unreachable: 'cluster or file unreachable',
  lost: 'done, but VMs or volumes were lost',
  asked: 'asked for by --exit-code',
  interrupted: 'Ctrl-C',
  terminated: 'SIGTERM or SIGHUP',
}

export interface Manual {
  examples: readonly (readonly [line: string, what: string])[]
  /** Besides done, bug and usage, which every command may end with. */
  codes?: readonly (keyof typeof exitCode)[]
  more?: string
}

/** Of all commands together. */
export const everyCode = Object.keys(exitCode) as (keyof typeof exitCode)[]

/** What the codes of a command that asks the cluster are. */
export const asksCluster = ['blocked', 'forbidden', 'unreachable'] as const

/** The last line of a help text, behind the manual: where the flags are that every command takes, with the formats that this one has besides. */
export const lastLine = (formats: readonly ReportFormat[] = []): string =>
  formats.length > 0
    ? `\nGlobal flags: kvup options; also -o ${formats.join(', ')}\n`
    : '\nConnection and output flags: kvup options\n'

/** The end of a help text: examples that run as they stand, and the exit codes. */
export function manual({ examples, codes: more = [], more: words }: Manual): string {
  const width = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`)
  const shown = Object.entries(exitCode)
    .filter(([name]) => name === 'done' || name === 'usage' || more.some((one) => one === name))
    .map(([name, code]) => `${code} ${codes[name as keyof typeof exitCode]}`)
  return [
    '\nExamples:',
    ...lines,
    ...(words === undefined ? [] : ['', words]),
    '\nExit codes:',
    ...inLines(shown),
  ].join('\n')
}

/** A command that is declared with all its flags, and with the end of its help. */
export class KvupCommand extends Command {
  flags(options: readonly Option[]): this {
    for (const option of options) this.addOption(option)
    return this
  }

  /** Of one that changes something. `limits`: what --timeout is about; `timeout`: its default. */
  changeFlags(limits: string, timeout: string): this {
    return this.flags([acceptOption(), dryRunOption()])
      .option('--timeout <duration>', limits, timeout)
      .option('--take-over <holder>', 'take the lock of this holder')
  }

  manual(told: Manual): this {
    return this.addHelpText('after', manual(told))
  }

  /** What it does is loaded when it runs: help does without. */
  runs<O, A extends (string | string[])[]>(wire: Wire, load: () => Promise<Run<O, A>>): this {
    return this.action(wire<O, A>(async (...given) => (await load())(...given)))
  }
}

/** With semicolons between, indented, as many in a line as a terminal of 80 columns takes. */
function inLines(items: readonly string[]): string[] {
  const lines: string[] = []
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item};` : item
    const last = lines.at(-1)
    if (last !== undefined && last.length + text.length < 79) lines[lines.length - 1] = `${last} ${text}`
    else lines.push(`  ${text}`)
  }
  return lines
}

/** Under which heading a flag stands where a command has many; what is not named is about what is upgraded. */
const headings: Readonly<Record<string, readonly string[]>> = {
  'Safety:': [
    'accept',
    'dry-run',
    'plan',
    'backup',
    'take-over',
    'measure',
    'measure-namespace',
    'measure-selector',
    'until',
    'pause-before',
    'no-pause-updates',
    'leave-paused',
    'migrations',
    'wait-workloads',
    'between',
    'canary',
    'canary-label',
    'exclude',
    'include',
    'max-failures',
    'retries',
    'cancel-running',
    'approve',
    'approve-also',
    'manifest-sha256',
  ],
  'Timing:': [
    'timeout',
    'stalled-after',
    'stable-for',
    'deadline',
    'migrations-timeout',
    'window',
    'pause-between',
    'soak',
    'restart-timeout',
  ],
  'Offline:': ['from', 'releases', 'catalog-file', 'graph-file', 'manifest', 'manifest-base'],
  'Output:': ['exit-code', 'to-file', 'watch', 'help'],
}

/** So many flags are read at a glance without headings. */
const fewFlags = 8

/** `how long it has to stay healthy (30s)`, `order (name|node, default name)`: in as few words as tell it. */
export function flagText(option: Option): string {
  const { description, argChoices, defaultValue, defaultValueDescription } = option
  const value = defaultValueDescription ?? (Array.isArray(defaultValue) ? undefined : defaultValue)
  const isSaid = value !== undefined && value !== false && value !== true && value !== 'none' && value !== 0
  const details = [
    ...(argChoices ? [argChoices.join('|')] : []),
    ...(isSaid ? [`default ${String(value)}`] : []),
  ]
  return details.length > 0 ? `${description} (${details.join(', ')})` : description
}

/** Puts the flags of a command with many of them under headings. */
export function groupFlags(command: Command): void {
  if (command.options.length <= fewFlags) return
  for (const option of command.options) {
    const name = option.long?.slice(2) ?? ''
    const [heading = 'Target:'] = Object.entries(headings).find(([, names]) => names.includes(name)) ?? []
    option.helpGroup(heading)
  }
  // A heading of its own for one flag that everybody knows would be three lines.
  command.addHelpOption(
    new Option('-h, --help', 'show help').helpGroup(command.options.at(-1)?.helpGroupHeading ?? ''),
  )
}

export const fromOption = (): Option =>
  new Option('--from <file>', 'saved cluster: file, must-gather folder, or -')

/** As kubectl has it; what is typed bare has become `server` by now. */
export const dryRunOption = (): Option =>
  new Option('--dry-run <none|client|server>', 'change nothing, show what would').argParser(
    (value: string): DryRun => {
      if (value === 'none' || value === 'client' || value === 'server') return value
      throw new InvalidArgumentError('It takes none, client or server.')
    },
  )

/** Of every run that can be measured: that it is, and what, and where. */
export const measureFlags = (): Option[] => [
  new Option('--measure', 'measure availability meanwhile'),
  new Option('--measure-namespace <name>', 'where VMs are tried as a dry run'),
  new Option('--measure-selector <labels>', 'which VMIs are watched (default all)'),
]

/** For who watches nothing: a pipeline fails instead of waiting for its timeout. */
export const stalledOption = (): Option =>
  new Option('--stalled-after <duration>', 'end (exit 4) once it is stalled for so long')

/** As commander hands them over. */
interface LimitOptions {
  timeout: string
  stalledAfter?: string
  deadline?: string
  until?: string
  pauseBefore: readonly string[]
}

/**
 * Before the look at the cluster: a time of day is meant from when it was typed, not from when the look is over. It is the cluster's, which has to
 * have answered; what is no time at all is refused before. Throws `usage`.
 */
export async function limitsBefore(
  cx: Context,
  { timeout, stalledAfter, deadline, until, pauseBefore }: LimitOptions,
): Promise<RunLimits> {
  const timeoutMs = parseDuration(timeout)
  const stalledMs = stalledAfter === undefined ? undefined : parseDuration(stalledAfter)
  const by = deadline === undefined ? {} : { deadline: await deadlineOf(cx, deadline) }
  return { timeoutMs, stalledMs, ...by, until, pauseBefore }
}

async function deadlineOf(cx: Context, text: string): Promise<Date> {
  ensureDeadline(text)
  await (await cx.cluster()).reader.version()
  return parseDeadline(text, cx.clock.now())
}

/** The same words in every command that has findings. */
const acceptOption = (): Option => accepting('accept risks by ID, with commas')

/** Where a plan or a report keeps why a risk was taken. */
export const acceptWithReason = (): Option => accepting('accept risks: ID, or ID=reason')

const accepting = (help: string): Option =>
  new Option('--accept <id>', help).argParser(acceptedWords).default([], 'none')

/** What `--accept` takes, each time that it is given: names with commas between them. A reason runs to the end, commas and all. */
export function acceptedWords(value: string, before: readonly string[]): readonly string[] {
  const at = value.indexOf('=')
  const names = (at < 0 ? value : value.slice(0, at)).split(',').map((name) => name.trim())
  const words = names.map((name, i) => (at >= 0 && i === names.length - 1 ? name + value.slice(at) : name))
  return [...before, ...words.filter((word) => word !== '')]
}
