import { ownMark, printedLine } from '../../src/lib/output/terminal.ts'
import { describe, expect, test } from 'vitest'
import { history, type HistoryOptions } from '../../src/commands/history.ts'
import type { HistoryDocument } from '../../src/lib/output/views/history.ts'
import type { Context } from '../../src/context.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ConfigMaps, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Entry } from '../../src/lib/engine/journal.ts'
import type { Document, Paint, View } from '../../src/lib/output/printer.ts'
import { configMapJournal } from '../../src/lib/engine/journal-config-map.ts'
import { noteOf } from '../../src/lib/engine/overrides.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { Store } from '../../src/simulator/api/store.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'

const plain = (text: string) => text
const paint: Paint = {
  good: plain,
  bad: plain,
  warn: plain,
  dim: plain,
  strong: plain,
  mark: { done: '+', failed: 'x', running: '>', warning: '!', next: `${ownMark}->`, to: '->', dot: '.' },
  bar: () => '',
}

async function open(...namespaces: string[]) {
  const clock = new SimClock()
  const store = new Store(clock)
  const cluster = storeCluster(store)
  for (const namespace of namespaces) {
    await cluster.writer.create(Namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    const { apiVersion, kind } = KubeVirts
    await cluster.writer.create(KubeVirts, { apiVersion, kind, metadata: { name: 'kubevirt', namespace } })
  }
  return {
    clock,
    cluster,
    store,
    journal: configMapJournal(cluster, { namespace: 'kubevirt', who: 'jane@here', clock }),
  }
}

async function answer(
  { cluster, clock }: { cluster: Cluster; clock: SimClock },
  { columns = Infinity }: { columns?: number } = {},
  options: HistoryOptions = {},
  run?: string,
) {
  const warnings: string[] = []
  const printed: { document: HistoryDocument; lines: readonly string[]; names: readonly string[] }[] = []
  const printer = {
    warn: (text: string) => warnings.push(text),
    result<T extends Document>(document: T, view: View<T>) {
      const lines = view.text(document, paint, { columns, wide: false }).map(printedLine)
      printed.push({ document: document as unknown as HistoryDocument, lines, names: view.names(document) })
    },
  }
  const world = { who: 'jane@here' }
  await history({ cluster: async () => cluster, clock, printer, world } as unknown as Context, options, run)
  expect(printed).toHaveLength(1)
  return { ...printed[0]!, warnings }
}

test('says first what still has to be restored: age, value and the line that restores it; then the runs', async () => {
  const opened = await open('kubevirt')
  const ref = { name: 'kubevirt', namespace: 'kubevirt' }
  const uid = opened.store.read(KubeVirts, ref)?.metadata.uid ?? ''
  const override = await opened.journal.override({
    id: 'workload-updates',
    procedure: 'upgrade to v1.8.4',
    object: {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      namespace: 'kubevirt',
      name: 'kubevirt',
      uid,
    },
    path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
    was: { present: true, value: ['LiveMigrate'] },
    by: 'jane@here',
    at: opened.clock.now().toISOString(),
    harmless: 'for days; hotplug waits',
  })
  await opened.cluster.writer.mergePatch(KubeVirts, ref, { metadata: { annotations: noteOf(override) } })
  await opened.clock.sleep(3 * 3_600_000)
  const writes = opened.store.audit.length
  const { document, lines, names } = await answer(opened)
  expect(document).toMatchObject({
    kind: 'History',
    namespace: 'kubevirt',
    restore: 'kvup workloads resume-updates',
  })
  expect(document.items).toMatchObject([{ what: 'saved', step: 'workload-updates' }])
  expect(lines.slice(0, 5)).toEqual([
    '! Temporary change by jane@here, 3 h ago: automatic VM updates paused (was LiveMigrate)',
    '  harmless for days; hotplug waits',
    '  -> kvup workloads resume-updates     # restores it',
    '',
    expect.stringMatching(/^RUN +STARTED +BY +WHAT +RESULT +TOOK +NOTE$/),
  ])
  expect(names).toEqual(['run/1', expect.stringMatching(/^entry\//), 'override/workload-updates'])
  expect(opened.store.audit.slice(writes).map(({ verb }) => verb)).not.toContain('patch')
})

test('what the journal claims and no object says is no loan: it is told as that', async () => {
  const opened = await open('kubevirt')
  const uid = opened.store.read(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' })?.metadata.uid ?? ''
  await opened.journal.override({
    id: 'workload-updates',
    procedure: 'upgrade to v1.8.4',
    object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace: 'kubevirt', name: 'kubevirt', uid },
    path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
    was: { present: true, value: ['Evict'] },
    by: 'jane@here',
    at: opened.clock.now().toISOString(),
  })
  const { document, warnings } = await answer(opened)
  expect(document.overrides).toEqual([])
  expect(document.restore).toBeUndefined()
  expect(warnings).toEqual([
    expect.stringMatching(
      /is no longer on KubeVirt kubevirt\/kubevirt.*\(others can write it\) has the value Evict/,
    ),
  ])
})

test('an empty journal is said, not shown as an empty table', async () => {
  const { document, lines } = await answer(await open('kubevirt'))
  expect(document.items).toEqual([])
  expect(lines).toEqual(['No run of kvup is recorded in namespace kubevirt.'])
})

test('no KubeVirt, or two of them, is exit 3', async () => {
  await expect(answer(await open())).rejects.toMatchObject({ exitCode: 3 })
  await expect(answer(await open('kubevirt', 'other'))).rejects.toMatchObject({ exitCode: 3 })
})

const at = (time: string) => `2026-11-22T${time}.125Z`

async function recorded() {
  const opened = await open('kubevirt')
  const run = { by: 'jane@laptop.example.org', procedure: 'eus to 4.20' } as const
  const step = 'pause-health-check-openshift-machine-api-workers'
  const text = 'set the annotation cluster.x-k8s.io/paused of MachineHealthCheck workers'
  const was = '/metadata/annotations/cluster.x-k8s.io~1paused of MachineHealthCheck workers, which was absent'
  const entries: Partial<Entry>[] = [
    { at: at('14:20:27'), what: 'started', text: '38 steps', from: '4.18', to: '4.20' },
    { at: at('14:20:28'), what: 'accepted', step: 'no-room', text: 'accepted: tonight', user: 'jane' },
    { at: at('14:20:29'), what: 'intends', step, text },
    { at: at('14:20:30'), what: 'saved', step: 'health-check', text: was },
    { at: at('14:20:41'), what: 'applied', step, text },
    { at: at('14:21:00'), what: 'interrupted', step: 'gate-4.19', text: 'interrupted by SIGINT' },
    { at: at('15:00:00'), what: 'started', text: '37 steps', from: '4.18', to: '4.20' },
    { at: at('15:00:02'), what: 'intends', step: 'gate-4.19', text: 'ask for 4.19' },
    { at: at('15:00:03'), what: 'failed', step: 'gate-4.19', text: 'ask for 4.19: denied' },
    { at: at('15:00:04'), what: 'failed', step: 'gate-4.19', text: 'the server says no' },
    { at: at('16:00:00'), what: 'started', text: '37 steps', from: '4.18', to: '4.20' },
    { at: at('16:00:02'), what: 'intends', step: 'gate-4.19', text: 'ask for 4.19' },
  ]
  for (const entry of entries) await opened.journal.record({ step: '', text: '', ...run, ...entry } as Entry)
  return opened
}

describe('on a terminal', () => {
  test('a line per run, the newest first', async () => {
    const { lines, names } = await answer(await recorded(), { columns: 120 })
    expect(lines).toMatchInlineSnapshot(`
      [
        "RUN   STARTED        BY                        WHAT                      RESULT        TOOK",
        "3     22 Nov 16:00   jane@laptop.example.org   EUS upgrade 4.18 → 4.20   cut off       2 s",
        "  continued run 2; after gate-4.19",
        "2     22 Nov 15:00   jane@laptop.example.org   EUS upgrade 4.18 → 4.20   failed        4 s",
        "  continued run 1; at gate-4.19: the server says no",
        "1     22 Nov 14:20   jane@laptop.example.org   EUS upgrade 4.18 → 4.20   interrupted   33 s",
        "  accepted no-room ("tonight"); at gate-4.19",
      ]
    `)
    expect(names.slice(0, 3)).toEqual(['run/1', 'run/2', 'run/3'])
  })

  test.each([80, 40])(
    '%d columns: where the table has no room each run has lines of its own',
    async (columns) => {
      const { lines } = await answer(await recorded(), { columns })
      expect(lines.filter((line) => line.length > columns)).toEqual([])
      const text = lines.join(' ').replaceAll(/ +/gu, ' ')
      expect(text).toContain('2 EUS upgrade 4.18 → 4.20: failed, 4 s 22 Nov 15:00 by jane@laptop.example.org')
      expect(text).toContain('accepted no-room ("tonight"); at gate-4.19')
    },
  )

  test('one run in words: times, what was changed, old values, accepted risks, result', async () => {
    const { lines, document } = await answer(await recorded(), { columns: 120 }, {}, '1')
    expect(lines).toMatchInlineSnapshot(`
      [
        "Run 1: EUS upgrade 4.18 → 4.20: interrupted, 33 s",
        "  started    2026-11-22T14:20:27.125Z by jane@laptop.example.org",
        "  ended      2026-11-22T14:21:00.125Z",
        "  continued  by run 2",
        "  result     at gate-4.19: interrupted by SIGINT",
        "  accepted   no-room by API user jane: tonight",
        "",
        "TIME       STEP                                               WHAT",
        "14:20:30   health-check                                       old value saved: cluster.x-k8s.io/paused of",
        "                                                              MachineHealthCheck workers was absent",
        "14:20:41   pause-health-check-openshift-machine-api-workers   set the annotation cluster.x-k8s.io/paused of",
        "                                                              MachineHealthCheck workers (12 s)",
      ]
    `)
    expect(document.runs.map(({ run }) => run)).toEqual([1])
    expect(new Set(document.items.map(({ run }) => run))).toEqual(new Set([1]))
  })

  test.each([
    ['2', 'refused: ask for 4.19: denied'],
    ['2', 'result     at gate-4.19: the server says no'],
    ['1', 'continued  by run 2'],
    ['2', 'continued  run 1'],
    ['3', 'ask for 4.19 (not known whether it was done)'],
    ['3', 'cut off, 2 s'],
  ])('run %s says: %s', async (run, said) => {
    const { lines } = await answer(await recorded(), { columns: 120 }, {}, run)
    expect(lines.join('\n')).toContain(said)
  })
})

test('a run that only finished what another had begun says so', async () => {
  const opened = await open('kubevirt')
  const run = { by: 'jane@here', procedure: 'upgrade to v1.8.4', step: '', text: '' }
  await opened.journal.record({ ...run, what: 'started', at: '2026-11-22T14:01:00Z' })
  await opened.journal.record({ ...run, what: 'interrupted', at: '2026-11-22T14:02:00Z' })
  const later = { ...run, text: 'nothing to change' }
  await opened.journal.record({ ...run, what: 'started', at: '2026-11-22T14:03:00Z' })
  await opened.journal.record({ ...later, what: 'finished', at: '2026-11-22T14:04:00Z' })
  const { lines } = await answer(opened, { columns: 120 }, {}, '2')
  expect(lines).toContain('  result     finished run 1: nothing was left to change')
  expect(lines.at(-1)).toMatch(/ done: finished run 1: nothing was left to change$/u)
  await opened.journal.record({ ...run, what: 'started', at: '2026-11-22T14:05:00Z' })
  await opened.journal.record({ ...later, what: 'finished', at: '2026-11-22T14:06:00Z' })
  const third = await answer(opened, { columns: 120 }, {}, '3')
  expect(third.lines.at(-1)).toMatch(/ done: nothing to change$/u)
})

const runsOf = async (options: HistoryOptions, opened = recorded()) =>
  (await answer(await opened, { columns: 120 }, options)).document.runs.map(({ run }) => run)

async function many() {
  const opened = await open('kubevirt')
  const run = { by: 'jane@here', procedure: 'upgrade to v1.8.4', step: '', text: '' }
  for (let n = 1; n <= 14; n++)
    for (const what of ['started', 'finished'] as const)
      await opened.journal.record({ ...run, what, at: `2026-11-22T14:${String(n).padStart(2, '0')}:00Z` })
  return opened
}

test.each([
  ['watch workload updates', 'watch automatic VM updates'],
  ['restart VMs', 'restart VMs'],
  ['upgrade HyperConverged to 1.19.0', 'upgrade HyperConverged 1.18.1 → 1.19.0'],
  ['abort eus to 4.20', 'abort of the EUS upgrade to 4.20'],
])('%s reads: %s', async (procedure, reads) => {
  const opened = await open('kubevirt')
  const versions = procedure.startsWith('upgrade') ? { from: '1.18.1', to: '1.19.0' } : {}
  const start = { at: at('14:00:00'), by: 'jane@here', procedure, step: '', text: '', ...versions }
  await opened.journal.record({ ...start, what: 'started' })
  expect((await answer(opened, { columns: 120 })).lines[1]).toContain(`  ${reads}  `)
})

describe('of many runs', () => {
  test('--limit takes the newest, --since those that started since', async () => {
    expect(await runsOf({ limit: 1 })).toEqual([3])
    expect(await runsOf({ since: '2026-11-22T15:00:00Z' })).toEqual([2, 3])
    expect(await runsOf({ since: '2026-11-23' })).toEqual([])
    await expect(runsOf({ since: 'yesterday' })).rejects.toMatchObject({ exitCode: 2 })
  })

  test('--since counts from now, in the time of the cluster', async () => {
    const opened = await open('kubevirt')
    const run = { by: 'jane@here', procedure: 'upgrade to v1.8.4', step: '', text: '' }
    await opened.journal.record({ ...run, what: 'started', at: opened.clock.now().toISOString() })
    await opened.clock.sleep(2 * 3_600_000)
    await opened.journal.record({ ...run, what: 'started', at: opened.clock.now().toISOString() })
    await opened.clock.sleep(1_800_000)
    expect(await runsOf({ since: '1h' }, Promise.resolve(opened))).toEqual([2])
    expect(await runsOf({ since: '1d' }, Promise.resolve(opened))).toEqual([1, 2])
  })

  test('--since may look back for longer than anything is waited for', async () => {
    expect(await runsOf({ since: '400d' })).toEqual([1, 2, 3])
  })

  test('a terminal shows the last ten, and the line that shows the others; a document has all', async () => {
    const { lines, document } = await answer(await many(), { columns: 120 })
    expect(document.runs).toHaveLength(14)
    expect(lines).toHaveLength(13)
    expect(lines.at(-1)).toBe('4 older runs: kvup history --limit 14')
    expect((await answer(await many(), { columns: 120 }, { limit: 14 })).lines).toHaveLength(15)
  })

  test('a run that is not there is exit 2, and says which are', async () => {
    await expect(answer(await recorded(), {}, {}, '9')).rejects.toMatchObject({
      exitCode: 2,
      message: 'no run 9 is recorded: the journal has runs 1 to 3',
    })
  })
})

test('a journal of an earlier kvup is read, and its runs are numbered', async () => {
  const opened = await open('kubevirt')
  const entry = { at: '2026-11-22T14:20:27Z', by: 'jane@here', procedure: 'upgrade to v1.8.4', text: 'x' }
  const old = [
    { ...entry, step: '', what: 'started' },
    { ...entry, step: 'hold-workload-updates', what: 'borrowed' },
    { ...entry, step: '', what: 'finished' },
  ]
  await opened.cluster.writer.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kvup-journal', namespace: 'kubevirt' },
    data: { entries: old.map((one) => `${JSON.stringify(one)}\n`).join('') },
  })
  const { lines } = await answer(opened, { columns: 120 })
  expect(lines[1]).toMatch(/^1 +22 Nov 14:20 +jane@here +upgrade to v1\.8\.4 +done/)
  expect((await answer(opened, { columns: 120 }, {}, '1')).lines.join('\n')).toContain(
    'hold-workload-updates',
  )
})
