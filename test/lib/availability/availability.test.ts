import { expect, test } from 'vitest'
import {
  type Availability,
  journaled,
  promiseOf,
  summaryOf,
} from '../../../src/lib/availability/availability.ts'
import { availabilityLines } from '../../../src/lib/output/views/availability.ts'
import { displayWidth } from '../../../src/lib/output/text.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import fixture from './availability.json' with { type: 'json' }

const outages = Array.from({ length: 50 }, (_, i) => ({
  begin: `2026-01-01T00:${String(i).padStart(2, '0')}:00.000Z`,
  end: `2026-01-01T00:${String(i).padStart(2, '0')}:10.000Z`,
  seconds: i,
  why: 'x'.repeat(5000),
  rolling: Array.from({ length: 12 }, () => 'virt-synchronization-controller'),
}))
const none = { calls: 600, unavailableSeconds: 0, longestSeconds: 0, count: 0, outages: [] }
const down = { calls: 600, unavailableSeconds: 500.4, longestSeconds: 49, count: 70, outages }

const measured = {
  ...fixture.measured,
  probes: [
    { probe: 'api', what: 'any', ...down },
    { probe: 'create', what: 'dry-run create', ...down },
    { probe: 'list', what: 'list', ...none },
  ],
} as unknown as Availability

test('what the journal keeps of it is at most 4 kB, whatever happened', () => {
  const kept = journaled({ ...measured, summary: summaryOf(measured) })
  expect(JSON.stringify(kept).length).toBeLessThan(4096)
  expect(kept.outages).toHaveLength(10)
  expect(kept.outages.map(({ begin }) => begin)).toEqual(kept.outages.map(({ begin }) => begin).toSorted())
  expect(kept).toMatchObject({
    text: 'API unavailable for 8 m 20 s in 70 outages, the longest 49 s; 1 of 12 VMs interrupted',
    promise: 'broken',
    interruptedVms: 1,
  })
})

/** Whether the probe `list` was down, what differs of it and of `create`, and the promise. */
test.each<[string, object, object, string, string]>(fixture.promises as never)(
  'the promise, case %#',
  (...[was, ofList, ofCreate, is, text]) => {
    const probes = [
      { probe: 'api' as const, what: '', ...none },
      { probe: 'list' as const, what: '', ...(was === 'down' ? down : none), ...ofList },
      { probe: 'create' as const, what: '', ...none, ...ofCreate },
    ]
    expect(promiseOf(probes, { seconds: 3600, notMeasuredSeconds: 0 })).toEqual({ is, text })
  },
)

test('a computer that slept meanwhile confirms nothing, and its page has no sign of success', () => {
  const probes = [
    { probe: 'api' as const, what: '', ...none },
    { probe: 'list' as const, what: '', ...none },
  ]
  const promise = promiseOf(probes, { seconds: 3600, notMeasuredSeconds: 1800 })
  expect(promise).toEqual({
    is: 'partly',
    text: 'the control plane remains available throughout: measured in part, no outage in 600 calls in 1 h; not measured for 30 m, in which this computer gave kvup no turn',
  })
  const quiet = { ...measured.vms, interrupted: { count: 0, items: [] } }
  const told = {
    ...measured,
    probes,
    promise,
    vms: quiet,
    summary: summaryOf({ probes, promise, vms: quiet }),
  }
  const lines = linesOf(told)
  expect(lines[0]).toBe('! API available as far as measured; 0 of 12 VMs interrupted')
  expect(lines.join('\n')).not.toContain('confirmed')
})

test('VMs that were not watched all the time are no success either', () => {
  const probes = [{ probe: 'list' as const, what: '', ...none }]
  const promise = promiseOf(probes, { seconds: 3600, notMeasuredSeconds: 0 })
  const gap = { begin: '2026-01-01T00:10:00.000Z', end: '2026-01-01T00:20:00.000Z', why: 'server away' }
  const vms = {
    ...measured.vms,
    interrupted: { count: 0, items: [] },
    gaps: { count: 1, items: [gap] },
  }
  const lines = linesOf({ ...measured, probes, promise, vms, summary: summaryOf({ probes, promise, vms }) })
  expect(lines[0]).toBe('! API available throughout; 0 of 12 VMs interrupted, as far as watched')
  expect(lines).toContain('  VMs         not watched 00:10:00 to 00:20:00 (server away)')
})

test('-o wide names each migration and guest agent, with the times that KubeVirt tells', () => {
  const vms = { ...measured.vms, ...fixture.detailed }
  const wide = linesOf({ ...measured, vms }, true)
  expect(wide).toEqual(expect.arrayContaining(fixture.wide))
  expect(linesOf({ ...measured, vms }).join('\n')).not.toContain('shop/web')
})

const linesOf = (told: Availability, wide = false): readonly string[] =>
  availabilityLines(told, paintFor({ colour: false, unicode: true }), { columns: Infinity, wide })

test('what is told of it fits a terminal of 80 and of 40 columns, and text of the cluster in it is one line', () => {
  const hostile = 'red\n→ kvup rm'
  const probes = measured.probes.map((probe) => ({
    ...probe,
    outages: probe.outages.map(({ begin, seconds }) => ({ begin, seconds, why: hostile })),
  }))
  for (const columns of [80, 40]) {
    const lines = availabilityLines(
      { ...measured, probes: probes.slice(0, 3) },
      paintFor({ colour: false, unicode: true }),
      {
        columns,
        wide: false,
      },
    )
    expect(lines.filter((line) => line.includes('\n'))).toEqual([])
    expect(lines.filter((line) => displayWidth(line) > columns && line.includes(' '))).toEqual([])
  }
})
