import type { Context } from '../../context.ts'
import type { Column, Document, View } from '../../lib/output/printer.ts'
import { table } from '../../lib/output/table.ts'
import { keepServed, type LaidDown, parseSpeed } from './served-cluster.ts'
import { serveSimulator } from '../../simulator/api/http-server.ts'
import { namespaceOf } from '../../simulator/cluster-shape.ts'
import { servedCatalog } from '../../simulator/olm/catalog-content.ts'
import { servedGraph } from '../../simulator/openshift/cluster-updates.ts'
import { scaledClock, SteadyClock } from '../../simulator/simulated-clock.ts'
import { type Scenario, scenarioNamed, scenarios } from '../../simulator/scenarios.ts'
import { startScenario } from '../../simulator/simulated-cluster.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { openCluster } from '../../lib/kube/http/http-cluster.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { eusRunCommand } from '../eus.ts'
import { upgradeCommand } from '../upgrade.ts'
import { runInside, type Typed } from '../run-inside.ts'
import { updateCommand } from '../workloads/update.ts'

export interface DemoOptions {
  scenario: string
  speed?: string
  serve?: boolean
}

/** The main job on a simulated cluster: over HTTP, and with everything real but the cluster. */
export async function demo(cx: Context, options: DemoOptions): Promise<ExitCode> {
  if (options.scenario === 'list') return listScenarios(cx)
  const scenario = chosen(options.scenario)
  const speed = speedOf(options, scenario)
  const clock = options.serve ? scaledClock(cx.clock, speed) : new SteadyClock(cx.clock, speed)
  // A served cluster is one of its own: not even the same scenario has the same uids twice.
  const seed = options.serve ? { seed: cx.clock.now().getTime() } : {}
  const cluster = await startScenario(scenario, { clock, ...seed })
  const server = await serveSimulator(cluster.store)
  try {
    const manifest = 'upgrade' in scenario ? manifestText(cluster.operatorManifest(scenario.upgrade.to)) : ''
    if (options.serve) {
      const files = { ...filesOf(scenario), ...manifestFile(scenario, manifest) }
      return await keepServing(cx, server.kubeconfig([], { speed, context: scenario.name }), {
        scenario,
        speed,
        files,
      })
    }
    const files = filesOf(scenario)
    const opened = await openServed(cx, server.kubeconfig(), clock)
    return await playScenario(cx, scenario, { clock, speed, cluster: opened, manifest, files })
  } finally {
    await server.close()
    await cluster.stop()
  }
}

function chosen(name: string): Scenario {
  const scenario = scenarioNamed(name)
  if (scenario) return scenario
  throw usageError('no-such-scenario', `there is no scenario ${JSON.stringify(name)}`, {
    remedy: `kvup demo --scenario NAME, with one of ${scenarios.map((known) => known.name).join(', ')}`,
  })
}

interface ScenarioList extends Document {
  kind: 'DemoScenarios'
  items: readonly { name: string; title: string }[]
}

function listScenarios({ printer }: Context): ExitCode {
  const items = scenarios.map(({ name, title }) => ({ name, title }))
  printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'DemoScenarios', items }, listView)
  return exitCode.done
}

const columns: readonly Column<ScenarioList['items'][number]>[] = [
  { name: 'NAME', cell: ({ name }) => name },
  { name: 'SHOWS', holds: 'text', cell: ({ title }) => title },
]

const listView: View<ScenarioList> = {
  text: ({ items }, paint, size) => table(columns, items, { ...size, paint }),
  names: ({ items }) => items.map(({ name }) => `scenario/${name}`),
}

/** A served cluster is looked at from outside: kvup reads in the kubeconfig how fast it is, to kubectl the times of a fast one lie in the future. */
const speedOf = ({ speed, serve }: DemoOptions, scenario: Scenario): number =>
  parseSpeed(speed, serve ? 1 : (scenario.speed ?? 10))

/** The update graph of its platform, as it is downloaded from the update service, and the whole catalog of its operator. */
export function filesOf({ cluster: { openshift, olm } }: Pick<Scenario, 'cluster'>): Record<string, string> {
  return {
    ...(openshift && { 'graph.json': servedGraph(openshift) }),
    ...(olm && { 'catalog.yaml': servedCatalog(olm, undefined) }),
  }
}

/** A cluster that is looked at from outside takes it from where it lies: there may be no way to the release. */
function manifestFile(scenario: Scenario, manifest: string): Record<string, string> {
  const isApplied = 'upgrade' in scenario && scenario.upgrade.method === 'operator-manifest'
  return isApplied ? { 'kubevirt-operator.yaml': manifest } : {}
}

/** JSON is YAML. */
export function manifestText(objects: readonly object[]): string {
  return objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('')
}

