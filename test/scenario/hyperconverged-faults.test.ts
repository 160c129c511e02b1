import { expect, test } from 'vitest'
import { type HyperConverged, HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { HyperConvergedFaults } from '../../src/simulator/hyperconverged/hyperconverged-context.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { runText } from '../lib/run-text.ts'
import { minute, play, second, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const hop = { stableFor: '5s', timeout: '5m' }

interface Row {
  faults: HyperConvergedFaults
  says: RegExp
}

const rows: Record<string, Row> = {
  'reconcileError: nothing would be passed on': {
    faults: { reconcileError: 'the server is on fire' },
    says: /checks before 1\.18\.1.*ReconcileComplete=False \(ReconcileFailed\): .*the server is on fire/su,
  },
  'components: one is degraded': {
    faults: { components: [{ component: 'CDI', is: 'degraded', message: 'no disk' }] },
    says: /checks before 1\.18\.1.*Degraded=True \(CDIDegraded\): CDI is degraded: no disk/su,
  },
  'components: one is progressing for ever': {
    faults: { components: [{ component: 'SSP', is: 'progressing', message: 'still' }] },
    says: /checks before 1\.18\.1.*Upgradeable=False \(SSPProgressing\)/su,
  },
  'components: one is not available, which leaves Upgradeable True': {
    faults: { components: [{ component: 'CDI', is: 'unavailable', message: 'gone' }] },
    says: /checks before 1\.18\.1.*Available=False \(CDINotAvailable\)/su,
  },
  'components: one may not be upgraded now': {
    faults: { components: [{ component: 'SSP', is: 'not-upgradeable', message: 'a backup runs' }] },
    says: /checks before 1\.18\.1.*Upgradeable=False \(SSPNotUpgradeable\): SSP is not upgradeable: a backup runs/su,
  },
  'changesRefused: nobody answers at hco-webhook': {
    faults: { changesRefused: 'nobody-answers' },
    says: /failed calling webhook "validate-hco\.kubevirt\.io"/u,
  },
  'changesRefused: the dry run fails': {
    faults: { changesRefused: 'dry-run-fails' },
    says: /failed calling webhook "kubevirt-update-validator\.kubevirt\.io"/u,
  },
}

const off = (faults: object) =>
  Object.fromEntries(Object.keys(faults).map((name) => [name, undefined])) as HyperConvergedFaults

const versionOf = ({ simulated }: Stage) => {
  const [found] = simulated.store.list(HyperConvergeds).items as readonly HyperConverged[]
  return found?.status?.versions
}

test('under each fault no plan is approved and its cause is said; once all are over the same command reaches the end', () =>
  play({ ...small, olm: okdOlm() }, async (stage) => {
    for (const [name, { faults, says }] of Object.entries(rows)) {
      stage.simulated.faults.set(faults)
      await stage.clock.sleep(20 * second)
      const ended = await stage.upgrade('1.18.1', hop)
      expect([name, ended.code === 0, ended.text]).toEqual([name, false, expect.stringMatching(says)])
      expect(versionOf(stage)).toEqual([{ name: 'operator', version: '1.17.3' }])
      stage.simulated.faults.set(off(faults))
      await stage.clock.sleep(minute)
    }
    expect(await stage.upgrade('1.18.1', hop)).toMatchObject({ code: 0 })
    expect(versionOf(stage)).toEqual([{ name: 'operator', version: '1.18.1' }])
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  }))

test('changesRefused for a while is waited out', () =>
  play({ ...small, olm: okdOlm() }, async (stage) => {
    stage.simulated.faults.set({ changesRefused: 'dry-run-fails' })
    stage.later(minute, () => stage.simulated.faults.set({ changesRefused: undefined }))
    expect(await stage.hold()).toMatchObject({ code: 0 })
    expect(stage.methods ?? []).toEqual([])
  }))

test('conversionLost: nothing is written to the HyperConverged until it is back', () =>
  play({ ...small, olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }) }, async (stage) => {
    stage.simulated.faults.set({ conversionLost: true })
    await stage.clock.sleep(20 * second)
    const { mark } = stage
    const ended = await stage.hold()
    expect(ended.code).not.toBe(0)
    expect(ended.text).toMatch(/conver/u)
    expect(stage.writes(mark).filter(({ resource }) => resource === 'hyperconvergeds')).toEqual([])
    stage.simulated.faults.set({ conversionLost: undefined })
    await stage.clock.sleep(20 * second)
    expect(await stage.hold()).toMatchObject({ code: 0 })
  }))

test.each(['nobody-answers', 'dry-run-fails'] as const)(
  'a webhook that refuses for minutes (%s) is told once, and then from time to time what is waited for',
  (changesRefused) =>
    play({ ...small, olm: okdOlm() }, async (stage) => {
      stage.simulated.faults.set({ changesRefused })
      await stage.clock.sleep(20 * second)
      const place = { cluster: stage.cluster, clock: stage.clock, files: {} }
      const { code, err } = await runText(['upgrade', '--to', '1.18.1', '--yes', '--timeout', '4m'], place)
      expect(code).toBe(4)
      const ofTheRun = err.split('\n').filter((line) => /^\d\d:\d\d:\d\d /u.test(line))
      expect(ofTheRun.filter((line) => line.includes('failed calling webhook'))).toHaveLength(1)
      expect(ofTheRun.filter((line) => line.includes('answers again'))).toEqual([])
      expect(ofTheRun.length).toBeLessThan(20)
    }),
)
