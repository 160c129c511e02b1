import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/kube/clock.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { faultRehearsalsView } from '../../src/lib/output/views/rehearsal.ts'
import { paintFor, printedLine } from '../../src/lib/output/terminal.ts'
import type { FaultRehearsals } from '../../src/lib/rehearsal/rehearsal.ts'
import { twinFaults } from '../../src/lib/rehearsal/twin-faults.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { ocpOlm, okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'rehearse-faults-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Shape = Omit<Simulation, 'clock'>

interface Row {
  shape: Shape
  flags: readonly string[]
  /** What is left behind where it stalls behind its first change. */
  left: readonly string[]
}

const paused = 'automatic VM updates are paused'

const rows: Record<string, Row> = {
  plain: {
    shape: { version: 'v1.8.4', workers: 3, vms: 2, methods: ['LiveMigrate'] },
    flags: ['--to', 'v1.9.0'],
    left: [paused],
  },
  okd: {
    shape: {
      ...scenarioNamed('okd')?.cluster,
      olm: okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' }),
      vms: 2,
    },
    flags: ['--to', '1.18.1'],
    left: [paused],
  },
  'openshift-eus': {
    // The approval is Automatic, so that this is changed for a time as well.
    shape: {
      olm: ocpOlm({ approval: 'Automatic' }),
      openshift: {
        ...ocp418to420,
        pools: [
          { name: 'master', nodes: 1 },
          { name: 'worker', nodes: 2 },
        ],
        healthChecks: [{ kind: 'MachineHealthCheck', name: 'workers', pool: 'worker' }],
        topology: 'HighlyAvailable',
      },
      vms: 2,
      methods: ['LiveMigrate'],
    },
    flags: '--eus --to 4.20 --approval Manual --graph-file graph.json --catalog-file catalog.yaml'.split(' '),
    left: [
      paused,
      'installPlanApproval of Subscription hco-operatorhub is changed',
      'pool worker is paused',
      'MachineHealthCheck workers is paused',
    ],
  },
}

async function saved(name: string, shape: Shape): Promise<string> {
  const clock = new SimClock()
  const sim = await simulate({ ...shape, clock })
  try {
    await clock.sleep(60_000)
    const file = join(folder, `${name}.ndjson`)
    // Modules are loaded and a file is written meanwhile: on a busy machine the cluster would be seen later.
    await clock.during(runText(['snapshot', '--to-file', file], { cluster: sim.cluster(), clock }))
    return file
  } finally {
    await sim.stop()
  }
}

/** What is downloaded of a platform and its catalog. */
const filesOf = ({ olm, openshift }: Shape): Record<string, string> => ({
  ...(openshift && { 'graph.json': servedGraph(openshift) }),
  ...(olm && { 'catalog.yaml': servedCatalog(olm, undefined) }),
})

const restoring = (line: string): string => line.split(/ {5}/u, 1)[0] ?? ''

test.each(Object.entries(rows))(
  '%s: each fault has its verdict, its next line, and a line for all that it leaves',
  async (name, { shape, flags, left }) => {
    const from = await saved(name, shape)
    const place = { cluster: {} as Cluster, clock: systemClock, files: filesOf(shape) }
    const argv = ['rehearse', '--from', from, ...flags, '--faults', 'all', '-o', 'json']
    const { code, out } = await runText(argv, place)
    const document = JSON.parse(out) as FaultRehearsals
    expect({ code, without: document.without }).toMatchObject({ code: 0, without: { outcome: 'through' } })
    expect(document.items.map(({ fault }) => fault)).toEqual(twinFaults.map(({ name: fault }) => fault))
    for (const item of document.items) {
      const { fault, outcome, why, next } = item
      expect({ fault, isNamed: outcome === 'through' || (why?.message ?? '') !== '' }).toEqual({
        fault,
        isNamed: true,
      })
      expect({ fault, lines: next.length > 0 }).toEqual({ fault, lines: true })
      // The end of an EUS upgrade restores all of it.
      const lines = new Set(next.map(restoring))
      const unsaid = item.left.filter(({ restores }) => !lines.has(restores) && !lines.has('kvup eus abort'))
      expect({ fault, unsaid }).toEqual({ fault, unsaid: [] })
    }
    const missing = document.items.find(({ fault }) => fault === 'missing-image')
    expect(missing?.left.map(({ what }) => what)).toEqual(left)
    const paint = paintFor({ colour: false, unicode: true })
    const text = faultRehearsalsView
      .text(document, paint, { columns: 100, wide: false })
      .map(printedLine)
      .join('\n')
    const golden = join(import.meta.dirname, 'rehearsed-faults', `${name}.txt`)
    // The folder has another name each time, of the same length.
    const shown = `${text.replaceAll(/rehearse-faults-\w{6}/gu, 'rehearse-faults-XXXXXX')}\n`
    if (process.env['UPDATE'] === '1') writeFileSync(golden, shown)
    expect(shown).toBe(readFileSync(golden, 'utf8'))
  },
  // Six rehearsals; a machine may have other things to do.
  240_000,
)
