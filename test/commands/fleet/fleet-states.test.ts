import { afterAll, beforeAll, expect, test } from 'vitest'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

/** What a cluster can be like, and where it ends by that. */
const shapes: Readonly<Record<string, { is: string; shape: Omit<Simulation, 'clock'> }>> = {
  healthy: { is: 'Healthy', shape: { version: 'v1.7.4', vms: 2 } },
  outdated: { is: 'Healthy', shape: { updatedFrom: 'v1.7.4', version: 'v1.8.4', vms: 3 } },
  'lost-node': { is: 'Stalled', shape: { version: 'v1.7.4', vms: 2, faults: { notReady: ['worker-2'] } } },
  pulling: {
    is: 'Degraded',
    shape: {
      version: 'v1.7.4',
      method: 'image-tag',
      vms: 1,
      faults: { unpullable: '/virt-handler:v1\\.8\\.4$' },
    },
  },
  waiting: {
    is: 'Stalled',
    shape: { version: 'v1.7.4', method: 'image-tag', vms: 1, faults: { stopped: true } },
  },
}

let stage: FleetStage
beforeAll(async () => {
  stage = await fleetStage(Object.keys(shapes), (name) => shapes[name]?.shape ?? {}, 60)
  await Promise.all(['pulling', 'waiting'].map((name) => toNewer(stage, name)))
})
afterAll(() => stage.stop())

async function toNewer(on: FleetStage, name: string): Promise<void> {
  const { writer } = on.cluster(name).cluster.cluster()
  const place = { name: 'kubevirt', namespace: 'kubevirt' }
  await writer.mergePatch(KubeVirts, place, { spec: { imageTag: 'v1.8.4' } })
}

interface Status {
  state: { is: string; next?: string }
  verdict?: string
  overall?: { verdict: string }
  observed?: { version?: string }
  workloads: { instances?: number; outdated: { labelled?: number } }
}

/** Of a document of `kvup status` what a row of the fleet has. */
const asRow = ({ state, verdict, overall, observed, workloads }: Status) => ({
  state: state.is,
  verdict: overall?.verdict ?? verdict,
  version: observed?.version,
  vms: workloads.instances,
  outdated: workloads.outdated.labelled,
})

type Row = ReturnType<typeof asRow> & { name: string; next?: string }

async function rowsOf(on: FleetStage): Promise<readonly Row[]> {
  const { stdout } = await on.run(['fleet', 'status', '--contexts', '*', '-o', 'json'])
  return (JSON.parse(stdout) as { items: readonly Row[] }).items
}

async function alone(on: FleetStage, name: string): Promise<Status> {
  const { stdout } = await on.run(['status', '--context', name, '-o', 'json'])
  return JSON.parse(stdout) as Status
}

const judged = ({ state, verdict, version, vms, outdated }: Row) => ({
  state,
  verdict,
  version,
  vms,
  outdated,
})

test('whatever a cluster is like, its row says what kvup status says', async () => {
  const single: Record<string, unknown> = {}
  for (const [name, { is }] of Object.entries(shapes)) {
    await expect
      .poll(async () => (await alone(stage, name)).state.is, { timeout: 40_000, interval: 500 })
      .toBe(is)
    single[name] = asRow(await alone(stage, name))
  }
  const rows = await rowsOf(stage)
  expect(Object.fromEntries(rows.map((row) => [row.name, judged(row)]))).toEqual(single)
}, 180_000)

test('a line to type names the cluster that it is for', async () => {
  const lines = (await rowsOf(stage)).flatMap(({ name, next }) =>
    next === undefined || !next.startsWith('kvup ') ? [] : [{ name, next }],
  )
  for (const { name, next } of lines) expect(next).toContain(`--context ${name}`)
})

test('-w prints what changes, and ends with Ctrl-C as kvup status -w does', async () => {
  const own = await fleetStage(['a', 'b'], () => ({ version: 'v1.7.4', method: 'image-tag', vms: 1 }), 1)
  try {
    const running = own.start(['fleet', 'status', '-w', '--contexts', 'a,b'])
    await running.until(/2 clusters: 2 healthy/, 'stdout')
    await toNewer(own, 'a')
    await running.until(/2 clusters: 1 updating, 1 healthy/, 'stdout')
    expect((await rowsOf(own)).map(judged)).toEqual([
      asRow(await alone(own, 'a')),
      asRow(await alone(own, 'b')),
    ])
    running.kill('SIGINT')
    const { code, stderr } = await running.ended
    expect({ code, stderr }).toEqual({ code: 130, stderr: expect.not.stringContaining('bug') as string })
  } finally {
    await own.stop()
  }
})
