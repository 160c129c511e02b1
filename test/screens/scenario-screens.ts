import { manifestText, filesOf, playScenario } from '../../src/commands/demo/demo.ts'
import { seconds } from '../../src/lib/kube/clock.ts'
import { type Scenario, scenarios } from '../../src/simulator/scenarios.ts'
import { scaledClock, SimClock } from '../../src/simulator/simulated-clock.ts'
import { startScenario, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { mayStall } from './on-screen.ts'
import { act, type Place, type } from './at-terminal.ts'
import type { ScreenSize, Terminal, Tmux } from './terminal.ts'

/** What stood on the terminal when a command had ended, was about to ask, or had been stalled for a while. */
export interface Screen {
  /** The command line, and when it was looked at. */
  readonly title: string
  readonly kind: 'bare' | 'status' | 'check' | 'vms' | 'plan' | 'question' | 'demo' | 'stalled' | 'after'
  readonly lines: readonly string[]
  /** Absent where the command had not ended. */
  readonly code?: number
}

/** How long the cluster of a scenario stands before it is looked at, so that what is broken has been so for a while. */
const before = 60 * seconds
/** How often it is asked whether the verdict has turned, and how long after that the screen is looked at: 15 s together. */
const asked = 5 * seconds
const later = 10 * seconds

/** All screens of a scenario on a terminal of that size, the same in every run. */
export async function screensOf(scenario: Scenario, size: ScreenSize, tmux: Tmux): Promise<Screen[]> {
  return [
    ...(await looking(scenario, size, tmux)),
    ...(await playing(scenario, size, tmux)),
    ...(scenario === scenarios[0] ? await interrupting(scenario, size, tmux) : []),
  ]
}

/** Before anything is changed: what a person types to find out, and the question that comes before the change. */
async function looking(scenario: Scenario, size: ScreenSize, tmux: Tmux): Promise<Screen[]> {
  const { time, cluster, files, stop } = await stage(scenario)
  await time.sleep(before)
  const screens: Screen[] = []
  const look = async (kind: Screen['kind'], argv: readonly string[]) => {
    const terminal = tmux.open(size)
    let question: readonly string[] | undefined
    const onQuestion = async (leave: () => void) => {
      const asking = await terminal.screenWith(/^\? |\(y\/N\)|❯/u)
      if (kind !== 'question') return terminal.press('n', 'Enter')
      question ??= asking
      leave()
    }
    const code = await type(argv, { terminal, cluster, time, files, onQuestion })
    const lines = question ?? terminal.screen()
    terminal.close()
    screens.push({ title: titleOf(argv, question && 'asking'), kind, lines, ...(question ? {} : { code }) })
  }
  await look('bare', [])
  await look('status', ['status'])
  await look('check', checkLine(scenario))
  if ('update' in scenario) await look('vms', ['workloads', 'outdated'])
  if ('typed' in scenario && scenario.typed.command === 'eus run')
    await look('plan', ['eus', 'plan', ...scenario.typed.args.filter((word) => word !== '--approve')])
  await look('question', typedLine(scenario))
  await stop()
  return screens
}

/** The scenario itself, what is seen of it beside it while it is stalled, and what kvup says when it is over. */
async function playing(scenario: Scenario, size: ScreenSize, tmux: Tmux): Promise<Screen[]> {
  const { time, simulated, cluster, files, stop } = await stage(scenario)
  const speed = scenario.speed ?? 10
  const screens: Screen[] = []
  const terminal = tmux.open(size)
  const place: Place = { terminal, cluster, time, wall: scaledClock(time, 1 / speed), files }
  const argv = ['demo', '--scenario', scenario.name]
  const over = new AbortController()
  const open = () => tmux.open(size)
  const looked = { scenario, time, cluster, files, running: terminal, open }
  const beside = mayStall(scenario.name) ? besideStall(looked, over.signal) : []
  const manifest = manifestOf(scenario, simulated)
  const code = await act(argv, place, (cx) =>
    playScenario(cx, scenario, { clock: time, speed, cluster, manifest, files }),
  )
  over.abort()
  screens.push(...(await beside))
  screens.push({ title: titleOf(argv), kind: 'demo', lines: terminal.screen(), code })
  const last = tmux.open(size)
  const codeAfter = await type([], { terminal: last, cluster, time, files })
  screens.push({ title: titleOf([], 'afterwards'), kind: 'after', lines: last.screen(), code: codeAfter })
  for (const pane of [terminal, last]) pane.close()
  await stop()
  return screens
}

/** Ctrl-C in the middle of it, and what a person finds who comes back. */
async function interrupting(scenario: Scenario, size: ScreenSize, tmux: Tmux): Promise<Screen[]> {
  const { time, cluster, files, stop } = await stage(scenario)
  const interruptedAfter = 20 * seconds
  const screens: Screen[] = []
  const see = async (
    kind: Screen['kind'],
    argv: readonly string[],
    how: Pick<Place, 'interruptedAfter'> = {},
  ) => {
    const terminal = tmux.open(size)
    const code = await type(argv, { terminal, cluster, time, files, ...how })
    screens.push({ title: titleOf(argv, 'Ctrl-C after 20 s'), kind, lines: terminal.screen(), code })
    terminal.close()
  }
  await see('demo', [...typedLine(scenario), '--yes'], { interruptedAfter })
  await see('after', [])
  await see('status', ['status'])
  await stop()
  return screens
}

interface Looked extends Pick<Place, 'time' | 'cluster' | 'files'> {
  scenario: Scenario
  /** The terminal of the run, and a new one of the same size. */
  running: Terminal
  open(): Terminal
}

/** Waits until the verdict turns, and shows a while later what stands in the terminal of the run, and what kvup says in another. */
async function besideStall(looked: Looked, signal: AbortSignal): Promise<Screen[]> {
  const { time, scenario, running } = looked
  try {
    while (!isBad(await verdictOf(looked))) await time.sleep(asked, signal)
    await time.sleep(later, signal)
  } catch (error) {
    // It ended before.
    if (signal.aborted) return []
    throw error
  }
  const stalled = `${(asked + later) / seconds} s after it stalled`
  const title = titleOf(['demo', '--scenario', scenario.name], stalled)
  const screens: Screen[] = [{ title, kind: 'stalled', lines: running.screen() }]
  for (const argv of [[], ['status']]) {
    const terminal = looked.open()
    const code = await type(argv, { ...looked, terminal })
    screens.push({ title: titleOf(argv, stalled), kind: 'stalled', lines: terminal.screen(), code })
    terminal.close()
  }
  return screens
}

async function verdictOf({ cluster, time }: Pick<Looked, 'cluster' | 'time'>): Promise<unknown> {
  const { out } = await runText(['status', '-o', 'json'], { cluster, clock: time })
  return (JSON.parse(out) as { verdict?: string }).verdict
}

const isBad = (verdict: unknown) => verdict === 'Stalled' || verdict === 'Degraded'

const titleOf = (argv: readonly string[], when?: string) =>
  [['kvup', ...argv].join(' '), ...(when ? [when] : [])].join(', ')

async function stage(scenario: Scenario) {
  const time = new SimClock()
  const simulated = await startScenario(scenario, { clock: time })
  const files = { ...filesOf(scenario), 'kubevirt-operator.yaml': manifestOf(scenario, simulated) }
  return { time, simulated, cluster: simulated.cluster(), files, stop: () => simulated.stop() }
}

function manifestOf(scenario: Scenario, simulated: SimulatedCluster): string {
  return 'upgrade' in scenario ? manifestText(simulated.operatorManifest(scenario.upgrade.to)) : ''
}

const byManifest = (scenario: Scenario) =>
  'upgrade' in scenario && scenario.upgrade.method === 'operator-manifest'
    ? ['--manifest', 'kubevirt-operator.yaml']
    : []

function checkLine(scenario: Scenario): string[] {
  if ('upgrade' in scenario) return ['check', '--to', scenario.upgrade.to, ...byManifest(scenario)]
  const to =
    'typed' in scenario && scenario.typed.command === 'upgrade' ? scenario.typed.args.slice(0, 2) : []
  return ['check', ...to]
}

/** What the demo types, as a person would. */
function typedLine(scenario: Scenario): string[] {
  if ('typed' in scenario) return [...scenario.typed.command.split(' '), ...scenario.typed.args]
  if ('update' in scenario) return ['workloads', 'update', ...scenario.update]
  const { to, method, flags = [] } = scenario.upgrade
  const by = byManifest(scenario)
  return ['upgrade', '--to', to, ...(by.length > 0 ? by : ['--method', method]), ...flags]
}
