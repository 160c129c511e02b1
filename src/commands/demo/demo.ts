import type { Context } from '../../context.ts'
import { type DemoScenario, demoScenarios } from '../../lib/simulator/demo-scenarios.ts'
import { scaledClock } from '../../lib/simulator/scaled-clock.ts'
import { serveSimulator } from '../../lib/simulator/api/server.ts'
import { simulate } from '../../lib/simulator/simulate.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { usageError } from '../../lib/system/errors.ts'
import { upgrade } from '../upgrade/upgrade.ts'
import { insideDemo } from './inside-demo.ts'
import { demoOptions } from './demo-options.ts'

export interface DemoOptions {
  scenario: string
  speed: string
  serve?: boolean
}

/** The main job on a simulated cluster, over HTTP and with everything real but the cluster. */
export async function demo(cx: Context, options: DemoOptions): Promise<ExitCode> {
  const scenario = scenarioNamed(options.scenario)
  if (!scenario) return listScenarios(cx)
  const speed = speedOf(options.speed)
  const clock = scaledClock(cx.clock, speed)
  const cluster = await simulate({ ...scenario.simulation, clock })
  const server = await serveSimulator(cluster.store)
  try {
    if (options.serve) return await keepServing(cx, server.kubeconfig())
    cx.printer.note(`simulated cluster, time runs ${options.speed} times as fast: ${scenario.shows}`)
    const manifest = cluster
      .operatorManifest(scenario.to)
      .map((object) => `---\n${JSON.stringify(object)}\n`)
      .join('')
    const inside = await insideDemo(cx, { clock, speed, kubeconfig: server.kubeconfig(), manifest })
    return await upgrade(inside, demoOptions(scenario))
  } finally {
    await server.close()
    await cluster.stop()
  }
}

function scenarioNamed(name: string): DemoScenario | undefined {
  if (name === 'list') return undefined
  const found = demoScenarios.find((scenario) => scenario.name === name)
  if (found) return found
  const names = demoScenarios.map((scenario) => scenario.name).join(', ')
  throw usageError('no-such-scenario', `there is no scenario ${JSON.stringify(name)}`, {
    remedy: `kvup demo --scenario with one of ${names}`,
  })
}

function listScenarios(cx: Context): ExitCode {
  for (const { name, shows } of demoScenarios) cx.printer.note(`${name.padEnd(18)} ${shows}`)
  return exitCode.done
}

function speedOf(text: string): number {
  const speed = Number(text)
  if (Number.isFinite(speed) && speed > 0 && speed <= 1000) return speed
  throw usageError('speed', `--speed takes a number from above 0 to 1000, not ${JSON.stringify(text)}`)
}

/** Until Ctrl-C, which is how it ends well. */
async function keepServing(cx: Context, kubeconfig: string): Promise<ExitCode> {
  const file = cx.world.scratchFile('demo.kubeconfig')
  await cx.world.writeText(file, kubeconfig)
  cx.printer.note(`export KUBECONFIG=${file}`)
  cx.printer.note('kvup status, kubectl get pods -n kubevirt and the rest work on it; Ctrl-C ends it')
  await new Promise<void>((resolve) => cx.signal.addEventListener('abort', () => resolve(), { once: true }))
  return exitCode.done
}
