import { describe, expect, test } from 'vitest'
import { Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import { builtIn } from '../../../src/simulator/api/kinds/sim-kind.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { type BundleShape, ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, type Release } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { minute, play, type Stage } from '../stage.ts'
import { askAlerts } from '../../../src/lib/openshift/firing-alerts.ts'
import { doneSteps, eusRunOn, eusStatusOn, platformOf, playAt, small418 } from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const onePool = [
  { name: 'master', nodes: 1 },
  { name: 'worker', nodes: 1 },
]

describe('night E8: the operator is of the platform’s minor, before and after each hop', () => {
  const behind = {
    ...small418,
    openshift: { ...ocp418to420, version: '4.19.14', channel: 'eus-4.20', pools: onePool, healthChecks: [] },
  }

  test('an operator behind the platform, and no window that explains it: unsupported, and refused', () =>
    play(behind, async (stage) => {
      const mark = stage.mark
      const ended = await eusRunOn(stage, { to: '4.20' })
      expect(ended.code).toBe(3)
      expect(ended.text).toContain('unsupported version skew: HyperConverged 4.18.13 belongs to 4.18')
      expect(stage.writes(mark)).toEqual([])
    }))

  test('the catalog does not answer: the next minor is not asked for before the operator has followed', () =>
    playAt('control-plane-4.19')(async (stage) => {
      stage.simulated.faults.set({ catalogNotReady: true })
      const ended = await eusRunOn(stage)
      expect(ended.code).toBe(4)
      expect(ended.text).toContain('to be READY')
      expect(versionOf(stage)).toBe('4.19.14')
      expect((await eusStatusOn(stage)).documents.at(-1)).toMatchObject({ open: true, at: '4.19.14' })
      stage.simulated.faults.set({ catalogNotReady: undefined })
      await stage.until(15 * minute)
      const again = await eusRunOn(stage, { until: 'accepted-4.20' })
      expect(again.error).toBeUndefined()
      const steps = doneSteps(again)
      expect(steps.indexOf('operator-4.19')).toBeLessThan(steps.indexOf('request-4.20'))
    }))
})

const release = (version: string, kubernetes: string, to: readonly string[]): Release => ({
  version,
  image: `quay.io/openshift-release-dev/ocp-release@sha256:${version.replaceAll('.', '').padEnd(64, '0')}`,
  kubernetes,
  channels: ['eus-4.10', 'eus-4.12', 'stable-4.10', 'stable-4.11', 'stable-4.22', 'stable-4.23'],
  to,
})
const v1beta1 = { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' } as const
const both = { stored: 'v1beta1', served: ['v1', 'v1beta1'], conversion: 'Webhook' } as const
const v1 = { ...both, stored: 'v1' } as const
const bundle = (version: string, kubevirt: string, more: Partial<BundleShape>): BundleShape => ({
  name: `kubevirt-hyperconverged-operator.v${version}`,
  version,
  kubevirt,
  crd: v1beta1,
  since: version.replace(/\.\d+$/u, ''),
  ...more,
})
const replaces = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

const claims: Kind<KubeObject & { status?: object }> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
})

describe('night E11: what the end report compares', () => {
  test('volumes, labels and taints since the window was opened, over several runs; what was not asked for is said', () =>
    play(small418, async (stage) => {
      const { writer } = stage.cluster
      stage.simulated.store.kinds.add(builtIn(claims))
      for (const name of ['kept', 'lost', 'anew']) await writer.create(claims, claim(name))
      await eusRunOn(stage, { until: 'accepted-4.19' })
      await writer.delete(claims, { name: 'lost', namespace: 'default' })
      await writer.delete(claims, { name: 'anew', namespace: 'default' })
      await writer.create(claims, claim('anew'))
      await writer.create(claims, claim('later'))
      await writer.mergePatch(Nodes, { name: 'worker-0' }, { metadata: { labels: { rack: 'b' } } })
      const taints = [{ key: 'team', value: 'db', effect: 'PreferNoSchedule' }]
      await writer.mergePatch(Nodes, { name: 'master-0' }, { spec: { taints } })
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(ended.documents.at(-1)).toMatchObject({
        volumes: { changed: ['claim default/anew'], gone: ['claim default/lost'] },
        nodes: { changed: ['master-0', 'worker-0'], gone: [] },
      })
      expect(ended.text).toContain('volumes that are gone: claim default/lost')
      expect(ended.text).toContain('Alerts not compared')
      expect(ended.text).toContain(askAlerts)
    }))
})

describe('night E13: what HyperConverged changes in its own spec', () => {
  const graph = [release('4.22.3', '1.35.2', ['4.23.1']), release('4.23.1', '1.36.1', [])]
  const late = {
    methods: ['LiveMigrate'],
    openshift: {
      ...ocp418to420,
      version: '4.22.3',
      channel: 'stable-4.23',
      graph,
      pools: onePool,
      healthChecks: [],
    },
    olm: ocpOlm({
      installed: '4.22.2',
      channels: [
        {
          name: 'stable',
          entries: [
            bundle('4.22.2', 'v1.8.4', { crd: both }),
            bundle('4.23.0', 'v1.9.0', { crd: v1, replaces: replaces('4.22.2') }),
          ],
        },
      ],
    }),
  }

  test('is listed, and not reverted; what kvup has borrowed is as it was', () =>
    play(late, async (stage) => {
      stage.files.set('late.json', servedGraph({ graph }))
      const methods = stage.methods
      stage.files.set('late.yaml', servedCatalog(late.olm, undefined))
      const ended = await eusRunOn(stage, { graphFile: 'late.json', catalogFile: 'late.yaml', to: '4.23' })
      expect(ended.error).toBeUndefined()
      expect(ended.documents.at(-1)).toMatchObject({
        rewritten: [expect.stringMatching(/completionTimeoutPerGiB was 150, is 20$/u)],
      })
      expect(ended.text).toContain('HyperConverged has changed and is not reverted')
      expect(stage.methods).toEqual(methods)
    }))
})
