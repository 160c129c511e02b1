import { describe, expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { HyperConvergeds } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import type { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { play, type Stage } from '../stage.ts'
import { forget, refusing, writesTo } from './meanwhile.ts'
import {
  borrowedFields,
  doneSteps,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  small418,
  twoWorkers418,
} from './window-stage.ts'

const pool = { name: 'worker' }
const patchPool = (stage: Stage, spec: object) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, pool, { spec })

describe('night E1: the gate is per step', () => {
  test('an operator of the platform that says no keeps the platform step from being asked for', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      stage.simulated.faults.set(refusing)
      await stage.until(120_000)
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.error?.message).toContain('a disk is broken')
      expect(writesTo(stage, 'clusterversions', mark)).toEqual([])
    }))

  test('an open admin gate is shown, and never acknowledged', () =>
    play(
      {
        ...small418,
        openshift: { ...small418.openshift, ...gated } as typeof ocp418to420,
      },
      async (stage) => {
        const first = await eusRunOn(stage)
        expect(first).toMatchObject({ code: 3 })
        expect(first.text).toContain('read this first')
        expect(stage.writes()).toEqual([])
        const ended = await eusRunOn(stage, { accept: ['admin-gates-open', 'platform-not-upgradeable'] })
        expect(ended.error?.reason).toBe('admin-gate')
        expect(writesTo(stage, 'clusterversions')).toEqual([])
        const acks = stage.simulated.store.read(ConfigMaps, {
          namespace: 'openshift-config',
          name: 'admin-acks',
        })
        expect((acks as { data?: object } | undefined)?.data ?? {}).toEqual({})
      },
    ))
})

const gated = { adminGates: { 'ack-4.18-apis-in-4.19': 'read this first' } }

/** The platform turns down what it was asked for: before it is, the gate was seen open. */
async function refused(stage: Stage, options: { leaveRequested?: boolean } = {}) {
  const onEvent = (event: { kind: string; step?: { id: string } }) => {
    if (event.kind === 'step-applied' && event.step?.id === 'request-4.19')
      stage.simulated.faults.set(refusing)
  }
  return eusRunOn(stage, options, { onEvent })
}

describe('night E6: a request that is refused', () => {
  test('is taken back at once, exactly that; everything else stays borrowed, and a resumed run asks again', () =>
    play(small418, async (stage) => {
      const spec = structuredClone(platformOf(stage).spec)
      const ended = await refused(stage)
      expect(ended.error?.reason).toBe('update-refused')
      expect(ended.error?.message).toContain('a disk is broken')
      expect(platformOf(stage).spec?.desiredUpdate).toEqual(spec?.desiredUpdate)
      expect(platformOf(stage).status?.desired?.version).toBe('4.18.21')
      const overrides = (await stage.journal.overrides()).map(({ id }) => id)
      expect(overrides).not.toContain('desired-update')
      expect(overrides).toContain('pool-paused/worker')
      stage.simulated.faults.set({ notUpgradeable: undefined })
      await stage.until(120_000)
      expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    }))

  test('stays with --leave-requested, and status shows it armed; abort takes it back', () =>
    play(small418, async (stage) => {
      const spec = structuredClone(platformOf(stage).spec)
      const ended = await refused(stage, { leaveRequested: true })
      expect(ended.error?.reason).toBe('update-refused')
      expect(platformOf(stage).spec?.desiredUpdate?.version).toBe('4.19.14')
      const status = await eusStatusOn(stage)
      expect(status.documents.at(-1)).toMatchObject({ armed: { version: '4.19.14', by: 'kvup' } })
      expect(status.text).toContain('it starts by itself')
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect(platformOf(stage).spec).toEqual(spec)
    }))

  test("somebody else's request is not taken back, and is shown whoever set it", () =>
    play(small418, async (stage) => {
      stage.simulated.faults.set(refusing)
      await stage.until(120_000)
      const desiredUpdate = { version: '4.19.17' }
      await stage.cluster.writer.mergePatch(
        { ...platformKind, kind: 'ClusterVersion' },
        { name: 'version' },
        { spec: { desiredUpdate } } as object,
      )
      await stage.until(120_000)
      const status = await eusStatusOn(stage)
      expect(status.documents.at(-1)).toMatchObject({ armed: { version: '4.19.17', by: 'somebody else' } })
      expect(await eusRunOn(stage)).toMatchObject({ code: 3 })
      expect(platformOf(stage).spec?.desiredUpdate).toEqual(desiredUpdate)
    }))
})

