import { expect, onTestFinished, test } from 'vitest'
import { configMapJournal } from '../../src/lib/engine/journal-config-map.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { namespaceOf } from '../../src/simulator/cluster-shape.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { startScenario } from '../../src/simulator/simulated-cluster.ts'
import { playScenario } from '../../src/commands/demo/demo.ts'
import { play } from '../scenario/stage.ts'
import { runText } from '../lib/run-text.ts'

/** The line of a scenario as it would be typed, with more behind it, on its cluster. */
async function typed(name: string, ...more: readonly string[]) {
  const scenario = scenarioNamed(name)
  if (scenario === undefined || !('typed' in scenario)) throw new Error(`no line in ${name}`)
  const clock = new SimClock()
  const simulated = await startScenario(scenario, { clock })
  onTestFinished(() => simulated.stop())
  const { openshift, olm } = scenario.cluster
  const cluster = simulated.cluster()
  const { command, args } = scenario.typed
  const files = {
    ...(openshift && { 'graph.json': servedGraph(openshift) }),
    ...(olm && { 'catalog.yaml': servedCatalog(olm, undefined) }),
  }
  const place = { cluster, clock, files }
  const ended = await runText([...command.split(' '), ...args, '--yes', ...more], place)
  const journal = configMapJournal(cluster, {
    namespace: namespaceOf(scenario.cluster),
    who: 'admin@host',
    clock,
  })
  return { ...ended, overrides: await journal.overrides() }
}

test('demo okd: two minors by their channels, and nothing stays borrowed', async () => {
  const { code, err, overrides } = await typed('okd')
  expect(code).toBe(0)
  expect(err).toMatch(/1\.16\.0 -> 1\.17\.3 \(channel stable-v1\.17\) -> 1\.18\.1 \(channel stable-v1\.18\)/u)
  expect(overrides).toEqual([])
})

test('demo ocp-eus: its line plans the window from the graph that lies beside it', async () => {
  const { code, err, overrides } = await typed('ocp-eus', '--until', 'pause-worker')
  expect(code).toBe(0)
  expect(err).toContain('4.19.17 is newer but has no update path to the target')
  expect(overrides.map(({ id }) => id).toSorted()).toEqual([
    'pool-paused/gpu',
    'pool-paused/worker',
    'workload-updates',
  ])
})

test.each(['image-tag', 'wrong-tag'])(
  'demo %s ends by saying that its cluster is gone, and what keeps one',
  async (name) => {
    const scenario = scenarioNamed(name)
    if (scenario === undefined) throw new Error(`no scenario ${name}`)
    await play(scenario.cluster, async (stage) => {
      if (scenario.faults) stage.simulated.faults.set(scenario.faults)
      const { clock, cluster } = stage
      const { text, error } = await stage.perform((cx) =>
        playScenario(cx, scenario, { clock, speed: 10, cluster, manifest: '', files: {} }),
      )
      expect(error === undefined).toBe(name === 'image-tag')
      const told = text.split('\n').filter((line) => line.endsWith(' npm run demo -- --serve)'))
      expect(told).toEqual([expect.stringMatching(/^The simulated cluster is gone/u)])
      // What an error says stands behind it.
      expect(text.trimEnd().endsWith(told[0] ?? '')).toBe(name === 'image-tag')
    })
  },
)
