import { rmSync } from 'node:fs'
import { afterAll, afterEach, expect, test } from 'vitest'
import { snapshot } from '../../src/commands/snapshot.ts'
import { status } from '../../src/commands/status/status.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ClusterVersions, MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import type { Override } from '../../src/lib/engine/journal.ts'
import { noteOf } from '../../src/lib/engine/overrides.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, type OpenShiftShape } from '../../src/simulator/openshift/openshift-shape.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { contextOf, fileIn, folder as files } from '../commands/saved.ts'

afterAll(() => rmSync(files, { recursive: true, force: true }))
const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(async (sim) => sim.stop()))
})

const openshift: OpenShiftShape = {
  ...ocp418to420,
  pools: [
    { name: 'master', nodes: 1 },
    { name: 'worker', nodes: 2 },
  ],
  topology: 'HighlyAvailable',
}

async function simulated(more: Partial<OpenShiftShape> = {}) {
  const clock = new SimClock()
  const shape = { ...openshift, ...more }
  const sim = await simulate({ clock, olm: ocpOlm(), openshift: shape, vms: 2, methods: ['LiveMigrate'] })
  running.push(sim)
  return { clock, cluster: sim.cluster() }
}

/** The document of one look. */
async function commands(
  cluster: Cluster | undefined,
  clock: SimClock,
  from?: string,
): Promise<StatusDocument> {
  const { cx, recorded } = contextOf(cluster, clock)
  await status(cx, from === undefined ? {} : { from })
  return recorded.documents.at(-1) as unknown as StatusDocument
}

const titles = ({ layers = [] }: StatusDocument) => layers.map(({ title, verdict }) => `${title} ${verdict}`)

/** Asks for a release of that minor, in a channel that has it. */
async function request({ reader, writer }: Cluster, clock: SimClock, minor: string): Promise<void> {
  const ref = { name: 'version' }
  await writer.mergePatch(ClusterVersions, ref, { spec: { channel: 'eus-4.20' } })
  for (;;) {
    const found = await reader.get(ClusterVersions, ref)
    const available = (found.is === 'object' && found.object.status?.availableUpdates) || []
    const release = available.find(({ version = '' }) => version.startsWith(minor))
    if (release?.version && release.image) {
      const { version, image } = release
      await writer.mergePatch(ClusterVersions, ref, { spec: { desiredUpdate: { version, image } } })
      return
    }
    await clock.sleep(10_000)
  }
}

const pause = async ({ writer }: Cluster) =>
  writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })

test('a cluster at rest has all its layers settled, and a snapshot of it says the same', async () => {
  const { cluster, clock } = await simulated()
  const live = await commands(cluster, clock)
  expect(titles(live)).toEqual([
    'platform Healthy',
    'pool master Healthy',
    'pool worker Healthy',
    'catalog Healthy',
    'Subscription Healthy',
    'CSV Healthy',
    'HyperConverged Healthy',
    'KubeVirt Healthy',
    'VMs Healthy',
  ])
  expect(live.overall).toEqual({ verdict: 'Healthy' })
  const file = fileIn('layers.ndjson')
  await snapshot(contextOf(cluster, clock).cx, { toFile: file })
  const saved = await commands(undefined, clock, file)
  expect([saved.overall, saved.layers]).toEqual([live.overall, live.layers])
})

test('-w follows the platform through a window, whose paused pool is expected', async () => {
  const { cluster, clock } = await simulated()
  const { cx, recorded } = contextOf(cluster, clock)
  const stop = new AbortController()
  const watching = status({ ...cx, signal: stop.signal }, { watch: true })
  await clock.sleep(1000)
  await pause(cluster)
  await request(cluster, clock, '4.19')
  const documents = recorded.documents as unknown as StatusDocument[]
  const isPlanned = () => {
    const { overall, layers = [] } = documents.at(-1) ?? {}
    return layers[0]?.verdict === 'Healthy' && overall?.because?.startsWith('InstallPlan')
  }
  for (let waited = 0; waited < 400 && !isPlanned(); waited++) await clock.sleep(30_000)
  stop.abort(interrupted('SIGINT'))
  await expect(watching).rejects.toMatchObject({ exitCode: 130 })
  const platform = documents.map(({ layers = [] }) => layers[0]?.verdict)
  expect(platform.filter((one, index) => one !== platform[index - 1]).slice(0, 3)).toEqual([
    'Healthy',
    'Updating',
    'Healthy',
  ])
  expect(documents.at(-1)).toMatchObject({
    // The catalog of 4.19 has a newer operator: its plan is what somebody has to act on, and the pool is not.
    overall: { verdict: 'Waiting', because: expect.stringMatching(/^InstallPlan: .*v4\.19/u) as string },
    window: { by: 'pools', pools: ['worker'], from: '4.18', at: '4.19' },
  })
  expect(documents.at(-1)?.layers?.find(({ title }) => title === 'pool worker')).toMatchObject({
    verdict: 'Waiting',
    expected: 'during an EUS upgrade',
  })
  expect(recorded.lines.join('\n')).toContain('EUS upgrade running (from 4.18, now at 4.19)')
})

test('night E6: an update that was refused is shown as armed, whoever asked for it', async () => {
  const key = 'ack-4.18-kube-1.32-api-removals-in-4.19'
  const { cluster, clock } = await simulated({ adminGates: { [key]: 'Read what is removed.' } })
  await request(cluster, clock, '4.19')
  await clock.sleep(120_000)
  const found = await commands(cluster, clock)
  expect(found.overall?.verdict).toBe('Waiting')
  expect(found.layers?.[0]).toMatchObject({
    title: 'platform',
    verdict: 'Waiting',
    says: expect.stringMatching(/^OpenShift 4\.18\.21; 4\.19\.\d+ is requested and was refused/u) as string,
    help: [expect.stringContaining('oc adm upgrade --clear')],
  })
})

test('open loans of kvup eus are a window, before any pool waits', async () => {
  const { cluster, clock } = await simulated()
  const pool = await cluster.reader.get(MachineConfigPools, { name: 'worker' })
  if (pool.is !== 'object') throw new Error('no pool')
  const {
    apiVersion,
    kind,
    metadata: { uid = '' },
  } = pool.object
  const override: Override = {
    id: 'pool-paused/worker',
    procedure: 'eus to 4.20',
    object: { apiVersion, kind, name: 'worker', uid },
    path: '/spec/paused',
    was: { present: true, value: false },
    by: 'jane@here',
    at: clock.now().toISOString(),
  }
  await cluster.writer.mergePatch(
    MachineConfigPools,
    { name: 'worker' },
    { metadata: { annotations: noteOf(override) } },
  )
  await pause(cluster)
  const found = await commands(cluster, clock)
  expect(found.window).toMatchObject({ by: 'overrides', at: '4.18' })
  expect(found.overrides?.settings).toHaveLength(1)
})
