import type { Context } from '../../context.ts'
import type { Column, Document, View } from '../../lib/output/printer.ts'
import { table } from '../../lib/output/table.ts'
import { serveSimulator } from '../../lib/simulator/api/server.ts'
import { namespaceOf } from '../../lib/simulator/namespace-of.ts'
import { servedCatalog } from '../../lib/simulator/olm/served-catalog.ts'
import { servedGraph } from '../../lib/simulator/openshift/served-graph.ts'
import { scaledClock } from '../../lib/simulator/scaled-clock.ts'
import type { Scenario } from '../../lib/simulator/scenarios/scenario.ts'
import { scenarioNamed, scenarios } from '../../lib/simulator/scenarios/scenarios.ts'
import { startScenario } from '../../lib/simulator/scenarios/start-scenario.ts'
import { SteadyClock } from '../../lib/simulator/steady-clock.ts'
import { usageError } from '../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { firstLine } from './first-line.ts'
import { insideDemo } from './inside-demo.ts'
import { runInside } from './run-inside.ts'
import { typed } from './typed.ts'

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
  const cluster = await startScenario(scenario, { clock })
  const server = await serveSimulator(cluster.store)
  try {
    const manifest = 'upgrade' in scenario ? manifestText(cluster.operatorManifest(scenario.upgrade.to)) : ''
    if (options.serve) {
      const files = { ...filesOf(scenario), ...manifestFile(scenario, manifest) }
      return await keepServing(cx, server.kubeconfig([], speed), { scenario, speed, files })
    }
    cx.printer.note(`simulated cluster, time runs ${speed} times as fast. ${scenario.title}`)
    const inside = await insideDemo(cx, {
      clock,
      speed,
      kubeconfig: server.kubeconfig(),
      manifest,
      files: filesOf(scenario),
    })
    return await runInside(inside, typed(scenario))
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
function speedOf({ speed: text, serve }: DemoOptions, scenario: Scenario): number {
  if (text === undefined) return serve ? 1 : (scenario.speed ?? 10)
  const speed = Number(text)
  if (Number.isFinite(speed) && speed > 0 && speed <= 1000) return speed
  throw usageError('speed', `--speed takes a number above 0, at most 1000, not ${JSON.stringify(text)}`)
}

/** The update graph of its platform, as it is downloaded from the update service, and the whole catalog of its operator. */
function filesOf({ cluster: { openshift, olm } }: Scenario): Record<string, string> {
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
function manifestText(objects: readonly object[]): string {
  return objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('')
}

/** Until Ctrl-C, which is how it ends well. */
async function keepServing(
  { printer, world, signal }: Context,
  kubeconfig: string,
  { scenario, speed, files }: { scenario: Scenario; speed: number; files: Record<string, string> },
): Promise<ExitCode> {
  const file = world.scratchFile('demo.kubeconfig')
  await world.writeText(file, kubeconfig)
  printer.note(`export KUBECONFIG=${file}`)
  const laid = new Map<string, string>()
  for (const [name, text] of Object.entries(files)) {
    const beside = world.scratchFile(name)
    await world.writeText(beside, text)
    printer.note(`its ${name}: ${beside}`)
    laid.set(name, beside)
  }
  const namespace = namespaceOf(scenario.cluster)
  printer.note(
    `time runs ${speed === 1 ? 'as it does here' : `${speed} times as fast`}; begin with: ${firstLine(scenario, laid)}`,
  )
  printer.note(`kvup status, kubectl get pods -n ${namespace} and the rest work on it; Ctrl-C ends it`)
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  return exitCode.done
}
