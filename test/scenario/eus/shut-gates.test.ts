import { describe, expect, test } from 'vitest'
import { play } from '../stage.ts'
import { eusRunOn, platformOf, small418 } from './window-stage.ts'
import { after, cdiDegraded, conditionOf, writesTo } from './meanwhile.ts'
import { denying } from './denying-cluster.ts'
import { lying } from './lying-reader.ts'

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
    ['clusteroperators', 'kube-apiserver tolerates its kubelets'],
    ['configmaps', 'an administrator has to acknowledge something'],
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

  test('a CSV that was Succeeded for an instant and is Failed since: the platform does not go on', () =>
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
      const onEvent = after('csv-succeeded-4.19.8', () => (fails = true))
      await eusRunOn(stage, { until: 'accepted-4.20' }, { cluster, onEvent })
      expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    }))
})