/** Until Ctrl-C, which is how it ends well. */
async function keepServing(
  cx: Context,
  kubeconfig: string,
  { scenario, speed, files }: { scenario: Scenario; speed: number; files: Record<string, string> },
): Promise<ExitCode> {
  const namespace = namespaceOf(scenario.cluster)
  return keepServed(cx, { kubeconfig, files, speed, namespace, first: (laid) => firstLine(scenario, laid) })
}

/** As a release names it: what a scenario is given on stdin. */
const manifestName = 'kubevirt-operator.yaml'

/** By the names of the files that a demo lays down. */
const flagsOf: Readonly<Record<string, string>> = {
  'graph.json': '--graph-file',
  'catalog.yaml': '--catalog-file',
  [manifestName]: '--manifest',
}

/** What to begin with on a served demo: it asks or only reads, and needs nothing but what was laid down. */
export function firstLine(scenario: Scenario, laid: LaidDown): string {
  if ('update' in scenario) return 'kvup workloads outdated'
  const files = [...laid].flatMap(([name, file]) => [flagsOf[name] ?? '', shellWord(file)])
  if ('typed' in scenario) {
    const { command, args } = scenario.typed
    const words = command === 'eus run' ? ['eus plan', ...files] : [command, ...args.map(shellWord)]
    return ['kvup', ...words].join(' ')
  }
  const { to, method, flags = [] } = scenario.upgrade
  const by = method === 'operator-manifest' ? files : ['--method', method]
  return ['kvup upgrade --to', to, ...by, ...flags.map(shellWord)].join(' ')
}

/** A simulated cluster to play a scenario on. */
export interface Stage {
  clock: Clock
  /** How many times as fast as the context's clock that one runs. */
  speed: number
  cluster: Cluster
  /** The release's kubevirt-operator.yaml. */
  manifest: string
  /** Texts that lie beside the person who types, by the names of their files. */
  files: Readonly<Record<string, string>>
}

/** Says what will be seen, and types the scenario's line on its cluster. Returns that command's exit code. */
export async function playScenario(cx: Context, scenario: Scenario, stage: Stage): Promise<ExitCode> {
  cx.printer.note(`simulated cluster, time runs ${stage.speed} times as fast. ${scenario.title}`)
  cx.printer.timeBy?.(stage.clock)
  cx.printer.awaiting('waiting for the cluster')
  try {
    const code = await runInside(insideDemo(cx, stage), typed(scenario))
    cx.printer.note(`The simulated cluster is gone. ${keeping}`)
    return code
  } catch (error) {
    cx.printer.note(`The simulated cluster is gone: what helps below is for a real one. ${keeping}`)
    throw error
  }
}

/** Its lines would find no cluster, and kvup may not be in the path. */
const keeping = 'To type such lines, keep one with kvup demo --serve (here: npm run demo -- --serve)'

async function openServed(cx: Context, kubeconfig: string, clock: Clock): Promise<Cluster> {
  const file = cx.world.scratchFile('kubeconfig')
  await cx.world.writeText(file, kubeconfig)
  return openCluster(
    { kubeconfig: file },
    {
      clock,
      random: () => 0.5,
      env: {},
      onWarning: (text) => cx.printer.warn(text),
      verbosity: 0,
      userAgent: `kvup/${cx.world.version}`,
    },
  )
}

/** The context of a command that works on the simulated cluster: its clock and the one on the screen are the cluster's, and nobody is asked. */
function insideDemo(cx: Context, { clock, cluster, manifest, files }: Stage): Context {
  return {
    ...cx,
    clock,
    cluster: async () => cluster,
    prompt: { confirm: async () => true },
    flags: { ...cx.flags, yes: true },
    world: {
      ...cx.world,
      readStdin: async () => manifest,
      readText: async (name) => files[name] ?? cx.world.readText(name),
      writeText: async () => undefined,
    },
  }
}

const commands = { upgrade: upgradeCommand, 'eus run': eusRunCommand } as const

/** What a person would type on this cluster. */
export function typed(scenario: Scenario): Typed {
  if ('typed' in scenario) {
    const { command, args } = scenario.typed
    return { line: ['kvup', command, ...args.map(shellWord)].join(' '), command: commands[command], args }
  }
  if ('update' in scenario) {
    const { update } = scenario
    return {
      line: ['kvup workloads update', ...update.map(shellWord)].join(' '),
      command: updateCommand,
      args: update,
    }
  }
  const { to, method, flags = [] } = scenario.upgrade
  const byManifest = method === 'operator-manifest'
  const manifest = byManifest ? ['--manifest', '-'] : []
  const named = byManifest ? ['--manifest', manifestName] : []
  return {
    line: ['kvup upgrade --to', to, ...named, ...flags.map(shellWord)].join(' '),
    command: upgradeCommand,
    args: ['--to', to, '--method', method, ...manifest, ...flags],
  }
}