const platformKind = {
  apiVersion: 'config.openshift.io/v1',
  plural: 'clusterversions',
  namespaced: false,
} as const

describe('night E5: pools', () => {
  test('master is never paused', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true })
    }))

  test('somebody unpauses one: said and asked, and paused again only with --accept', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'accepted-4.19' })
      await patchPool(stage, { paused: false })
      const ended = await eusRunOn(stage)
      expect(ended.error?.reason).toBe('override-changed')
      expect(borrowedFields(stage).paused['worker']).toBe(false)
      const again = await eusRunOn(stage, { accept: ['override-changed'], until: 'pause-worker' })
      expect(again.error).toBeUndefined()
      expect(borrowedFields(stage).paused['worker']).toBe(true)
    }))

  test('who unpauses one while the platform rolls ends the wait', () =>
    play(small418, async (stage) => {
      stage.later(20 * 60_000, () => void patchPool(stage, { paused: false }))
      const ended = await eusRunOn(stage)
      expect(ended.error?.reason).toBe('override-changed')
    }))

  test('that leaving a changed one is a person’s word: restore by name keeps it', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      await patchPool(stage, { paused: false })
      const ended = await restoreOn(stage, { whats: ['pool-paused/worker'], keepCurrent: true })
      expect(ended.error).toBeUndefined()
      expect((await stage.journal.overrides()).map(({ id }) => id)).not.toContain('pool-paused/worker')
    }))

  test('one that appears is asked about, then paused and kept', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      stage.simulated.faults.set({ addedPool: { name: 'infra', nodes: 1 } })
      await stage.until(120_000)
      const ended = await eusRunOn(stage)
      expect(ended.error?.reason).toBe('pool-appeared')
      const again = await eusRunOn(stage, { accept: ['pool-appeared'], until: 'pause-infra' })
      expect(again.error).toBeUndefined()
      expect((await stage.journal.overrides()).map(({ id }) => id)).toContain('pool-paused/infra')
    }))
})

test('night E7: health checks and approval are borrowed, and given back as they were', () =>
  play(small418, async (stage) => {
    const before = borrowedFields(stage)
    await eusRunOn(stage, { approval: 'Automatic', until: 'approval' })
    const during = borrowedFields(stage)
    expect(during.machineHealth).toEqual(['kvup'])
    expect(during.approval).not.toEqual(before.approval)
    expect(await restoreOn(stage)).toMatchObject({ code: 0 })
    const after = borrowedFields(stage)
    expect(after).toEqual({ ...before, paused: during.paused })
    expect((await stage.journal.overrides()).map(({ id }) => id)).toEqual(['pool-paused/worker'])
  }))

const withRoom = {
  ...twoWorkers418,
  vms: 1,
}

test('night E12: what VMs will do is said before the methods are given back', () =>
  play(withRoom, async (stage) => {
    const ended = await eusRunOn(stage, { accept: ['vms-that-stay'] })
    expect(ended.error).toBeUndefined()
    const steps = doneSteps(ended)
    expect(steps.indexOf('forecast')).toBeLessThan(steps.indexOf('resume-workload-updates'))
    const note = ended.events.flatMap((event) =>
      event.kind === 'step-done' && event.step.id === 'forecast' ? [event.note] : [],
    )
    expect(note.join()).toMatch(/KubeVirt (?:migrates|leaves)/u)
  }))

test('night E4: without --approve the InstallPlan is named, and not approved', () =>
  play(small418, async (stage) => {
    const ended = await eusRunOn(stage, { approve: false })
    expect(ended.error?.reason).toBe('approval-needed')
    expect(ended.text).toContain('kvup eus run --approve')
    expect(writesTo(stage, 'installplans')).toEqual([])
  }))

test('night E3: nothing of HyperConverged is written between hold and give-back', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'pause-workload-updates' })
    const mark = stage.mark
    await eusRunOn(stage, { until: 'operator-4.19' })
    expect(writesTo(stage, 'hyperconvergeds', mark)).toEqual([])
    expect(stage.simulated.store.list(HyperConvergeds).items).toHaveLength(1)
  }))

test('a journal that was deleted half-way, and the notes with it: nothing is guessed, what can be deduced is shown', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'operator-4.19' })
    const mark = stage.mark
    await forget(stage)
    const ended = await eusAbortOn(stage)
    expect(ended.error?.reason).toBe('window-not-in-journal')
    expect(ended.text).toContain('it started at 4.18')
    expect(ended.text).toContain('its earlier value is unknown')
    expect(writesTo(stage, 'machineconfigpools', mark)).toEqual([])
  }))
