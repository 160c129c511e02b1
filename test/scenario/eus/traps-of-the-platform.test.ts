import { describe, expect, test } from 'vitest'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type MachineConfigPool,
  MachineConfigPools,
  MachineConfigs,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { scriptWaits } from '../naive-person.ts'
import { minute, play, type Stage } from '../stage.ts'
import { after, patchPlatform, refusing } from './meanwhile.ts'
import { borrowedFields, eusRunOn, eusStatusOn, platformOf, type Shape, small418 } from './window-stage.ts'

const said = (stage: Stage, type: string) => condition(platformOf(stage), type)?.status
const target = (stage: Stage) => platformOf(stage).status?.desired?.version
const last = (stage: Stage) => platformOf(stage).status?.history?.[0]
const asked = (stage: Stage) => platformOf(stage).spec?.desiredUpdate?.version

const kubernetesMinor = ({ status }: Node) =>
  /^v1\.(\d+)/u.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1] ?? ''

/** The minors of the Kubernetes of a pool's kubelets, each once: 31 is of 4.18. */
function kubelets({ simulated }: Stage, pool: string): readonly string[] {
  const nodes: readonly Node[] = simulated.store.list(Nodes).items
  const own = nodes.filter(({ metadata }) => metadata.name.startsWith(`${pool}-`))
  return [...new Set(own.map(kubernetesMinor))]
}

/** How long a script waits that goes on as soon as it holds, ms; undefined where it gave up. */
async function waited(stage: Stage, holds: () => boolean, atMost: number): Promise<number | undefined> {
  const began = stage.now
  return (await scriptWaits(stage, holds, atMost)) ? stage.now - began : undefined
}

/** As `oc adm upgrade channel` and `oc adm upgrade --to` write it. */
async function request(stage: Stage, version: string, channel = 'eus-4.20'): Promise<void> {
  await patchPlatform(stage, { channel })
  await stage.until(2 * minute)
  await expect(patchPlatform(stage, { desiredUpdate: { version } })).resolves.toBeDefined()
}

