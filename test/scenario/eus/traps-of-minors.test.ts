import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { type BundleShape, ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import type { OpenShiftShape, Release } from '../../../src/simulator/openshift/openshift-shape.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import { after, patchPlatform, patchWorkers, writesTo } from './meanwhile.ts'
import {
  borrowedFields,
  doneSteps,
  eusRunOn,
  eusStatusOn,
  platformOf,
  type Shape,
  small418,
} from './window-stage.ts'

/** One release of each minor, and the Kubernetes in it: 4.23 and 5.0 have the same. */
const kubernetes: Readonly<Record<string, string>> = {
  '4.21.3': '1.34.2',
  '4.22.4': '1.35.1',
  '4.23.1': '1.36.0',
  '5.0.2': '1.36.1',
  '5.1.2': '1.37.1',
  '5.2.3': '1.38.0',
  '5.3.1': '1.39.0',
  '5.4.1': '1.40.0',
  '5.5.1': '1.41.0',
  '5.6.1': '1.42.0',
}
const versions = Object.keys(kubernetes)
const channel = 'eus-5.2'
const graph: readonly Release[] = versions.map((version, i) => ({
  version,
  kubernetes: kubernetes[version] ?? '',
  image: `quay.io/openshift-release-dev/ocp-release@sha256:${String(i).repeat(64)}`,
  channels: ['eus-4.22', 'eus-4.23', 'eus-5.2', 'eus-5.5', 'stable-4.23', 'stable-5.0', 'stable-5.6'],
  to: version === '4.22.4' ? ['4.23.1', '5.0.2'] : versions.slice(i + 1, i + 2),
}))

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const bundle = (version: string, more: Partial<BundleShape>): BundleShape => ({
  name: csv(version),
  version,
  kubevirt: 'v1.9.0',
  crd: { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' },
  since: version.replace(/\.\d+$/u, ''),
  ...more,
})
const entries = [
  bundle('4.21.1', { kubevirt: 'v1.7.4' }),
  bundle('4.22.1', { kubevirt: 'v1.8.4', replaces: csv('4.21.1') }),
  bundle('4.23.1', { replaces: csv('4.22.1'), until: '4.23' }),
  bundle('5.0.1', { replaces: csv('4.22.1'), skips: [csv('4.23.1')] }),
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
  stage.files.set('own.yaml', servedCatalog(olmAt('4.22.1'), '5.2'))
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

const minors = ({ plan }: { plan: EusPlanDocument }) => plan.hops.map(({ minor }) => minor)
const last = (stage: Stage) => platformOf(stage).status?.history?.[0]
const said = (stage: Stage, type: string) => condition(platformOf(stage), type)

/** A tool that counts: the next minor is one more, and every pool but master stays behind. */
async function hop(stage: Stage, version: string, more: object = {}): Promise<void> {
  const image = graph.find((release) => release.version === version)?.image ?? null
  await patchPlatform(stage, { desiredUpdate: { version, image, ...more } })
  await stage.until(75 * minute)
}

const skew = /KubeletMinorVersionUnsupportedNextUpgrade/u

describe('trap 17: version parity is no rule', () => {
  test('naively, from even to even over the odd one: 4.22 leads to 4.23, and there is no 4.24; pools wait there', () =>
    play({ openshift: openshiftAt('4.22.4') }, async (stage) => {
      await patchWorkers(stage, { paused: true })
      await hop(stage, '4.23.1')
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.23.1' })
      await hop(stage, '4.24.0')
      expect(said(stage, 'Invalid')?.status).toBe('True')
      expect(last(stage)?.version).toBe('4.23.1')
    }))

  test('naively, 4.23 has extended support, so that pools of 4.21 may wait for it: refused; forced, they are too far behind', () =>
    play({ openshift: openshiftAt('4.21.3') }, async (stage) => {
      await patchWorkers(stage, { paused: true })
      await hop(stage, '4.22.4')
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '4.22.4' })
      await hop(stage, '4.23.1')
      expect(last(stage)?.version).toBe('4.22.4')
      expect(said(stage, 'ReleaseAccepted')?.message).toMatch(skew)
      await hop(stage, '4.23.1', { force: true })
      expect(last(stage)?.version).toBe('4.23.1')
      expect(said(stage, 'Upgradeable')?.reason).toBe('KubeletMinorVersion_KubeletMinorVersionUnsupported')
    }))

  test('naively, from 5.4 to 5.6, both even: pools of 5.4 keep the platform at 5.5', () =>
    play({ openshift: { ...openshiftAt('5.4.1'), channel: 'stable-5.6' } }, async (stage) => {
      await patchWorkers(stage, { paused: true })
      await hop(stage, '5.5.1')
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '5.5.1' })
      await hop(stage, '5.6.1')
      expect(last(stage)?.version).toBe('5.5.1')
      expect(said(stage, 'ReleaseAccepted')?.message).toMatch(skew)
    }))

  test('kvup refuses the window from 4.21 to 4.23 before it pauses anything, and says how far pools may wait', () =>
    play(at('4.21.3', '4.21.1'), async (stage) => {
      const ended = await runOn(stage, { to: '4.23' })
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toContain('a control plane of 4.23 does not support kubelets of 4.21')
      expect(ended.text).toContain('kvup eus plan --to 4.22')
      expect(stage.writes()).toEqual([])
    }))

  test('kvup takes 4.23 for one hop from 4.22, and 5.0 for the way to 5.2', () =>
    play(at('4.22.4', '4.22.1'), async (stage) => {
      const next = await planOn(stage)
      expect(next.plan).toMatchObject({ mode: 'rolling', to: '4.23' })
      expect(minors(next)).toEqual(['4.23'])
      const far = await planOn(stage, { to: '5.2' })
      expect(far.plan).toMatchObject({ mode: 'control-plane-only', to: '5.2' })
      expect(minors(far)).toEqual(['5.0', '5.1', '5.2'])
    }))

  test('kvup takes the pools of 4.22 over 5.0 and 5.1 to 5.2 in one window: each node reboots once', () =>
    play(at('4.22.4', '4.22.1'), async (stage) => {
      const before = borrowedFields(stage)
      const ended = await runOn(stage, { to: '5.2' })
      expect(ended.error).toBeUndefined()
      expect(last(stage)).toMatchObject({ state: 'Completed', version: '5.2.3' })
      expect(doneSteps(ended).filter((id) => id.startsWith('rolled-'))).toEqual(['rolled-worker'])
      expect(borrowedFields(stage)).toEqual(before)
      expect(await stage.journal.overrides()).toEqual([])
    }))

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

  /** The cluster says no where every table says yes. */
  const atItsLimit = {
    notUpgradeable: [
      {
        operator: 'kube-apiserver',
        reason: 'KubeletMinorVersion_KubeletMinorVersionUnsupportedNextUpgrade',
        message: 'KubeletMinorVersionUpgradeable: Kubelet version (1.31.7) on node worker-0 is not supported',
      },
    ],
  }

  test('kvup goes by the word of the cluster where it says no to a minor that parity and table allow', () =>
    play(small418, async (stage) => {
      const onEvent = after('operator-4.19', () => stage.simulated.faults.set(atItsLimit))
      await eusRunOn(stage, { until: 'operator-4.19' }, { onEvent })
      await stage.until(2 * minute)
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended.code).not.toBe(0)
      expect(ended.text).toContain('on node worker-0 is not supported')
      expect(writesTo(stage, 'clusterversions', mark)).toEqual([])
      expect(last(stage)?.version).toBe('4.19.14')
      stage.simulated.faults.set({ notUpgradeable: undefined })
      await stage.until(2 * minute)
      expect(await eusRunOn(stage, { until: 'accepted-4.20' })).toMatchObject({ code: 0 })
      expect(last(stage)?.version).toBe('4.20.5')
    }))
})
