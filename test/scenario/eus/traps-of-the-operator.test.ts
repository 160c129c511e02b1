import { describe, expect, test } from 'vitest'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  HyperConvergeds,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { HyperConvergedFaults } from '../../../src/simulator/hyperconverged/hyperconverged-context.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { approveWhateverIsThere, pendingPlans, scriptWaits, upgradeByHand } from '../naive-person.ts'
import { storedMethods } from '../settings-owners.ts'
import { minute, play, type Stage } from '../stage.ts'
import {
  conditionOf,
  hyperConverged,
  offered,
  operatorVersion,
  patchPlatform,
  writesTo,
} from './meanwhile.ts'
import { restoreOn, eusRunOn, platformOf, type Shape, small418 } from './window-stage.ts'

const hco = { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' }
const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
const both = '["Evict","LiveMigrate"]'
const withBoth: Shape = { ...small418, methods: ['Evict', 'LiveMigrate'] }

/** `oc get kv … -o jsonpath={.spec.workloadUpdateStrategy.workloadUpdateMethods}`, which shows nothing where there is nothing. */
const documentedBackup = ({ kubevirt }: Stage): string =>
  JSON.stringify(kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods) ?? ''

/** `oc patch hyperconverged … --type json -p "[{…, \"value\":$WORKLOAD_UPDATE_METHODS}]"`. */
async function documentedPatch({ cluster }: Stage, op: 'add' | 'replace', value: string): Promise<void> {
  const operations = JSON.parse(`[{"op":"${op}","path":"${path}","value":${value}}]`)
  await cluster.writer.jsonPatch(HyperConvergeds, hco, operations)
}

/** As the documentation has it, up to where it is begun anew: by another shift, or after a crash. */
async function begunTwice(stage: Stage): Promise<string> {
  expect(documentedBackup(stage)).toBe(both)
  await documentedPatch(stage, 'replace', '[]')
  await stage.until(minute)
  return documentedBackup(stage)
}

describe('trap 2: methods are copied to the KubeVirt only where there are any', () => {
  test('naively, the second backup is empty, and the patch that restores it is no JSON', () =>
    play(withBoth, async (stage) => {
      const saved = await begunTwice(stage)
      expect(saved).toBe('')
      await expect(documentedPatch(stage, 'add', saved)).rejects.toThrow(SyntaxError)
      await stage.until(minute)
      expect(storedMethods(stage)).toBe('[]')
      expect(stage.methods).toEqual([])
    }))

  test.each([
    ['null', '["LiveMigrate"]'],
    ['[]', '[]'],
  ])('naively, a script that takes an empty backup for %s restores %s: what was set is lost', (or, back) =>
    play(withBoth, async (stage) => {
      await documentedPatch(stage, 'add', (await begunTwice(stage)) || or)
      await stage.until(minute)
      expect(storedMethods(stage)).toBe(back)
    }),
  )

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

  test('kvup eus run, begun twice, keeps the first value, and restore-settings brings it back', () =>
    play(withBoth, async (stage) => {
      for (const until of ['pause-workload-updates', 'pause-workload-updates', 'pause-worker'])
        expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
      expect(documentedBackup(stage)).toBe('')
      const overrides = await stage.journal.overrides()
      const override = overrides.find(({ id }) => id === 'workload-updates')
      expect(override?.was).toEqual({ present: true, value: ['Evict', 'LiveMigrate'] })
      expect(await restoreOn(stage)).toMatchObject({ code: 0 })
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

/** By a person: the release that is offered. */
const requestByHand = async (stage: Stage, version: string): Promise<void> => {
  const { image = '' } = offered(stage, version)
  await patchPlatform(stage, { desiredUpdate: { version, image } })
}

/** Phase by version, of the operator's own. */
const csvs = ({ simulated, home }: Stage) =>
  Object.fromEntries(
    (simulated.store.list(ClusterServiceVersions, { namespace: home }).items as ClusterServiceVersion[]).map(
      ({ spec, status }) => [spec?.version, status?.phase],
    ),
  )

const desired = (stage: Stage) => platformOf(stage).status?.desired?.version

describe.each(Object.entries(untrue))('trap 5: %s', (_, { faults, naively }) => {
  test('naively, the platform goes to the next minor, and the operator is updated into it', () =>
    play(small418, async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(minute)
      expect(naively(conditionOf(stage, 'Upgradeable'))).toBe(true)
      await patchPlatform(stage, { channel: 'eus-4.20' })
      await stage.until(minute)
      await requestByHand(stage, '4.19.14')
      await stage.until(120 * minute)
      expect(desired(stage)).toBe('4.19.14')
      expect(pendingPlans(stage)).toHaveLength(1)
      expect(naively(conditionOf(stage, 'Upgradeable'))).toBe(true)
      await approveWhateverIsThere(stage)
      await stage.until(60 * minute)
      expect(operatorVersion(stage)).toBe('4.18.13')
    }))

  test('kvup asks the platform for nothing; once it is over, it does', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      stage.simulated.faults.set(faults)
      await stage.until(minute)
      const request = { until: 'accepted-4.19', timeout: '2h' }
      expect((await eusRunOn(stage, request)).code).not.toBe(0)
      expect(writesTo(stage, 'clusterversions')).toEqual([])
      stage.simulated.faults.set(off)
      expect(await eusRunOn(stage, request)).toMatchObject({ code: 0 })
      expect(desired(stage)).toBe('4.19.14')
    }))

  test('kvup approves no InstallPlan; once it is over, it does', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'control-plane-4.19' })
      stage.simulated.faults.set(faults)
      await stage.until(20 * minute)
      const approval = { until: 'approve-4.19.5', timeout: '2h' }
      expect((await eusRunOn(stage, approval)).code).not.toBe(0)
      expect(writesTo(stage, 'installplans')).toEqual([])
      stage.simulated.faults.set(off)
      expect(await eusRunOn(stage, approval)).toMatchObject({ code: 0 })
      expect(writesTo(stage, 'installplans')).toHaveLength(1)
    }))
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
  await eusRunOn(stage, { until: 'control-plane-4.19' })
  stage.simulated.faults.set({
    components: [{ component: 'SSP', is: 'unavailable', message: 'ssp is away' }],
  })
  await scriptWaits(stage, () => pendingPlans(stage).length > 0)
  await approveWhateverIsThere(stage)
  await stage.until(10 * minute)
  expect(condition(hyperConverged(stage), 'Progressing')).toMatchObject({ reason: 'HCOUpgrading' })
}

