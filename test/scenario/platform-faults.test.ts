// Updates of a whole platform under each of its faults: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { ClusterVersions, MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import type { OpenShiftFaults } from '../../src/simulator/openshift/platform-context.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { runText } from '../lib/run-text.ts'
import { minute, play, type Stage } from './stage.ts'

const shape = {
  methods: ['LiveMigrate'],
  controlPlanes: 1,
  olm: ocpOlm({ installed: '4.18.9' }),
  openshift: {
    ...ocp418to420,
    pools: [
      { name: 'master', nodes: 1 },
      { name: 'worker', nodes: 2 },
    ],
    topology: 'HighlyAvailable',
  },
} as const
const hop = ['upgrade', '--to', '4.18.13', '--yes', '--timeout', '10m', '--stable-for', '5s']

async function run({ cluster, clock }: Stage, argv: readonly string[]) {
  const { code, out, err } = await runText([...argv], { cluster, clock, files: {} })
  return { code, text: `${out}\n${err}` }
}

/** As somebody else would: to the newest release of the next minor. */
async function updatePlatform(stage: Stage): Promise<void> {
  const { reader, writer } = stage.cluster
  const ref = { name: 'version' }
  await writer.mergePatch(ClusterVersions, ref, { spec: { channel: 'eus-4.20' } })
  await stage.until(2 * minute)
  const found = await reader.get(ClusterVersions, ref)
  const updates = (found.is === 'object' && found.object.status?.availableUpdates) || []
  const next = updates.find(({ version = '' }) => version.startsWith('4.19'))
  if (!next?.version || !next.image) throw new Error('no release of 4.19 is offered')
  const { version, image } = next
  await writer.mergePatch(ClusterVersions, ref, { spec: { desiredUpdate: { version, image } } })
}

interface Row {
  faults: OpenShiftFaults
  /** The platform is being updated meanwhile. */
  updating?: true
  /** Default ten minutes, ms. */
  after?: number
  status: RegExp
  /** What becomes of an operator hop (night E1). */
  upgrade: { code: number; says: RegExp }
}

const goesOn = { code: 0, says: /Operator 4\.18\.13: done(?![\s\S]*waiting for the platform)/u }
const rows: Readonly<Record<string, Row>> = {
  'degradedOperators: told, and no operator hop waits for it': {
    faults: { degradedOperators: ['dns'] },
    status: /operators +x degraded: dns is degraded/u,
    upgrade: goesOn,
  },
  'slowOperators: slower than usual is no failure, and an operator hop waits for the platform': {
    faults: { slowOperators: ['etcd'] },
    updating: true,
    after: 40 * minute,
    status: /expected: slower than usual, not failed\n +waits for etcd/u,
    upgrade: {
      code: 4,
      says: /Prepare: waiting for the platform update to end; the platform is being updated to 4\.19/u,
    },
  },
  'notUpgradeable: shown, and never waited for by an operator hop': {
    faults: { notUpgradeable: [{ operator: 'storage', reason: 'Broken', message: 'a disk is broken' }] },
    status: /no next minor for now: .*a disk is broken/u,
    upgrade: goesOn,
  },
  'undrainableNodes: the pool is degraded, the node named; the master pool is through': {
    faults: { undrainableNodes: ['worker-0'] },
    updating: true,
    after: 120 * minute,
    status: /pool worker +x degraded: .*\n +Node worker-0 is reporting: "failed to drain node: worker-0/u,
    upgrade: goesOn,
  },
  'lostNodes: the pool does not get further, and virt-handler could not roll there': {
    faults: { lostNodes: ['worker-0'] },
    updating: true,
    after: 120 * minute,
    status: /pool worker +> updating: /u,
    upgrade: {
      code: 3,
      says: /worker-0 for \d+ h(?: \d+ m)?. virt-handler cannot be updated there, so the update never ends \(node-ready\)/u,
    },
  },
  'addedPool: it is one of the layers': {
    faults: { addedPool: { name: 'infra', nodes: 1 } },
    status: /pool infra +\+ healthy: 1 of 1 updated/u,
    upgrade: goesOn,
  },
  'rebootTime: it costs time, and the master pool is up to date in the end': {
    faults: { rebootTime: 40 * minute },
    updating: true,
    after: 200 * minute,
    status: /pool master +\+ healthy: 1 of 1 updated/u,
    upgrade: goesOn,
  },
}

test.each(Object.entries(rows))('%s', (_, { faults, updating, after = 10 * minute, status, upgrade }) =>
  play(shape, async (stage) => {
    if (updating) await updatePlatform(stage)
    stage.simulated.faults.set(faults)
    await stage.until(after)
    expect((await run(stage, ['status', '-o', 'wide'])).text).toMatch(status)
    const ended = await run(stage, hop)
    expect(ended.text).toMatch(upgrade.says)
    expect(ended.code).toBe(upgrade.code)
    expect(stage.methods).toEqual(['LiveMigrate'])
  }),
)

test('updatesNotRetrieved: a plan says that no updates are known', () =>
  play({ ...shape, faults: { updatesNotRetrieved: true } }, async (stage) => {
    const { writer } = stage.cluster
    await writer.mergePatch(ClusterVersions, { name: 'version' }, { spec: { channel: 'eus-4.20' } })
    await stage.until(10 * minute)
    const { text } = await run(stage, ['eus', 'plan', '--to', '4.20'])
    expect(text).toContain('(updates-not-retrieved)')
  }))

test('unpausedPools: what somebody had paused is not told as paused any more', () =>
  play(shape, async (stage) => {
    await stage.cluster.writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })
    await stage.until(minute)
    expect((await run(stage, ['status', '-o', 'wide'])).text).toMatch(/pool worker .*paused/u)
    stage.simulated.faults.set({ unpausedPools: ['worker'] })
    await stage.until(minute)
    expect((await run(stage, ['status', '-o', 'wide'])).text).toMatch(
      /pool worker +\+ healthy: 2 of 2 updated$/mu,
    )
  }))
