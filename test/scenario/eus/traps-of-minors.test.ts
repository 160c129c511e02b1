import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { type BundleShape, ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import type { OpenShiftShape, Release } from '../../../src/simulator/openshift/openshift-shape.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import { patchWorkers } from './meanwhile.ts'
import { doneSteps, eusRunOn, eusStatusOn, platformOf, type Shape } from './window-stage.ts'

/** One release of each minor, and the Kubernetes in it: 4.23 and 5.0 have the same. */
const kubernetes = { '4.23.1': '1.36.0', '5.0.2': '1.36.1', '5.1.2': '1.37.1', '5.2.3': '1.38.0' } as const
const versions = Object.keys(kubernetes) as (keyof typeof kubernetes)[]
const channel = 'eus-5.2'
const graph: readonly Release[] = versions.map((version, i) => ({
  version,
  kubernetes: kubernetes[version],
  image: `quay.io/openshift-release-dev/ocp-release@sha256:${String(i).repeat(64)}`,
  channels: [channel, 'stable-5.0'],
  to: versions.slice(i + 1, i + 2),
}))

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const bundle = (version: string, more: Partial<BundleShape> = {}): BundleShape => ({
  name: csv(version),
  version,
  kubevirt: 'v1.9.0',
  crd: { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' },
  since: version.replace(/\.\d+$/u, ''),
  ...more,
})
const entries = [
  bundle('4.23.1'),
  bundle('5.0.1', { replaces: csv('4.23.1') }),
  bundle('5.1.1', { replaces: csv('5.0.1'), kubevirt: 'v1.9.1' }),
  bundle('5.2.1', { replaces: csv('5.1.1'), kubevirt: 'v1.9.2' }),
]
const olmAt = (installed: string) => ocpOlm({ installed, channels: [{ name: 'stable', entries }] })

const openshiftAt = (version: string): OpenShiftShape => ({
  flavour: 'ocp',
  version,
  channel,
  graph,
  pools: [
    { name: 'master', nodes: 1 },
    { name: 'worker', nodes: 1 },
  ],
  topology: 'HighlyAvailable',
})
const at = (version: string, operator: string): Shape => ({
  methods: ['LiveMigrate'],
  openshift: openshiftAt(version),
  olm: olmAt(operator),
})

const files = { graphFile: 'own.json', catalogFile: 'own.yaml' }
function serveOwn(stage: Stage): void {
  stage.files.set('own.json', servedGraph({ graph }))
  stage.files.set('own.yaml', servedCatalog(olmAt('4.23.1'), '5.2'))
}
function runOn(stage: Stage, options: object = {}, terminal: object = {}): Promise<Ended> {
  serveOwn(stage)
  return eusRunOn(stage, { ...files, ...options }, terminal)
}
async function planOn(stage: Stage, options: object = {}): Promise<Ended & { plan: EusPlanDocument }> {
  serveOwn(stage)
  const ended = await stage.perform((cx) => planEus(cx, { accept: [], ...files, ...options }), {
    commandLine: 'kvup eus plan',
  })
  return { ...ended, plan: ended.documents.at(-1) as unknown as EusPlanDocument }
}

const last = (stage: Stage) => platformOf(stage).status?.history?.[0]

describe('trap 17: version parity is no rule', () => {
  test('kvup goes from 4.23 to 5.0, where the kubelets are of the same Kubernetes as before', () =>
    play(at('4.23.1', '4.23.1'), async (stage) => {
      const ended = await runOn(stage, { to: '5.0' })
      expect(ended.error).toBeUndefined()
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '5.0.2' })
      expect(doneSteps(ended)).toEqual(expect.arrayContaining(['control-plane-5.0', 'rolled-worker']))
    }))

  test('kvup at 5.0, whose Kubernetes is that of 4.23 as well: a pool that is paused and through is no window from there', () =>
    play(at('5.0.2', '5.0.1'), async (stage) => {
      await patchWorkers(stage, { paused: true })
      await stage.until(minute)
      expect((await planOn(stage, { to: '5.2', accept: ['pool-paused-already'] })).plan).toMatchObject({
        began: '5.0',
      })
      expect((await eusStatusOn(stage)).text).not.toContain('4.23')
    }))
})
