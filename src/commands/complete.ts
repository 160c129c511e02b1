import { Argument, Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import {
  type Candidate,
  type CommandTree,
  complete,
  completionLines,
  type OptionSpec,
  tellable,
  typedOptions,
  type Wanted,
  wanted,
} from '../lib/output/completion/completion.ts'
import type { Document, View } from '../lib/output/printer.ts'
import { formatNames } from '../lib/output/formats/output-format.ts'
import type { Source } from './complete/asked.ts'
import { entryOf } from './entries.ts'
import { isDoneWithin } from '../lib/kube/interruption.ts'

export interface Candidates extends Document {
  kind: 'Candidates'
  candidates: readonly Candidate[]
  files: boolean
}

export interface CompleteOptions {
  unquoted?: boolean
}

/** What the completion scripts and kubectl ask: `kvup __complete -- WORDS…`. Commands that are not among the words need no more than their names. */
export function completeCommand(wire: Wire): Command {
  const command = new Command('__complete')
    .addArgument(new Argument('[words...]', 'the words so far, the last of them to be completed'))
    .addOption(new Option('--unquoted', 'only what can be put on a line as it is'))
    .helpOption(false)
  const answer = wire((cx: Context, options: CompleteOptions, ...typed: [string[] | string]) =>
    candidates(cx, options, { tree: treeOf(rootOf(command)), words: typed.flat() }),
  )
  return command.action((...all: unknown[]) => {
    // What the scripts read has one format, whatever KVUP_OUTPUT or the config file say.
    rootOf(command).setOptionValueWithSource('output', 'table', 'cli')
    return answer(...all)
  })
}

/** Of asking a kubeconfig or a cluster, ms: a person waits, and the program has to start and end as well. */
const patience = 500

interface Line {
  tree: CommandTree
  words: readonly string[]
}

/** Silent on failure: what cannot be asked is completed by what is known without. */
export async function candidates(
  cx: Context,
  { unquoted = false }: CompleteOptions,
  line: Line,
): Promise<void> {
  const asked = wanted(line.tree, line.words)
  const values = asked && ((await live(cx, asked, line)) ?? (await staticValues(asked)))
  const found = tellable(complete(line.tree, line.words, values), unquoted)
  cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Candidates', ...found }, candidatesView)
}

/** Undefined where nobody could be asked, or nothing came in time. */
async function live(cx: Context, asked: Wanted, { tree, words }: Line): Promise<Candidate[] | undefined> {
  if (!isLive(asked)) return undefined
  const offered: Candidate[] = []
  const asking = liveValues({ ...asked, cx, options: typedOptions(tree, words) }, (one) => offered.push(one))
  const isDone = await isDoneWithin(cx.clock, patience, asking)
  return isDone || offered.length > 0 ? [...offered] : undefined
}

const rootOf = (command: Command) => command.parent ?? command

const candidatesView: View<Candidates> = {
  text: (found) => completionLines(found),
  names: (found) => found.candidates.map(({ value }) => value),
}

/** commander's commands as plain data; hidden commands and options are left out. */
export function treeOf(command: Command): CommandTree {
  const subcommands = command.createHelp().visibleCommands(command).map(treeOf)
  return {
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
    arguments: command.registeredArguments.map(({ argChoices }) => argChoices ?? []),
    ...(command.registeredArguments.at(-1)?.variadic && { repeats: true }),
    subcommands: subcommands.map((one) => (one.name === 'help' ? helpOn(one, subcommands) : one)),
  }
}

function optionsOf(command: Command): OptionSpec[] {
  const own = command.createHelp().visibleOptions(command).map(optionOf)
  const { formats: more } = entryOf(command) ?? {}
  return more ? [...own, outputOf(command, [...formatNames, ...more])] : own
}

/** `-o` where there are more formats than elsewhere: what a command has itself stands before what is above it. */
function outputOf(command: Command, values: readonly string[]): OptionSpec {
  let root = command
  while (root.parent) root = root.parent
  const output = root.options.find(({ long }) => long === '--output')
  return { flags: output?.flags ?? '--output <format>', description: output?.description ?? '', values }
}

function optionOf({ flags, description, argChoices, long }: Option): OptionSpec {
  const values = long === '--output' ? formatNames : argChoices
  return { flags, description, ...(values && { values }) }
}

/** `help COMMAND`, of the commands beside it. */
function helpOn(help: CommandTree, beside: readonly CommandTree[]): CommandTree {
  return { ...help, arguments: [beside.map(({ name }) => name)] }
}

type Load = () => Promise<Source>

const inKubeconfig =
  (list: 'contexts' | 'clusters' | 'users'): Load =>
  async () =>
    (await import('./complete/object-names.ts')).namesIn(list)
const versions: Load = async () => (await import('./complete/object-names.ts')).reachableVersions
const waveIds: Load = async () => (await import('./complete/wave-ids.ts')).waveIds
const waveValues: Load = async () => (await import('./complete/wave-ids.ts')).waveValues
const stepIds: Load = async () => (await import('./complete/step-ids.ts')).stepIds

/** By command of an argument, by option, or by command and option where it means something of its own there. */
const sources: Readonly<Record<string, Load>> = {
  '--context': inKubeconfig('contexts'),
  '--cluster': inKubeconfig('clusters'),
  '--user': inKubeconfig('users'),
  '--namespace': async () => (await import('./complete/object-names.ts')).vmNamespaces,
  '--namespace-of-kubevirt': async () => (await import('./complete/object-names.ts')).kubevirtNamespaces,
  '--to': versions,
  '--for': async () => (await import('./complete/object-names.ts')).versionConditions,
  'upgrade --until': stepIds,
  'upgrade --pause-before': stepIds,
  'update --until': waveIds,
  'update --pause-before': waveIds,
  'update --waves': waveValues,
  'restart --until': waveIds,
  'restart --pause-before': waveIds,
  'restart --waves': waveValues,
  '--exclude': async () => (await import('./complete/object-names.ts')).vmPlaces,
  '--node': async () => (await import('./complete/object-names.ts')).nodeNames,
  history: async () => (await import('./complete/object-names.ts')).runNumbers,
  unblock: async () => (await import('./complete/object-names.ts')).vmNames,
}

/** What this kubeconfig or this cluster knows; undefined where neither is asked. Rejects with whatever goes wrong there. */
export const liveValues: Source = async (asked, offer) => {
  const load = loadFor(asked)
  return load && (await load())(asked, offer)
}

export function isLive(asked: { command: string; option?: string }): boolean {
  return loadFor(asked) !== undefined
}

function loadFor({ command, option }: { command: string; option?: string }): Load | undefined {
  if (option === undefined) return sources[command]
  return sources[`${command} ${option}`] ?? sources[option]
}

type StaticSource = () => Promise<readonly Candidate[]>

/** Each is loaded only when it is asked for: completion is to be fast. By option, by command, or by both. */
const staticSources: Readonly<Record<string, StaticSource>> = {
  '--to': async () => (await latestPatches()).slice(0, newest),
  '--accept': acceptable,
  explain: explainable,
  '--scenario': scenarioNames,
  '--for': waitConditions,
  '--dry-run': async () => dryRuns,
  '--verbosity': async () => verbosities,
  '--wave-by': async () => waveBys,
  'set --methods': async () => methods,
  'releases --since': latestPatches,
  'releases --until': latestPatches,
}

/** What may stand there on any cluster; undefined where nothing is known of it. */
export async function staticValues({ command, option }: Wanted): Promise<readonly Candidate[] | undefined> {
  const source = staticSources[`${command} ${option}`] ?? staticSources[option ?? command]
  return source?.()
}

const plain = (value: string): Candidate => ({ value, description: '' })

/** Minors that somebody may still go to. */
const newest = 6

async function latestPatches(): Promise<Candidate[]> {
  const [{ knownReleases }, { latestPatch }, { compareVersions }] = await Promise.all([
    import('../lib/releases/releases.ts'),
    import('../lib/releases/releases.ts'),
    import('../lib/releases/release-versions.ts'),
  ])
  return Object.keys(knownReleases.minors)
    .map((minor) => latestPatch(minor))
    .filter((version) => version !== undefined)
    .toSorted((a, b) => compareVersions(b, a))
    .map(({ text }) => ({ value: text, description: 'the latest patch of its minor' }))
}

async function acceptable(): Promise<Candidate[]> {
  const { explanations } = await import('../lib/checks/explanations.ts')
  const others = new Set(explanations.filter(({ kind }) => kind !== 'finding').map(({ id }) => id))
  return (await explainedIds()).filter(({ value }) => !others.has(value))
}

async function explainedIds(): Promise<Candidate[]> {
  const [{ explanations }, { knownReleases }] = await Promise.all([
    import('../lib/checks/explanations.ts'),
    import('../lib/releases/releases.ts'),
  ])
  return [...explanations, ...knownReleases.knownBad].map(({ id }) => plain(id))
}

async function explainable(): Promise<Candidate[]> {
  const { knownMessages } = await import('../lib/kubevirt/diagnosis/known-messages.ts')
  return [...(await explainedIds()), ...knownMessages.map(({ id }) => plain(id))]
}

async function scenarioNames(): Promise<readonly Candidate[]> {
  return (await import('./demo/scenario-names.ts')).scenarioNames()
}

async function waitConditions(): Promise<Candidate[]> {
  return (await import('../lib/status/wait-condition.ts')).waitConditions.map(plain)
}

const dryRuns: readonly Candidate[] = [
  { value: 'none', description: 'change what has to be changed' },
  { value: 'client', description: 'show what would change, send no write' },
  { value: 'server', description: 'show what would change, asked of the API server' },
]

const waveBys: readonly Candidate[] = [
  { value: 'label=', description: 'by the values of a label' },
  { value: 'namespace', description: 'by namespace' },
  { value: 'node', description: 'by the node on which they run' },
]

const methods: readonly Candidate[] = [
  { value: 'LiveMigrate', description: 'VMs that can be migrated are' },
  { value: 'LiveMigrate,Evict', description: 'the others are shut down' },
  { value: 'Evict', description: 'VMs are shut down, or migrated where their evictionStrategy says so' },
]

const verbosities: readonly Candidate[] = [
  { value: '6', description: 'requests' },
  { value: '7', description: 'requests with their headers' },
  { value: '8', description: 'requests with bodies' },
]
