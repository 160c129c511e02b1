import { describe, expect, test } from 'vitest'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { HyperConvergedFaults } from '../../../src/simulator/hyperconverged/hyperconverged-context.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { approveWhateverIsThere, pendingPlans, scriptWaits, upgradeByHand } from '../naive-person.ts'
import { storedMethods } from '../settings-owners.ts'
import { minute, play, type Stage } from '../stage.ts'
import { conditionOf, hyperConverged, operatorVersion, writesTo } from './meanwhile.ts'
import { eusRunOn, platformOf, playAt, type Shape, small418 } from './window-stage.ts'

const both = '["Evict","LiveMigrate"]'
const withBoth: Shape = { ...small418, methods: ['Evict', 'LiveMigrate'] }

/** `oc get kv … -o jsonpath={.spec.workloadUpdateStrategy.workloadUpdateMethods}`, which shows nothing where there is nothing. */
const documentedBackup = ({ kubevirt }: Stage): string =>
  JSON.stringify(kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods) ?? ''

describe('trap 2: methods are copied to the KubeVirt only where there are any', () => {
  test('kvup workloads pause-updates, begun twice, keeps the first value, and restore brings it back', () =>
    play(withBoth, async (stage) => {
      for (const host of ['here', 'another']) {
        expect(await stage.hold({}, { host })).toMatchObject({ code: 0 })
        await stage.until(minute)
      }
      expect(documentedBackup(stage)).toBe('')
      expect(await stage.restore()).toMatchObject({ code: 0 })
      expect([storedMethods(stage), documentedBackup(stage)]).toEqual([both, both])
    }))
})

interface Untrue {
  faults: HyperConvergedFaults
  /** What a script asks of Upgradeable before it goes on. */
  naively: (upgradeable: string | undefined) => boolean
}

const untrue: Record<string, Untrue> = {
  'Upgradeable is True while a component is not available': {
    faults: { components: [{ component: 'CDI', is: 'unavailable', message: 'cdi is away' }] },
    naively: (upgradeable) => upgradeable === 'True',
  },
  'Upgradeable is Unknown after a reconcile that failed, which is not False': {
    faults: { reconcileError: 'the server is on fire' },
    naively: (upgradeable) => upgradeable !== 'False',
  },
}
const off: HyperConvergedFaults = { components: undefined, reconcileError: undefined }

/** Phase by version, of the operator's own. */
const csvs = ({ simulated, home }: Stage) =>
  Object.fromEntries(
    (simulated.store.list(ClusterServiceVersions, { namespace: home }).items as ClusterServiceVersion[]).map(
      ({ spec, status }) => [spec?.version, status?.phase],
    ),
  )

const desired = (stage: Stage) => platformOf(stage).status?.desired?.version

describe.each(Object.entries(untrue))('trap 5: %s', (_, { faults, naively }) => {
  test.each([
    ['pause-worker', 'accepted-4.19', 'clusterversions'],
    ['control-plane-4.19', 'approve-4.19.5', 'installplans'],
  ])('kvup, behind %s, writes nothing up to %s; once it is over, it does', (before, until, resource) =>
    playAt(before)(async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(20 * minute)
      expect(naively(conditionOf(stage, 'Upgradeable'))).toBe(true)
      expect((await eusRunOn(stage, { until, timeout: '30m' })).code).not.toBe(0)
      expect(writesTo(stage, resource)).toEqual([])
      stage.simulated.faults.set(off)
      expect(await eusRunOn(stage, { until, timeout: '2h' })).toMatchObject({ code: 0 })
      expect(writesTo(stage, resource)).not.toEqual([])
      expect(writesTo(stage, 'installplans')).toHaveLength(resource === 'installplans' ? 1 : 0)
      expect(desired(stage)).toBe('4.19.14')
    }),
  )
})

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 } as const
const of116: Shape = { ...okd, olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }) }
const sspAway: HyperConvergedFaults = {
  components: [{ component: 'SSP', is: 'unavailable', message: 'ssp is away' }],
}

/** Somebody approved 1.17.3, which does not come to its end. */
async function inTheMiddleOf117(stage: Stage): Promise<void> {
  stage.simulated.faults.set(sspAway)
  await upgradeByHand(stage, 'stable-v1.17')
  await stage.until(10 * minute)
  expect(conditionOf(stage, 'Upgradeable')).toBe('True')
  expect(operatorVersion(stage)).toBe('1.16.0')
}

/** The platform is at 4.19, and its operator, which somebody approved, does not come to its end: SSP is not available. */
async function inTheMiddle(stage: Stage): Promise<void> {
  stage.simulated.faults.set({
    components: [{ component: 'SSP', is: 'unavailable', message: 'ssp is away' }],
  })
  await scriptWaits(stage, () => pendingPlans(stage).length > 0)
  await approveWhateverIsThere(stage)
  await stage.until(10 * minute)
  expect(condition(hyperConverged(stage), 'Progressing')).toMatchObject({ reason: 'HCOUpgrading' })
}

describe('trap 5: Upgradeable is True in the middle of an upgrade', () => {
  test('kvup stays at 4.19 until they are all of 4.19', () =>
    playAt('control-plane-4.19')(async (stage) => {
      await inTheMiddle(stage)
      expect(conditionOf(stage, 'Upgradeable')).toBe('True')
      const request = { until: 'accepted-4.20' }
      const ended = await eusRunOn(stage, { ...request, timeout: '30m' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('ssp is away')
      expect([desired(stage), operatorVersion(stage)]).toEqual(['4.19.14', '4.18.13'])
      stage.simulated.faults.set(off)
      expect(await eusRunOn(stage, request)).toMatchObject({ code: 0 })
      expect([desired(stage), operatorVersion(stage)]).toEqual(['4.20.5', '4.19.8'])
    }))

  test('kvup approves the next operator only once all operands are of the one before', () =>
    play(of116, async (stage) => {
      await inTheMiddleOf117(stage)
      const mark = stage.mark
      const ended = await stage.upgrade('1.18.1', { stableFor: '5s', timeout: '30m' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('ssp is away')
      expect(writesTo(stage, 'installplans', mark)).toEqual([])
      expect(csvs(stage)).toEqual({ '1.17.3': 'Succeeded' })
      stage.simulated.faults.set(off)
      expect(await stage.upgrade('1.18.1', { stableFor: '5s' })).toMatchObject({ code: 0 })
      expect(operatorVersion(stage)).toBe('1.18.1')
    }))
})
