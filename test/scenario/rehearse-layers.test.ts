import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { eusRun } from '../../src/commands/eus/window-command.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { ObservedStages } from '../../src/lib/rehearsal/observed-stages.ts'
import { ObservedVms } from '../../src/lib/rehearsal/observed-vms.ts'
import type { Rehearsal } from '../../src/lib/rehearsal/rehearsal.ts'
import { launcherImage } from '../../src/simulator/inhabitants.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { okdOlm, okdStableOlm } from '../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { Stage } from './stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'rehearse-layers-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Shape = Omit<Simulation, 'clock'>

const shapeOf = (name: string): Shape => scenarioNamed(name)?.cluster ?? {}
/** OLM around HyperConverged on a plain cluster, no platform. */
const plainOlm: Shape = {
  olm: okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' }),
  vms: 4,
  methods: ['LiveMigrate'],
}
/** It is from before v1.7: as in reality no second roll of virt-handler comes. */
const okd: Shape = { ...shapeOf('okd'), faults: { noMigrationNames: true } }
const eus = shapeOf('ocp-eus')

const settled = 60_000

/** Saves a cluster of that shape to a file, by `kvup snapshot`. */
async function saved(name: string, shape: Shape, before?: (sim: SimulatedCluster) => Promise<void>) {
  const clock = new SimClock()
  const sim = await simulate({ ...shape, clock })
  try {
    await clock.sleep(settled)
    await before?.(sim)
    const file = join(folder, `${name}.ndjson`)
    const { code } = await runText(['snapshot', '--to-file', file], { cluster: sim.cluster(), clock })
    expect(code).toBe(0)
    return file
  } finally {
    await sim.stop()
  }
}

/** Nobody asks a cluster for what is read from a file. */
const offline = { cluster: {} as Cluster, clock: systemClock }

/** What is downloaded of a platform and its catalog. */
const filesOf = ({ olm, openshift }: Shape): Record<string, string> => ({
  ...(openshift && { 'graph.json': servedGraph(openshift) }),
  ...(olm && { 'catalog.yaml': servedCatalog(olm, undefined) }),
})

async function rehearse(file: string, shape: Shape, ...flags: readonly string[]) {
  const argv = ['rehearse', '--from', file, ...flags, '-o', 'json']
  const { code, out, err } = await runText(argv, { ...offline, files: filesOf(shape) })
  return { code, err, document: JSON.parse(out) as Rehearsal }
}

interface Real {
  code: number
  stages: Rehearsal['stages']
  vms: Rehearsal['vms']
}

/** The upgrade itself, on the cluster that was saved. */
async function upgraded(
  shape: Shape,
  run: (stage: Stage, stages: ObservedStages) => Promise<number>,
): Promise<Real> {
  const clock = new SimClock()
  const stage = new Stage(clock, await simulate({ ...shape, clock }))
  for (const [name, text] of Object.entries(filesOf(shape))) stage.files.set(name, text)
  try {
    await clock.sleep(settled)
    const stages = new ObservedStages()
    const vms = new ObservedVms(stage.simulated.store)
    const code = await run(stage, stages)
    await clock.sleep(10 * 60_000)
    const { namespace = 'kubevirt' } = shape.olm ?? {}
    const image = launcherImage(stage.simulated.store, namespace)
    return { code, stages: stages.stages(), vms: vms.vms(image, 0) }
  } finally {
    await stage.stop()
  }
}

const tried = (all: Rehearsal['vms']) => all.map((vm) => [vm.name, vm.tries, vm.becomes])
const named = (stages: Rehearsal['stages']) => stages.map(({ name, hop }) => [hop, name])

/** What differs between a rehearsal and the upgrade itself. */
function differences({ document, code }: { document: Rehearsal; code: number }, real: Real) {
  const stages = document.stages.flatMap(({ takes = 0, name: stage }, i) => {
    const inTruth = real.stages[i]?.takes ?? 0
    // Half of it to twice of it; of what is over in seconds, luck is a larger part.
    const fits = Math.abs(takes - inTruth) <= 15 || (takes >= inTruth / 2 && takes <= inTruth * 2)
    return fits ? [] : [{ stage, takes, inTruth }]
  })
  return {
    ...(code !== 0 && { code, why: document.why }),
    ...(real.code !== 0 && { really: real.code }),
    ...differing('order', named(document.stages), named(real.stages)),
    ...(stages.length > 0 && { stages }),
    ...differing('vms', tried(document.vms), tried(real.vms)),
    ...differing('left', document.left, []),
  }
}

const differing = (what: string, rehearsed: unknown, really: unknown): object =>
  isDeepStrictEqual(rehearsed, really) ? {} : { [what]: { rehearsed, really } }

describe('the rehearsal goes as the upgrade does', () => {
  test.each([
    ['OLM on a plain cluster', plainOlm, '1.18.1'],
    ['OKD, two minors by their channels', okd, '1.18.1'],
  ] as const)('%s, by the InstallPlan, with the catalog file and without', async (name, shape, to) => {
    const file = await saved(name.replaceAll(' ', '-'), shape)
    const real = await upgraded(shape, async (stage, stages) => {
      const onEvent = (event: Parameters<ObservedStages['hear']>[0]) => stages.hear(event)
      return (await stage.upgrade(to, { method: 'olm' }, { onEvent })).code
    })
    expect(differences(await rehearse(file, shape, '--to', to), real)).toEqual({})
    expect(
      differences(await rehearse(file, shape, '--to', to, '--catalog-file', 'catalog.yaml'), real),
    ).toEqual({})
  })

  test('OpenShift, a patch of the operator alone', async () => {
    const olm = eus.olm && { ...eus.olm, installed: '4.18.9' }
    const shape = { ...eus, ...(olm && { olm }) }
    const file = await saved('patch', shape)
    const real = await upgraded(shape, async (stage, stages) => {
      const onEvent = (event: Parameters<ObservedStages['hear']>[0]) => stages.hear(event)
      return (await stage.upgrade('4.18.13', { method: 'olm' }, { onEvent })).code
    })
    expect(differences(await rehearse(file, shape, '--to', '4.18.13'), real)).toEqual({})
  })

  test('OpenShift, the EUS upgrade with its pools', async () => {
    const file = await saved('eus', eus)
    const real = await upgraded(eus, async (stage, stages) => {
      const options = {
        to: '4.20',
        accept: [],
        approve: true,
        approveAlso: [],
        poolOrder: [],
        stableFor: '30s',
        timeout: '24d',
        pauseBefore: [],
        graphFile: 'graph.json',
        catalogFile: 'catalog.yaml',
      }
      const onEvent = (event: Parameters<ObservedStages['hear']>[0]) => stages.hear(event)
      const ended = await stage.perform((cx) => eusRun(cx, options), { commandLine: 'kvup eus run', onEvent })
      return ended.code
    })
    const flags = ['--eus', '--to', '4.20', '--graph-file', 'graph.json', '--catalog-file', 'catalog.yaml']
    expect(differences(await rehearse(file, eus, ...flags), real)).toEqual({})
  })

  test('one channel for all minors', async () => {
    const shape = { ...okd, olm: okdStableOlm({ installed: '1.16.0' }) }
    const file = await saved('stable', shape)
    const { code, document } = await rehearse(file, shape, '--to', '1.18.1')
    expect({ code, why: document.why }).toEqual({ code: 0, why: undefined })
    expect(new Set(document.stages.map(({ hop }) => hop))).toEqual(new Set(['1.17.3', '1.18.1', undefined]))
  })
})