describe('trap 16: a patch of the ClusterVersion always succeeds', () => {
  test('naively, requested and waited for: it is idle and done at once, and nothing was begun', () =>
    play({ ...small418, faults: refusing }, async (stage) => {
      await request(stage, '4.19.14')
      expect(await waited(stage, () => said(stage, 'Progressing') === 'False', minute)).toBe(0)
      await stage.until(30 * minute)
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.18.21' })
      expect([said(stage, 'Failing'), said(stage, 'ReleaseAccepted')]).toEqual(['False', 'False'])
      expect([asked(stage), target(stage)]).toEqual(['4.19.14', '4.18.21'])
    }))

  test('naively, left there as refused: it begins by itself when the gate clears, with no pool paused', () =>
    play({ ...small418, faults: refusing }, async (stage) => {
      await request(stage, '4.19.14')
      await stage.until(60 * minute)
      expect(target(stage)).toBe('4.18.21')
      stage.simulated.faults.set({ notUpgradeable: undefined })
      await stage.until(120 * minute)
      expect(target(stage)).toBe('4.19.14')
      expect(kubelets(stage, 'worker')).toEqual(['32'])
    }))

  test('kvup says what refused it, takes its request back, and nothing starts when the gate clears', () =>
    play(small418, async (stage) => {
      const onEvent = after('request-4.19', () => stage.simulated.faults.set(refusing), 'step-applied')
      const ended = await eusRunOn(stage, {}, { onEvent })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'update-refused' } })
      expect(ended.text).toContain('a disk is broken')
      expect(asked(stage)).toBeUndefined()
      stage.simulated.faults.set({ notUpgradeable: undefined })
      await stage.until(120 * minute)
      expect(target(stage)).toBe('4.18.21')
      expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true })
    }))

  test('kvup shows a request of somebody else as armed, and begins nothing beside it', () =>
    play({ ...small418, faults: refusing }, async (stage) => {
      await request(stage, '4.19.14')
      await stage.until(2 * minute)
      expect((await eusStatusOn(stage)).documents.at(-1)).toMatchObject({
        armed: { version: '4.19.14', by: 'somebody else' },
      })
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toContain('It starts by itself')
      expect(stage.writes(mark)).toEqual([])
    }))

  test('naively, waiting for Upgradeable=True: it is never said; kvup takes its absence for a yes', () =>
    play(small418, async (stage) => {
      const isUpgradeable = () => said(stage, 'Upgradeable') === 'True'
      expect(await waited(stage, isUpgradeable, 120 * minute)).toBeUndefined()
      expect(said(stage, 'Upgradeable')).toBeUndefined()
      expect((await eusRunOn(stage, { until: 'accepted-4.19' })).error).toBeUndefined()
      expect(target(stage)).toBe('4.19.14')
    }))

  const okd: Shape = {
    methods: ['LiveMigrate'],
    openshift: {
      ...okd419,
      pools: [
        { name: 'master', nodes: 1 },
        { name: 'worker', nodes: 1 },
      ],
      topology: 'HighlyAvailable',
    },
    olm: okdOlm({ installed: '1.15.2', channel: 'stable-v1.15' }),
    faults: refusing,
  }

  test('naively, no update at all while Upgradeable=False: a patch is let through; kvup asks for it, and for no minor', () =>
    play(okd, async (stage) => {
      await stage.until(2 * minute)
      expect(said(stage, 'Upgradeable')).toBe('False')
      stage.files.set('own.json', servedGraph(okd419))
      const ended = await eusRunOn(stage, { graphFile: 'own.json', accept: ['platform-not-upgradeable'] })
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.0-okd-scos.16' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('a disk is broken')
      expect(asked(stage)).not.toMatch(/^4\.20/u)
    }))

  /** An operator of the platform that takes its time. */
  const slow = { slowOperators: ['ingress'] }

  test('naively, Failing that is not False is a failure, and is undone: it is refused, and the update goes on to its end', () =>
    play({ ...small418, faults: slow }, async (stage) => {
      await request(stage, '4.19.14')
      expect(await waited(stage, () => said(stage, 'Failing') === 'Unknown', 120 * minute)).toBeDefined()
      await patchPlatform(stage, { desiredUpdate: { version: '4.18.21' } })
      await stage.until(10 * minute)
      expect(condition(platformOf(stage), 'ReleaseAccepted')?.message).toContain('LowDesiredVersion')
      stage.simulated.faults.set({ slowOperators: undefined })
      await stage.until(60 * minute)
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.14' })
    }))

  test('kvup waits for what is slow, names it, and goes on', () =>
    play({ ...small418, faults: slow }, async (stage) => {
      stage.later(90 * minute, () => stage.simulated.faults.set({ slowOperators: undefined }))
      const ended = await eusRunOn(stage, { until: 'control-plane-4.19' })
      expect(ended).toMatchObject({ code: 0 })
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.14' })
      const states = ended.events.flatMap((event) => (event.kind === 'step-waiting' ? [event.state] : []))
      expect(JSON.stringify(states)).toContain('ingress over 30 minutes')
      expect(states.filter(({ is }) => is === 'stalled')).toEqual([])
    }))
})

/** A control plane of one machine, and pools of one worker each. */
const withPools = (...names: readonly string[]): Shape => ({
  ...small418,
  openshift: {
    ...ocp418to420,
    pools: ['master', ...names].map((name) => ({ name, nodes: 1 })),
    healthChecks: [],
    topology: 'HighlyAvailable',
  },
})
const pools = ({ simulated }: Stage) => simulated.store.list(MachineConfigPools).items as MachineConfigPool[]
const pool = (stage: Stage, name: string): MachineConfigPool => {
  const found = pools(stage).find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new Error(`no pool ${name}`)
  return found
}
const pause = (stage: Stage, name: string, paused = true) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, { name }, { spec: { paused } })
/** As `oc wait --for=condition=` reads a pool. */
const says = (stage: Stage, name: string, type: string) => condition(pool(stage, name), type)?.status

