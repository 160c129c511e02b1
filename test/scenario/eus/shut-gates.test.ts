// 5 s: at a gate that is shut a run waits until its time is up.
import { describe, expect, test } from 'vitest'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { ClusterVersion } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { isEvery, shuffled } from '../killed.ts'
import { play } from '../stage.ts'
import { doneSteps, eusRunOn, platformOf, playAt, type Shape, small418 } from './window-stage.ts'
import { beforeWrite } from './before-write.ts'
import { after, cdiDegraded, conditionOf, writesTo } from './meanwhile.ts'
import { denying } from './denying-cluster.ts'
import { lying } from './lying-reader.ts'

function isProgressing(cv: ClusterVersion): void {
  const said = { status: 'True', message: 'Working towards 4.19.14: 700 of 901 done' }
  Object.assign(condition(cv, 'Progressing') ?? {}, said)
}

const isIntent = (text: string) => text.includes('approve-1.18.1') && text.includes('intends')

const okd: Shape = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }

const unread = { code: 3, error: { reason: 'gate-not-readable' } }
type Seen = (cluster: Cluster, isOff: () => boolean) => Cluster
const sayingNo =
  (type: string, message: string): Seen =>
  (cluster, isOff) =>
    lying(cluster, 'hyperconvergeds', (hco) => {
      for (const one of hco.status.conditions)
        if (isOff() && one.type === type) Object.assign(one, { status: 'False', reason: 'X', message })
      return hco
    })
const hiding =
  (fits: (verb: string, plural: string, name?: string) => boolean): Seen =>
  (cluster, isOff) =>
    denying(cluster, (verb, plural, name) => isOff() && fits(verb, plural, name))
const lists = (verb: string, plural: string) => verb === 'list' && plural === 'hyperconvergeds'

describe('night E1: nothing is written past a gate that is shut by then', () => {
  test('platform: HyperConverged is Degraded between the gate and the request, which waits for the update service', () =>
    playAt('pause-worker')(async (stage) => {
      const atRequest: unknown[] = []
      await eusRunOn(
        stage,
        { until: 'accepted-4.19' },
        {
          onEvent(event) {
            after('gate-4.19', () => {
              stage.simulated.faults.set({ ...cdiDegraded, updatesNotRetrieved: true })
              stage.later(10 * 60_000, () => stage.simulated.faults.set({ updatesNotRetrieved: undefined }))
            })(event)
            after(
              'request-4.19',
              () => atRequest.push(conditionOf(stage, 'Upgradeable')),
              'step-applied',
            )(event)
          },
        },
      )
      expect(atRequest).not.toContain('False')
      expect(platformOf(stage).status?.desired?.version).toBe('4.18.21')
    }))

  test('olm: HyperConverged is Degraded between the gate and the approval, which waits for the InstallPlan', () =>
    play(okd, async (stage) => {
      stage.simulated.faults.set({ planStatusAfter: 20 * 60_000 })
      await stage.upgrade(
        '1.18.1',
        { stableFor: '5s', until: 'approve-1.18.1' },
        { onEvent: after('gate-1.18.1', () => stage.simulated.faults.set(cdiDegraded)) },
      )
      expect(conditionOf(stage, 'Upgradeable')).toBe('False')
      expect(writesTo(stage, 'installplans')).toEqual([])
    }))

  test('olm: HyperConverged is Degraded between the look and the approval', () =>
    play(okd, async (stage) => {
      const cluster = beforeWrite(stage, isIntent, async () => {
        stage.simulated.faults.set(cdiDegraded)
        await stage.until(5000)
      })
      await stage.upgrade('1.18.1', { stableFor: '5s', until: 'approve-1.18.1' }, { cluster })
      expect(conditionOf(stage, 'Upgradeable')).toBe('False')
      expect(writesTo(stage, 'installplans')).toEqual([])
    }))

  test.each<[what: string, seen: Seen, ends: object, says: string]>([
    [
      'HyperConverged may not be listed any more, and says Upgradeable=False',
      (cluster, isOff) => hiding(lists)(sayingNo('Upgradeable', 'no')(cluster, isOff), isOff),
      { code: 3 },
      '',
    ],
    ['HyperConverged says Available=False', sayingNo('Available', 'cdi is away'), { code: 4 }, 'cdi is away'],
    [
      'clusteroperators may not be read any more',
      hiding((_, plural) => plural === 'clusteroperators'),
      unread,
      'kube-apiserver supports its kubelets',
    ],
    [
      'admin gates may not be read any more',
      hiding((_, plural, name) => plural === 'configmaps' && name === 'admin-gates'),
      unread,
      'an acknowledgement is needed',
    ],
  ])('platform: %s', (_, seen, ends, says) =>
    play(small418, async (stage) => {
      let off = false
      const onEvent = after('pause-worker', () => (off = true))
      const cluster = seen(stage.cluster, () => off)
      const ended = await eusRunOn(stage, { until: 'accepted-4.19' }, { cluster, onEvent })
      expect(ended).toMatchObject(ends)
      expect(ended.text).toContain(says)
      expect(writesTo(stage, 'clusterversions')).toEqual([])
    }),
  )

  test('night E4: no InstallPlan is approved while the ClusterVersion is Progressing, or has a spec that its status is not yet about', () =>
    playAt('control-plane-4.19')(async (stage) => {
      const mark = stage.mark
      for (const edit of [isProgressing, ({ metadata }: ClusterVersion) => (metadata.generation = 99)]) {
        const cluster = lying(stage.cluster, 'clusterversions', (cv) => {
          edit(cv)
          return cv
        })
        expect(
          (await eusRunOn(stage, { until: 'approve-4.19.5', timeout: '30m' }, { cluster })).code,
        ).not.toBe(0)
        expect(writesTo(stage, 'installplans', mark)).toEqual([])
      }
    }))

  const moments = [
    ['csv-succeeded-4.19.8', 'operands-rolled-4.19.8'],
    ['operator-releases-4.19-after-4.19.8', 'operator-4.19'],
    ['operator-4.19', 'gate-4.20'],
  ] as const

  // By default one of them, drawn by the seed.
  test.each(shuffled(moments, ([before]) => before).slice(0, isEvery ? undefined : 1))(
    'a CSV that is Failed since %s: %s is not done, and the platform does not go on',
    (before, step) =>
      playAt('control-plane-4.19')(async (stage) => {
        let fails = false
        const cluster = lying(stage.cluster, 'clusterserviceversions', (csv) => {
          if (fails && csv.metadata.name.endsWith('4.19.8'))
            Object.assign(csv.status, {
              phase: 'Failed',
              reason: 'ComponentUnhealthy',
              message: 'hco-operator is down',
            })
          return csv
        })
        const ended = await eusRunOn(
          stage,
          { until: 'accepted-4.20', timeout: '40m' },
          { cluster, onEvent: after(before, () => (fails = true)) },
        )
        expect(doneSteps(ended)).toContain(before)
        expect(doneSteps(ended)).not.toContain(step)
        expect(ended.text).toContain('hco-operator is down')
        expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
      }),
  )
})