describe('trap 5: Upgradeable is True in the middle of an upgrade', () => {
  test('naively, the platform goes to 4.20 while operands are of 4.18', () =>
    play(small418, async (stage) => {
      await inTheMiddle(stage)
      expect(conditionOf(stage, 'Upgradeable')).toBe('True')
      await requestByHand(stage, '4.20.5')
      await stage.until(10 * minute)
      expect([desired(stage), operatorVersion(stage)]).toEqual(['4.20.5', '4.18.13'])
    }))

  test('kvup stays at 4.19 until they are all of 4.19', () =>
    play(small418, async (stage) => {
      await inTheMiddle(stage)
      const request = { until: 'accepted-4.20', timeout: '2h' }
      const ended = await eusRunOn(stage, request)
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('ssp is away')
      expect([desired(stage), operatorVersion(stage)]).toEqual(['4.19.14', '4.18.13'])
      stage.simulated.faults.set(off)
      expect(await eusRunOn(stage, request)).toMatchObject({ code: 0 })
      expect([desired(stage), operatorVersion(stage)]).toEqual(['4.20.5', '4.19.8'])
    }))

  test('naively, the next operator is approved into it, and hangs between the two', () =>
    play(of116, async (stage) => {
      await inTheMiddleOf117(stage)
      await upgradeByHand(stage, 'stable-v1.18')
      await stage.until(10 * minute)
      expect(csvs(stage)).toEqual({ '1.17.3': 'Replacing', '1.18.1': 'Pending' })
      expect(operatorVersion(stage)).toBe('1.16.0')
    }))

  test('kvup approves the next operator only once all operands are of the one before', () =>
    play(of116, async (stage) => {
      await inTheMiddleOf117(stage)
      const mark = stage.mark
      const ended = await stage.upgrade('1.18.1', { stableFor: '5s', timeout: '2h' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('ssp is away')
      expect(writesTo(stage, 'installplans', mark)).toEqual([])
      expect(csvs(stage)).toEqual({ '1.17.3': 'Succeeded' })
      stage.simulated.faults.set(off)
      expect(await stage.upgrade('1.18.1', { stableFor: '5s' })).toMatchObject({ code: 0 })
      expect(operatorVersion(stage)).toBe('1.18.1')
    }))
})
