import { describe, expect, test } from 'vitest'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { headAndDetails, stateLines as markedLines } from '../../../src/lib/output/views/cluster-state.ts'
import {
  clusterState,
  noCluster,
  type Judged,
  type StateInputs,
  type StateName,
} from '../../../src/lib/status/cluster-state.ts'
import fixture from './cluster-state.json' with { type: 'json' }

const well = fixture.well as unknown as Judged

/** What is printed of what was read; `next` is null where nothing may be offered. The report of `inputs` tells what differs from one where all is well: null is not there. */
interface Row {
  name: string
  inputs: Omit<StateInputs, 'report'> & { report?: object }
  is: StateName
  back?: string
  next?: string | null
}
const rows = fixture.rows as unknown as readonly Row[]

test.each(rows)('$name', ({ inputs, ...row }) => {
  const { name: _, ...expected } = row
  const report = JSON.parse(
    JSON.stringify({ ...well, ...inputs.report }, (_key, value: unknown) => value ?? undefined),
  ) as Judged
  const state = clusterState({ cluster: 'prod-eu', ...inputs, report })
  expect({ ...state, next: state.next ?? null }).toMatchObject(expected)
  expect(state.back).toBe(expected.back)
})

test('every state has a row, or is that of no cluster', () => {
  const all = new Set<StateName>(['Waiting', 'NoCluster', ...rows.map(({ is }) => is)])
  const names: Record<StateName, true> = {
    NoCluster: true,
    NotInstalled: true,
    Degraded: true,
    Stalled: true,
    Running: true,
    Interrupted: true,
    Updating: true,
    Waiting: true,
    OutOfStep: true,
    CanaryFailed: true,
    MigrationsFailing: true,
    NotChecked: true,
    Healthy: true,
  }
  expect(Object.keys(names).filter((name) => !all.has(name as StateName))).toEqual([])
})

test('no cluster name, no word of one', () => {
  expect(clusterState({ report: well }).headline).toBe('KubeVirt v1.7.4: healthy')
})

const stateLines = (...given: Parameters<typeof markedLines>) => markedLines(...given).map(printedLine)

describe('drawn', () => {
  const paint = paintFor({ colour: false, unicode: true })
  const update = { to: 'v1.8.4', next: 'kvup upgrade --to v1.8.4', details: 'kvup check --to v1.8.4' }
  const offered = clusterState({ report: well, cluster: 'prod-eu', update })

  test('verdict first, then why, then what to type', () => {
    expect(stateLines(offered, paint, { columns: 80 })).toEqual([
      'KubeVirt v1.7.4 on prod-eu: healthy. Update available: v1.8.4',
      '  12 VMs running, none outdated',
      'Next: kvup upgrade --to v1.8.4        Details: kvup check --to v1.8.4',
    ])
  })

  test('on 40 columns nothing is wider, and each command stands alone', () => {
    const lines = stateLines(offered, paint, { columns: 40 })
    expect(lines.filter((line) => line.length > 40)).toEqual([])
    expect(lines).toContain('Next: kvup upgrade --to v1.8.4')
    expect(lines).toContain('Details: kvup check --to v1.8.4')
  })

  test('a command that is too long is broken so that it can be pasted', () => {
    const report: Judged = { ...well, verdict: 'Degraded', why: [fixture.crash as never] }
    const lines = stateLines(clusterState({ report }), paint, { columns: 40 })
    const from = lines.findIndex((line) => line.startsWith('Next:'))
    const command = lines
      .slice(from)
      .map((line) => line.replace(/ \\$/u, '').trim())
      .join(' ')
    expect(command).toBe('Next: kubectl -n kubevirt logs virt-handler-5t5h7 --previous')
    expect(lines.slice(from, -1).every((line) => line.endsWith(' \\'))).toBe(true)
  })

  test('what is longer than the terminal ends with the verdict and the next line, and what is paused', () => {
    const state = {
      is: 'Stalled',
      headline: 'KubeVirt v1.8.4: STALLED for 2 m',
      why: ['one of two that were seen', 'two of two', 'paused 5 m ago: automatic VM updates'],
      next: 'kubectl get pods',
      commands: ['kubectl get events', 'kubectl get nodes'],
    }
    const [verdict, ...rest] = stateLines(state, paint, { columns: 40 })
    expect(verdict).toBe(state.headline)
    expect(rest.slice(-2)).toEqual(['→ kubectl get events', '→ kubectl get nodes'])
    expect(stateLines(state, paint, { columns: 40, rows: 10 })).toHaveLength(7)
    expect(stateLines(state, paint, { columns: 40, rows: 8 })).toEqual([
      '→ kubectl get events',
      '→ kubectl get nodes',
      verdict,
      '  one of two that were seen',
      '  two of two',
      '  paused 5 m ago: automatic VM updates',
      'Next: kubectl get pods',
    ])
    expect(stateLines(state, paint, { columns: 40, rows: 6 }).slice(2)).toEqual([
      verdict,
      '  … 2 more lines in a taller terminal',
      '  paused 5 m ago: automatic VM updates',
      'Next: kubectl get pods',
    ])
  })

  test('details stand below the head, and above it where a terminal would not show both', () => {
    const head = ['head', 'Next: x']
    const details = ['one', 'two']
    expect(headAndDetails(head, details, { columns: 40, rows: 7 })).toEqual([...head, '', ...details])
    expect(headAndDetails(head, details, { columns: 40, rows: 6 })).toEqual([...details, '', ...head])
    expect(headAndDetails(['head'], [], { columns: 40 })).toEqual(['head'])
  })

  test('no cluster: what to type instead', () => {
    expect(stateLines(noCluster('there is no kubeconfig'), paint, { columns: 80 })).toEqual([
      'No cluster: there is no kubeconfig',
      'Next: kvup demo     tries an upgrade on a simulated cluster',
      'Details: kvup --help     lists the commands',
    ])
  })
})
