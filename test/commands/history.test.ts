import { describe, expect, test } from 'vitest'
import { history } from '../../src/commands/history.ts'
import type { HistoryDocument } from '../../src/lib/output/views/history.ts'
import type { Context } from '../../src/context.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
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
  mark: { done: '+', failed: 'x', running: '>', warning: '!', next: '->', dot: '.' },
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

async function answer({ cluster, clock }: { cluster: Cluster; clock: SimClock }, columns = Infinity) {
  const warnings: string[] = []
  const printed: { document: HistoryDocument; lines: readonly string[]; names: readonly string[] }[] = []
  const printer = {
    warn: (text: string) => warnings.push(text),
    result<T extends Document>(document: T, view: View<T>) {
      const lines = view.text(document, paint, { columns, wide: false })
      printed.push({ document: document as unknown as HistoryDocument, lines, names: view.names(document) })
    },
  }
  const world = { who: 'jane@here' }
  await history({ cluster: async () => cluster, clock, printer, world } as unknown as Context)
  expect(printed).toHaveLength(1)
  return { ...printed[0]!, warnings }
}

test('prints the journal and what is still borrowed: age, value and the line that gives it back', async () => {
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
    restore: 'kvup workloads restore',
  })
  expect(document.items).toMatchObject([{ what: 'saved', step: 'workload-updates' }])
  expect(lines[0]).toMatch(/^AT +BY +PROCEDURE +WHAT +STEP +TEXT$/)
  expect(lines.slice(2)).toEqual([
    '',
    '! borrowed 3h ago by jane@here for upgrade to v1.8.4: /spec/workloadUpdateStrategy/workloadUpdateMethods of KubeVirt kubevirt, which was ["LiveMigrate"]',
    '  harmless for days; hotplug waits',
    '  -> kvup workloads restore     # gives it back',
  ])
  expect(names).toEqual([expect.stringMatching(/^entry\//), 'override/workload-updates'])
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
      /is not on KubeVirt kubevirt\/kubevirt .* others can write, says that it was Evict/,
    ),
  ])
})

test('an empty journal is said, not shown as an empty table', async () => {
  const { document, lines } = await answer(await open('kubevirt'))
  expect(document.items).toEqual([])
  expect(lines).toEqual(['kvup has changed nothing here (no journal in namespace kubevirt).'])
})

test('no KubeVirt, or two of them, is exit 3', async () => {
  await expect(answer(await open())).rejects.toMatchObject({ exitCode: 3 })
  await expect(answer(await open('kubevirt', 'other'))).rejects.toMatchObject({ exitCode: 3 })
})

async function threeEntries() {
  const opened = await open('kubevirt')
  const entry = { by: 'jane@laptop.example.org', procedure: 'eus to 4.20' } as const
  const at = '2026-11-22T14:20:27.125Z'
  const step = 'pause-health-check-openshift-machine-api-workers'
  const text = 'set the annotation cluster.x-k8s.io/paused of MachineHealthCheck workers'
  await opened.journal.record({ ...entry, at, step: '', what: 'started', text: '38 steps' })
  await opened.journal.record({ ...entry, at, step, what: 'intends', text })
  await opened.journal.record({ ...entry, at, procedure: 'abort of eus', step, what: 'restored', text })
  return opened
}

describe('on a terminal', () => {
  test('80 columns: what identifies an entry stays, its text goes on below', async () => {
    const { lines } = await answer(await threeEntries(), 80)
    expect(lines).toMatchInlineSnapshot(`
      [
        "eus to 4.20, by jane@laptop.example.org",
        "2026-11-22T14:20:27Z  started   38 steps",
        "2026-11-22T14:20:27Z  intends",
        "                      pause-health-check-openshift-machine-api-workers: set the",
        "                      annotation cluster.x-k8s.io/paused of MachineHealthCheck",
        "                      workers",
        "",
        "abort of eus, by jane@laptop.example.org",
        "2026-11-22T14:20:27Z  restored",
        "                      pause-health-check-openshift-machine-api-workers: set the",
        "                      annotation cluster.x-k8s.io/paused of MachineHealthCheck",
        "                      workers",
      ]
    `)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('40 columns: the same, each in lines of its own', async () => {
    const { lines } = await answer(await threeEntries(), 40)
    const text = lines.join(' ').replaceAll(/ +/gu, ' ')
    for (const told of [
      'eus to 4.20, by jane@laptop',
      'intends pause-health-check-',
      'restored pause-health',
    ])
      expect(text).toContain(told)
    expect(lines.filter((line) => line.length > 40)).toEqual([
      '  pause-health-check-openshift-machine-api-workers:',
      '  pause-health-check-openshift-machine-api-workers:',
    ])
  })

  test('a table as soon as nothing but the text has to be cut', async () => {
    const { lines } = await answer(await threeEntries(), 200)
    expect(lines[0]).toMatch(/^AT +BY +PROCEDURE +WHAT +STEP +TEXT$/)
    expect(lines[2]).toContain('pause-health-check-openshift-machine-api-workers')
  })
})
