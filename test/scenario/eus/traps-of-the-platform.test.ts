// 5 s: what is slow is waited for.
import { describe, expect, test } from 'vitest'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type MachineConfigPool,
  MachineConfigPools,
  MachineConfigs,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { minute, play, type Stage } from '../stage.ts'
import { after, patchPlatform, refusing } from './meanwhile.ts'
import {
  borrowedFields,
  doneSteps,
  eusRunOn,
  eusStatusOn,
  platformOf,
  type Shape,
  small418,
  playAt,
  playTwoPoolsAt,
} from './window-stage.ts'

const said = (stage: Stage, type: string) => condition(platformOf(stage), type)?.status
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

/** As `oc adm upgrade channel` and `oc adm upgrade --to` write it. */
async function request(stage: Stage, version: string, channel = 'eus-4.20'): Promise<void> {
  await patchPlatform(stage, { channel })
  await stage.until(2 * minute)
  await expect(patchPlatform(stage, { desiredUpdate: { version } })).resolves.toBeDefined()
}

describe('trap 16: a patch of the ClusterVersion always succeeds', () => {
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
      expect(asked(stage)).toBe('4.19.14')
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

const pools = ({ simulated }: Stage) => simulated.store.list(MachineConfigPools).items as MachineConfigPool[]
const pool = (stage: Stage, name: string): MachineConfigPool => {
  const found = pools(stage).find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new Error(`no pool ${name}`)
  return found
}
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
  test('kvup pauses every pool but master, and each stays where it is while the platform goes on', () =>
    playTwoPoolsAt('control-plane-4.19')(async (stage) => {
      expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true, gpu: true })
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.19.14' })
      await stage.until(20 * minute)
      expect([kubelets(stage, 'worker'), kubelets(stage, 'gpu')]).toEqual([['31'], ['31']])
    }))

  test('kvup, before it pauses a pool that still says Updated of the configuration before, waits until it has rolled', () =>
    playAt('pause-workload-updates')(async (stage) => {
      const atPause: ReturnType<typeof configOf>[] = []
      const onEvent = after('pause-worker', () => atPause.push(configOf(stage)), 'step-applied')
      await change(stage)
      await stage.until(1000)
      expect(says(stage, 'worker', 'Updated')).toBe('True')
      const ended = await eusRunOn(stage, { until: 'pause-worker' }, { onEvent })
      expect(ended).toMatchObject({ code: 0 })
      expect(atPause.map(({ wanted, present }) => wanted === present)).toEqual([true])
    }))

  test('kvup, unpausing in the order that was asked for, ends only with the nodes at the target', () =>
    playTwoPoolsAt('operator-4.20')(async (stage) => {
      const observed: (readonly string[])[] = []
      const onEvent = after('rolled-worker', () => observed.push(kubelets(stage, 'worker')))
      const ended = await eusRunOn(stage, { poolOrder: ['worker'] }, { onEvent })
      expect(ended).toMatchObject({ code: 0 })
      const order = doneSteps(ended).filter((id) => /^(?:unpause|rolled)-/u.test(id))
      expect(order).toEqual(['unpause-worker', 'rolled-worker', 'unpause-gpu', 'rolled-gpu'])
      expect(observed).toEqual([['33']])
      expect(kubelets(stage, 'gpu')).toEqual(['33'])
    }))
})
