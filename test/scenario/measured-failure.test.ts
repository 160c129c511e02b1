import { expect, test } from 'vitest'
import type { Availability } from '../../src/lib/availability/availability.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { exitCode, interrupted } from '../../src/lib/kube/errors.ts'
import { journaledComparison, type RehearsalComparison } from '../../src/lib/upgrade/upgrade-report.ts'
import { readSchema, validate } from '../lib/docs/json-schema.ts'
import type { HistoryDocument } from '../../src/lib/output/views/history.ts'
import { runText } from '../lib/run-text.ts'
import { withVms } from './measured-stage.ts'
import { playAnew, second, type Stage } from './stage.ts'

const rehearsal = {
  kind: 'Rehearsal',
  product: 'KubeVirt',
  from: 'v1.7.0',
  to: 'v1.8.4',
  seed: 7,
  outcome: 'through',
  stages: [
    { name: 'Prepare', begins: 0, takes: 1 },
    { name: 'Operator', begins: 1, takes: 10 },
    { name: 'virt-api', begins: 40, takes: 20 },
  ],
  vms: [],
}

/** How a run ended early, as its document tells it. */
interface Told {
  kind: string
  status: string
  outcome: string
  from: string
  to: string
  steps: readonly { id: string }[]
  accepted: readonly object[]
  availability: Availability
  rehearsal: RehearsalComparison
  error: { code: number; reason: string }
}

const schemas = new Map(
  ['common.json', 'upgrade-report.json', 'history.json'].map((name) => [
    name,
    readSchema('docs/schema', name),
  ]),
)
const wrongIn = (document: object) => validate(document, 'upgrade-report.json', schemas)

test('the journal keeps what was rehearsed and what came true of it in at most 4 kB', () => {
  const stages = Array.from({ length: 200 }, (_, i) => ({
    name: `${i} ${'long '.repeat(100)}`,
    rehearsed: 100_000 + i,
    took: 300_000 + i,
    agrees: i !== 150,
  }))
  const items = Array.from({ length: 5000 }, (_, i) => ({
    namespace: 'n'.repeat(300),
    name: `${i}${'v'.repeat(300)}`,
    rehearsed: 'migrate' as const,
    tried: 'nothing' as const,
  }))
  const vms = { total: 9000, agreed: 4000, open: 0, items }
  const kept = journaledComparison({ seed: 7, outcome: 'through', stages, sameOrder: true, vms })
  expect(JSON.stringify(kept).length).toBeLessThan(4096)
  expect(kept.vms).toMatchObject({ total: 9000, agreed: 4000 })
  expect(kept.stages.filter(({ agrees }) => agrees === false)).toMatchObject([{ rehearsed: 100_150 }])
})

interface Ending {
  flags?: readonly string[]
  /** Switches on what ends it. */
  cause?: (stage: Stage) => void
  /** ms after the version was set. */
  interruptsAfter?: number
}

/** Once, when the version is set: what comes before takes as long as this process needs. */
function whenSet(stage: Stage, act: () => void): void {
  let isSet = false
  stage.simulated.store.watch(KubeVirts, ({ object }) => {
    const { spec } = object as KubeVirt
    if (isSet || spec?.imageTag !== 'v1.8.4') return
    isSet = true
    act()
  })
}

/** `kvup history 1 -o json`, and what it shows. */
async function historyOf({ cluster, clock }: Stage) {
  const place = { cluster, clock }
  const { out } = await runText(['history', '1', '-o', 'json'], place)
  const { out: page } = await runText(['history', '1'], place)
  const document = JSON.parse(out) as HistoryDocument
  expect(validate(document, 'history.json', schemas)).toEqual([])
  return { run: document.runs[0], page }
}

async function endedEarly({ flags = [], cause, interruptsAfter }: Ending) {
  const ran: { code: number; out: string; err: string }[] = []
  let told: Awaited<ReturnType<typeof historyOf>> | undefined
  for (const format of ['table', 'ndjson'])
    await playAnew(withVms, async (stage) => {
      cause?.(stage)
      const stop = new AbortController()
      if (interruptsAfter !== undefined)
        whenSet(stage, () => stage.later(interruptsAfter, () => stop.abort(interrupted('SIGINT'))))
      const line = 'upgrade --to v1.8.4 --yes --measure --rehearsal r.json --accept kubernetes-window=tested'
      ran.push(
        await runText([...line.split(' '), ...flags, '-o', format], {
          cluster: stage.shaky,
          clock: stage.clock,
          signal: stop.signal,
          files: { 'r.json': JSON.stringify(rehearsal) },
        }),
      )
      told = await historyOf(stage)
    })
  const [screen, records] = ran
  const last = JSON.parse(records?.out.trimEnd().split('\n').at(-1) ?? '') as Told
  return { code: records?.code, screen, last, told }
}

const endings: Readonly<Record<string, [Ending, { code: number; outcome: string; reason: string }]>> = {
  SIGINT: [
    { interruptsAfter: 20 * second },
    { code: exitCode.interrupted, outcome: 'interrupted', reason: 'interrupted' },
  ],
  'a stall': [
    {
      flags: ['--stalled-after', '2m'],
      cause: (stage) => stage.simulated.faults.set({ unpullable: 'virt-handler:v1.8.4' }),
    },
    { code: exitCode.timedOut, outcome: 'stalled', reason: 'stalled' },
  ],
  '--timeout': [
    {
      flags: ['--timeout', '3m'],
      cause: (stage) => stage.simulated.faults.set({ stopped: true }),
    },
    { code: exitCode.timedOut, outcome: 'timed-out', reason: 'timed-out' },
  ],
}

test.each(Object.entries(endings))(
  'a run that ends by %s tells what was measured, what came true of its rehearsal, and of which upgrade',
  async (_, [ending, { code, outcome, reason }]) => {
    const { code: ended, screen, last, told } = await endedEarly(ending)
    expect({ ended, screen: screen?.code, err: screen?.err }).toMatchObject({ ended: code, screen: code })
    expect(last).toMatchObject({
      kind: 'UpgradeReport',
      status: 'failed',
      outcome,
      from: 'v1.7.0',
      to: 'v1.8.4',
      accepted: [{ id: 'kubernetes-window', reason: 'tested' }],
      availability: { callsPerMinute: 300, vms: { watched: 2 } },
      rehearsal: { seed: 7 },
      error: { code, reason },
    })
    expect(wrongIn(last)).toEqual([])
    expect(last.availability.calls).toBeGreaterThan(50)
    expect(last.rehearsal.stages.find(({ name }) => name === 'Prepare')?.took).toBeDefined()
    expect(last.rehearsal.stages.find(({ name }) => name === 'virt-api')?.took === undefined).toBe(
      outcome !== 'blocked',
    )
    expect(screen?.out).toMatch(/API (?:available throughout|unavailable for \d+).*; 0 of 2 VMs interrupted/u)
    expect(screen?.out).toMatch(/rehearsal: /u)
    expect(screen?.err).not.toContain('measured:')
    expect(told?.run).toMatchObject({
      rehearsal: { seed: 7, sameOrder: true },
      accepted: [{ id: 'kubernetes-window', by: 'admin@host' }],
    })
    expect(told?.run?.rehearsal).toEqual(last.rehearsal)
    expect(told?.page).toMatch(/^ {2}rehearsal {2}\d of \d stages? took as long as rehearsed/mu)
  },
)