/** Something for the workers to take up, such as a registry mirror. */
const change = ({ cluster }: Stage) =>
  cluster.writer.create(MachineConfigs, {
    apiVersion: MachineConfigs.apiVersion,
    kind: MachineConfigs.kind,
    metadata: { name: '99-worker-mirrors', labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
    spec: { config: { ignition: { version: '3.4.0' }, storage: { files: [{ path: '/etc/mirrors' }] } } },
  })
const configOf = (stage: Stage) => {
  const { spec, status } = pool(stage, 'worker')
  return { wanted: spec?.configuration?.name, present: status?.configuration?.name }
}

describe('trap 18: which pools are paused, and what one says that was', () => {
  test('naively, worker alone is paused: a custom pool rolls with the first hop', () =>
    play(withPools('worker', 'gpu'), async (stage) => {
      await pause(stage, 'worker')
      await request(stage, '4.19.14')
      await stage.until(100 * minute)
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.14' })
      expect([kubelets(stage, 'worker'), kubelets(stage, 'gpu')]).toEqual([['31'], ['32']])
    }))

  test('naively, every pool is paused: the platform does not come to its end, for master waits', () =>
    play(withPools('worker'), async (stage) => {
      for (const { metadata } of pools(stage)) await pause(stage, metadata.name)
      await request(stage, '4.19.14')
      await stage.until(150 * minute)
      expect(last(stage)).toMatchObject({ state: 'Partial', version: '4.19.14' })
      expect(condition(platformOf(stage), 'Failing')?.message).toContain('machine-config')
    }))

  test('kvup pauses every pool but master, and each stays where it is while the platform goes on', () =>
    play(withPools('worker', 'gpu'), async (stage) => {
      const ended = await eusRunOn(stage, { until: 'control-plane-4.19' })
      expect(ended).toMatchObject({ code: 0 })
      expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true, gpu: true })
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.14' })
      await stage.until(60 * minute)
      expect([kubelets(stage, 'worker'), kubelets(stage, 'gpu')]).toEqual([['31'], ['31']])
    }))

  test('naively, Updated of a paused pool is waited for behind a hop: it never comes; kvup goes on', () =>
    play(withPools('worker'), async (stage) => {
      await eusRunOn(stage, { until: 'control-plane-4.19' })
      const isUpdated = () => says(stage, 'worker', 'Updated') === 'True'
      expect(await waited(stage, isUpdated, 120 * minute)).toBeUndefined()
      expect(says(stage, 'worker', 'Updating')).toBe('False')
      expect(await eusRunOn(stage, { until: 'operator-4.20' })).toMatchObject({ code: 0 })
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.20.5' })
      expect(kubelets(stage, 'worker')).toEqual(['31'])
    }))

  test('naively, unpaused and waited for until it is not Updating: that ends at once, with the old nodes', () =>
    play(withPools('worker'), async (stage) => {
      await eusRunOn(stage, { pauseBefore: ['unpause-worker'] })
      await pause(stage, 'worker', false)
      const isQuiet = () => says(stage, 'worker', 'Updating') === 'False'
      expect(await waited(stage, isQuiet, minute)).toBe(0)
      expect(kubelets(stage, 'worker')).toEqual(['31'])
    }))

  test('naively, changed, unpaused and waited for until it is Updated: that ends at once, of the configuration before', () =>
    play(withPools('worker'), async (stage) => {
      await pause(stage, 'worker')
      await stage.until(minute)
      await change(stage)
      await stage.until(1000)
      await pause(stage, 'worker', false)
      expect(await waited(stage, () => says(stage, 'worker', 'Updated') === 'True', minute)).toBe(0)
      const { wanted, present } = configOf(stage)
      expect(present).not.toBe(wanted)
    }))

  test('kvup, before it pauses a pool that still says Updated of the configuration before, waits until it has rolled', () =>
    play(withPools('worker'), async (stage) => {
      await eusRunOn(stage, { until: 'pause-workload-updates' })
      const atPause: ReturnType<typeof configOf>[] = []
      const onEvent = after('pause-worker', () => atPause.push(configOf(stage)), 'step-applied')
      await change(stage)
      await stage.until(1000)
      expect(says(stage, 'worker', 'Updated')).toBe('True')
      const ended = await eusRunOn(stage, { until: 'pause-worker' }, { onEvent })
      expect(ended).toMatchObject({ code: 0 })
      expect(atPause.map(({ wanted, present }) => wanted === present)).toEqual([true])
    }))

  test('kvup, unpausing, ends only with the nodes at the target', () =>
    play(withPools('worker', 'gpu'), async (stage) => {
      const observed: (readonly string[])[] = []
      const onEvent = after('rolled-worker', () => observed.push(kubelets(stage, 'worker')))
      expect(await eusRunOn(stage, {}, { onEvent })).toMatchObject({ code: 0 })
      expect(observed).toEqual([['33']])
      expect(kubelets(stage, 'gpu')).toEqual(['33'])
    }))
})
