import { describe, expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { CustomResourceDefinitions } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { ClusterServiceVersions, InstallPlans } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { onHyperConverged, untilWritable } from '../../src/lib/vms/strategy/settings-owner.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { denying } from './eus/denying-cluster.ts'
import { lying } from './eus/lying-reader.ts'
import { minute, briefly as play, type Stage } from './stage.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const of118 = { ...okd, olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }) }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]

/** Why HyperConverged is not to be written now. */
async function why(
  stage: Pick<Stage, 'cluster' | 'kubevirt'>,
  accepted: readonly string[] = [],
): Promise<string> {
  const { name, uid = '', namespace = '' } = stage.kubevirt.metadata
  const kubevirt = { kind: KubeVirts, ref: { name, namespace }, uid }
  const place = { ref: { name: 'kubevirt-hyperconverged', namespace }, uid: 'any' }
  const waiting = await untilWritable(stage.cluster.reader, onHyperConverged(place, kubevirt, accepted))
  return waiting?.on ?? 'written'
}

/** As a controller would: its next look sets it right again. */
async function status<T extends KubeObject>(
  stage: Stage,
  kind: Kind<T>,
  name: string | undefined,
  body: object,
): Promise<void> {
  const own = stored(stage, kind).filter(({ metadata }) => metadata.namespace === stage.home)
  const found = own.find(({ metadata }) => name === undefined || metadata.name === name)
  if (!found) throw new Error(`no ${name}`)
  await stage.cluster.writer.mergePatch(kind, found.metadata, { status: body } as never, 'status')
}

const unconverted = ({ simulated }: Stage) =>
  simulated.store.patch(
    CustomResourceDefinitions,
    { name: 'hyperconvergeds.hco.kubevirt.io' },
    { type: 'merge', body: { spec: { conversion: { strategy: 'None' } } } },
    { manager: 'test' },
  )

describe('night E3: when HyperConverged is written', () => {
  test('OLM stands still, hco-webhook answers and the CSV is Succeeded: at once', () =>
    play(of118, async (stage) => {
      expect(await why(stage)).toBe('written')
      expect(await stage.hold()).toMatchObject({ code: 0 })
    }))

  test.each<[what: string, change: (stage: Stage) => unknown, says: string]>([
    [
      'its InstallPlan is Installing',
      (stage) => status(stage, InstallPlans, undefined, { phase: 'Installing' }),
      'to complete',
    ],
    [
      'nobody converts between two versions that are served',
      (stage) => unconverted(stage),
      'to restore its conversion',
    ],
    [
      'hco-webhook is not ready',
      (stage) => status(stage, Deployments, 'hco-webhook', { availableReplicas: 0 }),
      'hco-webhook to be ready',
    ],
  ])('%s: waits, whatever was accepted', (_, change, says) =>
    play(of118, async (stage) => {
      await change(stage)
      expect(await why(stage)).toContain(says)
      expect(await why(stage, ['csv-not-succeeded'])).toContain(says)
    }),
  )

  test('the CSV is Failed: waits, unless just that was accepted', () =>
    play(of118, async (stage) => {
      const body = { phase: 'Failed', reason: 'ComponentUnhealthy' }
      await status(stage, ClusterServiceVersions, 'kubevirt-hyperconverged-operator.v1.18.1', body)
      expect(await why(stage)).toContain('to be Succeeded (Failed)')
      expect(await why(stage, ['csv-not-succeeded'])).toBe('written')
      expect(await stage.hold({ accept: ['csv-not-succeeded'] })).toMatchObject({ code: 0, took: 150 })
    }))

  test('InstallPlans, CSVs or Subscriptions may not be read: whether OLM stands still is waited for, whatever was accepted; that nobody converts is seen all the same', () =>
    play(of118, async (stage) => {
      const hiding = (resource: string) => ({
        kubevirt: stage.kubevirt,
        cluster: denying(stage.cluster, (_verb, plural) => plural === resource),
      })
      for (const resource of ['installplans', 'clusterserviceversions', 'subscriptions'])
        expect(await why(hiding(resource), ['csv-not-succeeded'])).toContain('kvup to see that OLM is idle')
      unconverted(stage)
      expect(await why(hiding('subscriptions'))).toContain('to restore its conversion')
    }))

  test('the CSV that the Subscription names is gone: waits, unless that was accepted; no Subscription keeps it: nobody’s conversion is waited for as well, and else it is written', () =>
    play(of118, async (stage) => {
      const cluster = lying(stage.cluster, 'subscriptions', () => undefined)
      const gone = lying(stage.cluster, 'clusterserviceversions', () => undefined)
      const without = { kubevirt: stage.kubevirt, cluster: gone }
      expect(await why(without)).toContain('to be Succeeded (not found)')
      expect(await why(without, ['csv-not-succeeded'])).toBe('written')
      const alone = { kubevirt: stage.kubevirt, cluster }
      expect(await why(alone)).toBe('written')
      unconverted(stage)
      expect(await why(alone)).toContain('to restore its conversion')
    }))

  test.each(['nobody-answers', 'dry-run-fails'] as const)(
    'its webhook refuses for a while (%s): tried again, and nothing is lost',
    (changesRefused) =>
      play(of118, async (stage) => {
        stage.simulated.faults.set({ changesRefused })
        stage.later(minute, () => stage.simulated.faults.set({ changesRefused: undefined }))
        expect(await stage.hold()).toMatchObject({ code: 0 })
        expect(stage.methods).toEqual([])
        expect(await stage.restore()).toMatchObject({ code: 0 })
        expect(stage.methods).toEqual(['LiveMigrate'])
      }),
  )
})
