import { expect, test } from 'vitest'
import { allChecks } from '../../../../src/lib/checks/check-run.ts'
import type { PackageManifest, Subscription } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Known } from '../../../../src/lib/kube/known.ts'
import { besideStable } from '../../../../src/lib/openshift/operator-rules.ts'
import type { StatusReport } from '../../../../src/lib/status/status-report.ts'
import {
  type CheckExample,
  checkExample,
  clusterOf,
  expectedItems,
  judgedExample,
  layered,
} from '../../checks/check-example.ts'
import { runText } from '../../run-text.ts'

async function status(example: CheckExample): Promise<StatusReport> {
  const { out } = await runText(['status', '-o', 'json'], clusterOf(example))
  return JSON.parse(out) as StatusReport
}

const clean = status(layered)

const layersOf = ({ layers = [] }: StatusReport, wanted: string) =>
  layers.filter(({ layer }) => layer === wanted)

/** Each check of the layers above and below KubeVirt, and the layer of `kvup status` that tells the same. */
const rows: readonly (readonly [check: string, layer: string])[] = [
  ['version-in-step', 'hyperconverged'],
  ['hyperconverged-not-good', 'hyperconverged'],
  ['hyperconverged-tainted', 'hyperconverged'],
  ['hyperconverged-methods', 'hyperconverged'],
  ['approval-manual', 'subscription'],
  ['channel-not-in-catalog', 'subscription'],
  ['catalog-not-healthy', 'catalog'],
  ['one-operator-group', 'operator-group'],
  ['operator-held', 'csv'],
  ['platform-not-steady', 'platform'],
  ['platform-not-upgradeable', 'platform'],
  ['cluster-operators-degraded', 'operators'],
  ['pool-degraded', 'pool'],
  ['node-maintenance-old', 'platform'],
]

/** What is read for `kvup check` alone: networks of VMs, alerts and CRDs. */
const ofCheckAlone = ['bridge-networks', 'alerts-firing', 'leftover-stored-versions']

test('every check of a layer has a line in status, or is named here', () => {
  const ofLayers = allChecks.filter(({ layers }) => layers !== undefined).map(({ id }) => id)
  expect([...rows.map(([id]) => id), ...ofCheckAlone].toSorted()).toEqual(ofLayers.toSorted())
})

test('on a clean cluster no layer has a note', async () => {
  const { layers = [], overall } = await clean
  expect(overall).toEqual({ verdict: 'Healthy' })
  expect(layers.filter(({ notes }) => (notes ?? []).length > 0)).toEqual([])
})

test.each(rows)('what %s finds is told by status, of %s', async (check, layer) => {
  const now = await status(checkExample(`${check}/failing.json`))
  const told = layersOf(now, layer)
  expect(told.length).toBeGreaterThan(0)
  expect(told).not.toEqual(layersOf(await clean, layer))
  const [{ findings } = { findings: [] }] = expectedItems(check)
  expect(findings.length).toBeGreaterThan(0)
})

test.each(['version-in-step', 'hyperconverged-tainted', 'hyperconverged-methods', 'node-maintenance-old'])(
  'of %s in the same words, with the first line that helps',
  async (check) => {
    const { layers = [] } = await status(checkExample(`${check}/failing.json`))
    const { document } = await judgedExample(checkExample(`${check}/failing.json`))
    const found = document.items.find(({ id }) => id === check)?.findings[0]
    expect(layers.flatMap(({ notes }) => notes ?? [])).toContain(found?.summary)
    expect(layers.flatMap(({ help }) => help ?? [])).toContain(found?.remedy[0])
  },
)

test('a channel that the catalog does not have is no health: somebody has to act', async () => {
  const { overall, layers = [] } = await status(checkExample('channel-not-in-catalog/failing.json'))
  expect(overall).toMatchObject({ verdict: 'Waiting' })
  expect(layers.find(({ layer }) => layer === 'subscription')).toMatchObject({
    verdict: 'Waiting',
    waitsFor: 'a channel that its catalog has',
  })
})

test('a method that KubeVirt does not know is told of a plain KubeVirt too, and of none that it knows', async () => {
  const { workloads } = await status(checkExample('methods-misspelt/failing.json'))
  expect(workloads.unknownMethods).toEqual(['evict'])
  const place = clusterOf(checkExample('methods-misspelt/failing.json'))
  const { out } = await runText(['status'], place)
  expect(out).toContain('workloadUpdateMethods has evict, which KubeVirt does not know')
  expect((await status({})).workloads).not.toHaveProperty('unknownMethods')
})

const following: Subscription = {
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'Subscription',
  metadata: { name: 'hco', namespace: 'kubevirt-hyperconverged' },
  spec: { name: 'community-kubevirt-hyperconverged', channel: '1.16', source: 'community-operators' },
}
const catalogWith = (...names: string[]): Known<PackageManifest> => ({
  known: true,
  items: [
    {
      apiVersion: 'packages.operators.coreos.com/v1',
      kind: 'PackageManifest',
      metadata: { name: 'community-kubevirt-hyperconverged', namespace: 'kubevirt-hyperconverged' },
      status: { channels: names.map((name) => ({ name })) },
    },
  ],
})

test.each([
  ['has stable', catalogWith('1.16', 'stable'), ' patch '],
  ['is not known', { known: false, why: 'forbidden' } as const, ' patch '],
  ['has no stable', catalogWith('1.16', '1.17'), ' get packagemanifest '],
  ['has its channel alone', catalogWith('1.16'), ' get packagemanifest '],
])(
  'a Subscription beside stable, whose catalog %s, is told the line that works there',
  (_, packageManifests, line) => {
    const subscriptions = { known: true, items: [following] } as const
    const [found] = besideStable({ subscriptions, packageManifests }, 'ocp')
    expect(found?.remedy).toHaveLength(1)
    expect(found?.remedy[0]).toContain(line)
    expect(found?.remedy[0]?.includes('Automatic approval')).toBe(line === ' patch ')
  },
)
