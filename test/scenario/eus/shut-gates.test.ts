import { describe, expect, test } from 'vitest'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { ClusterVersion } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import { play } from '../stage.ts'
import { doneSteps, eusRunOn, platformOf, type Shape, small418 } from './window-stage.ts'
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

describe('night E1: nothing is written past a gate that is shut by then', () => {
  test('platform: HyperConverged is Degraded between the gate and the request, which waits for the update service', () =>
    play(small418, async (stage) => {
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

  test('platform: HyperConverged may not be listed any more (403), and says Upgradeable=False', () =>
    play(small418, async (stage) => {
      let off = false
      const saysNo = lying(stage.cluster, 'hyperconvergeds', (hco) => {
        for (const one of hco.status.conditions)
          if (off && one.type === 'Upgradeable')
            Object.assign(one, { status: 'False', reason: 'X', message: 'no' })
        return hco
      })
      const cluster = denying(
        saysNo,
        (verb, plural) => off && verb === 'list' && plural === 'hyperconvergeds',
      )
      const onEvent = after('pause-worker', () => (off = true))
      await eusRunOn(stage, { until: 'accepted-4.19' }, { cluster, onEvent })
      expect(writesTo(stage, 'clusterversions')).toEqual([])
    }))

  test.each([
    ['clusteroperators', 'kube-apiserver supports its kubelets'],
    ['configmaps', 'an acknowledgement is needed'],
  ])('platform: %s may not be read any more: nobody knows whether %s', (plural, what) =>
    play(small418, async (stage) => {
      let off = false
      const isHidden = (of: string, name = '') =>
        off && of === plural && (of !== 'configmaps' || name === 'admin-gates')
      const cluster = denying(stage.cluster, (_verb, of, name) => isHidden(of, name))
      const onEvent = after('pause-worker', () => (off = true))
      const ended = await eusRunOn(stage, { until: 'accepted-4.19' }, { cluster, onEvent })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'gate-not-readable' } })
      expect(ended.error?.message).toContain(what)
      expect(writesTo(stage, 'clusterversions')).toEqual([])
    }),
  )

  test('platform: HyperConverged says Upgradeable=True, and Available=False', () =>
    play(small418, async (stage) => {
      let away = false
      const cluster = lying(stage.cluster, 'hyperconvergeds', (hco) => {
        for (const one of hco.status.conditions)
          if (away && one.type === 'Available')
            Object.assign(one, { status: 'False', reason: 'CDINotAvailable', message: 'cdi is away' })
        return hco
      })
      const onEvent = after('pause-worker', () => (away = true))
      const ended = await eusRunOn(stage, { until: 'accepted-4.19' }, { cluster, onEvent })
      expect(ended.code).toBe(4)
      expect(ended.text).toContain('cdi is away')
      expect(writesTo(stage, 'clusterversions')).toEqual([])
    }))

  const busy: readonly (readonly [string, (cv: ClusterVersion) => void])[] = [
    ['is Progressing', isProgressing],
    ['has a spec that its status is not yet about', ({ metadata }) => (metadata.generation = 99)],
  ]
  test.each(busy)('night E4: no InstallPlan is approved while the ClusterVersion %s', (_, edit) =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'control-plane-4.19' })
      const mark = stage.mark
      const cluster = lying(stage.cluster, 'clusterversions', (cv) => {
        edit(cv)
        return cv
      })
      await eusRunOn(stage, { until: 'approve-4.19.5' }, { cluster })
      expect(writesTo(stage, 'installplans', mark)).toEqual([])
    }),
  )

  test.each([
    ['csv-succeeded-4.19.8', 'operands-rolled-4.19.8'],
    ['operator-releases-4.19-after-4.19.8', 'operator-4.19'],
    ['operator-4.19', 'gate-4.20'],
  ])('a CSV that is Failed since %s: %s is not done, and the platform does not go on', (before, step) =>
    play(small418, async (stage) => {
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
        { until: 'accepted-4.20', timeout: '4h' },
        { cluster, onEvent: after(before, () => (fails = true)) },
      )
      expect(doneSteps(ended)).toContain(before)
      expect(doneSteps(ended)).not.toContain(step)
      expect(ended.text).toContain('hco-operator is down')
      expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    }),
  )
})
