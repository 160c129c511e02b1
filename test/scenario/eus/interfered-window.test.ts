import { describe, expect, test } from 'vitest'
import { ConfigMaps, type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import {
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { type InstallPlan, InstallPlans } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { minute, play, type Stage } from '../stage.ts'
import { forget, writesTo } from './meanwhile.ts'
import {
  borrowedFields,
  doneSteps,
  eus418,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  small418,
} from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const loansOf = async (stage: Stage) => (await stage.journal.overrides()).map(({ id }) => id)
const pausePool = (stage: Stage, name: string, paused = true) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, { name }, { spec: { paused } })
const journal = { name: 'kvup-journal', namespace: 'openshift-cnv' }
const kubeletOf = (stage: Stage, name: string): string | undefined => {
  const nodes = stage.simulated.store.list(Nodes).items as Node[]
  return nodes.find(({ metadata }) => metadata.name === name)?.status?.nodeInfo?.kubeletVersion
}

describe('night E5: a pool that is not ours', () => {
  test('paused by somebody before: asked; accepted it stays theirs, is never borrowed, and is named at the end', () =>
    play(eus418, async (stage) => {
      await pausePool(stage, 'gpu')
      const mark = stage.mark
      const refused = await eusRunOn(stage)
      expect(refused).toMatchObject({ code: 3, error: { reason: 'pool-paused-already' } })
      expect(stage.writes(mark)).toEqual([])
      const ended = await eusRunOn(stage, { accept: ['pool-paused-already'] })
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.5')
      const overrides = (await stage.journal.entries()).filter(({ what }) => what === 'saved')
      expect(overrides.map(({ step }) => step)).toContain('pool-paused/worker')
      expect(overrides.map(({ step }) => step)).not.toContain('pool-paused/gpu')
      expect(borrowedFields(stage).paused).toEqual({ gpu: true, master: false, worker: false })
      expect(kubeletOf(stage, 'gpu-0')).toBe('v1.31.7')
      expect(ended.text).toContain('pool gpu is still paused, and not by this EUS upgrade')
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    }))

  test('one that appears is asked about; accepted it is paused, kept, and given back at the end with the others', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'accepted-4.19' })
      stage.simulated.faults.set({ addedPool: { name: 'infra', nodes: 1 } })
      await stage.until(2 * minute)
      const asked = await eusRunOn(stage)
      expect(asked).toMatchObject({ code: 3, error: { reason: 'pool-appeared' } })
      expect(borrowedFields(stage).paused['infra']).toBe(false)
      expect(await eusRunOn(stage, { accept: ['pool-appeared'], until: 'pause-infra' })).toMatchObject({
        code: 0,
      })
      expect(await loansOf(stage)).toContain('pool-paused/infra')
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      const ids = doneSteps(ended)
      expect(ids.indexOf('rolled-infra')).toBeLessThan(ids.indexOf('unpause-worker'))
      expect(borrowedFields(stage).paused).toEqual({ infra: false, master: false, worker: false })
      expect(kubeletOf(stage, 'infra-0')).toBe(kubeletOf(stage, 'master-0'))
    }))

  test('one that appears paused is nobody’s of ours: it is left alone', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'accepted-4.19' })
      stage.simulated.faults.set({ addedPool: { name: 'infra', nodes: 1, paused: true } })
      await stage.until(2 * minute)
      const ended = await eusRunOn(stage, { accept: ['pool-paused-already'] })
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage).paused).toEqual({ infra: true, master: false, worker: false })
      expect(ended.text).toContain('pool infra is still paused, and not by this EUS upgrade')
    }))
})

describe('night E7: health checks', () => {
  test('both kinds are borrowed before the first hop, and given back after the last pool', () =>
    play(eus418, async (stage) => {
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'accepted-4.19' })
      expect(borrowedFields(stage)).toMatchObject({
        machineHealth: ['kvup'],
        nodeHealth: { 'gpu-nodes': ['kvup: the platform is being updated'] },
      })
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
      const ids = doneSteps(ended)
      expect(ids.findLastIndex((id) => id.startsWith('rolled-'))).toBeLessThan(
        ids.findIndex((id) => id.startsWith('restore-machine-health-check')),
      )
    }))

  test('what others paused stays theirs, beside ours and after it', () =>
    play(eus418, async (stage) => {
      const { writer } = stage.cluster
      const place = { name: 'workers', namespace: 'openshift-machine-api' }
      await writer.mergePatch(MachineHealthChecks, place, {
        metadata: { annotations: { 'cluster.x-k8s.io/paused': 'by the night shift' } },
      })
      await writer.mergePatch(
        NodeHealthChecks,
        { name: 'gpu-nodes' },
        { spec: { pauseRequests: ['somebody'] } },
      )
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'accepted-4.19' })
      expect(borrowedFields(stage)).toMatchObject({
        machineHealth: ['by the night shift'],
        nodeHealth: { 'gpu-nodes': ['somebody', 'kvup: the platform is being updated'] },
      })
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
      expect(ended.text).toContain('MachineHealthCheck workers is still paused')
    }))
})

test('a journal that was deleted half-way is no loss: abort gives back what lies on the objects', () =>
  play(small418, async (stage) => {
    const before = borrowedFields(stage)
    await eusRunOn(stage, { until: 'operator-4.19' })
    await stage.cluster.writer.delete(ConfigMaps, journal)
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(borrowedFields(stage)).toEqual(before)
  }))

describe('a journal that was deleted, and the notes with it', () => {
  test('half-way: run, abort and restore refuse to guess, and say what the cluster shows; status does too', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'operator-4.19' })
      await forget(stage)
      const mark = stage.mark
      for (const ended of [await eusRunOn(stage), await eusAbortOn(stage), await restoreOn(stage)]) {
        expect(ended).toMatchObject({ code: 3, error: { reason: 'window-not-in-journal' } })
        expect(ended.text).toContain('pool worker is paused')
        expect(ended.text).toContain('it started at 4.18; the platform is at 4.19.14')
        expect(ended.text).toContain('its earlier value is unknown')
        expect(ended.text).toContain('MachineHealthCheck workers is paused')
      }
      const status = await eusStatusOn(stage)
      expect(status.text).toContain('pool worker is paused, but the journal has no EUS upgrade')
      expect(stage.writes(mark)).toEqual([])
    }))

  test('half-way: who takes it goes on to the target, and is told what is left as it is', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'operator-4.19' })
      await forget(stage)
      const ended = await eusRunOn(stage, { accept: ['pool-paused-already'] })
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.5')
      expect(borrowedFields(stage)).toMatchObject({
        methods: [],
        paused: { worker: true },
        machineHealth: ['kvup'],
      })
      for (const left of ['pool worker', 'MachineHealthCheck workers'])
        expect(ended.text).toContain(`${left} is still paused`)
      expect(ended.text).toContain('automatic VM updates are off')
    }))

  test('under a run: it still knows what it has borrowed, and gives all of it back', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      stage.later(20 * minute, () => void forget(stage))
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
    }))
})

test('an admin gate that opens half-way: shown with its words, never acknowledged; once a person has, it goes on', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'operator-4.19' })
    const gate = 'ack-4.19-things-in-4.20'
    const { writer } = stage.cluster
    const patch = (name: string, namespace: string, value: string) =>
      writer.mergePatch(ConfigMaps, { name, namespace }, { data: { [gate]: value } })
    await patch('admin-gates', 'openshift-config-managed', 'read this first')
    await stage.until(2 * minute)
    const mark = stage.mark
    const ended = await eusRunOn(stage)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'admin-gate' } })
    expect(ended.text).toContain(`${gate} is open: read this first`)
    expect(ended.text).toContain('patch configmap admin-acks')
    expect(writesTo(stage, 'clusterversions', mark)).toEqual([])
    expect(stage.writes(mark).filter(({ name }) => name === 'admin-acks')).toEqual([])
    await patch('admin-acks', 'openshift-config', 'true')
    await stage.until(2 * minute)
    expect(await eusRunOn(stage, { until: 'accepted-4.20' })).toMatchObject({ code: 0 })
    expect(versionOf(stage)).toBe('4.20.5')
  }))

const pending = (stage: Stage) => {
  const plans = stage.simulated.store.list(InstallPlans).items as InstallPlan[]
  return plans.filter(({ spec }) => spec?.approved === false)
}
/** A colleague, who is another user. */
const approve = async (stage: Stage) => {
  const { writer } = stage.simulated.cluster({ user: 'colleague', groups: ['system:masters'] })
  for (const { metadata } of pending(stage))
    await writer.mergePatch(InstallPlans, metadata, { spec: { approved: true } })
}

describe('an InstallPlan that somebody else approves', () => {
  test('while kvup, which may not, stands before it: joined, and none is approved twice', () =>
    play(small418, async (stage) => {
      for (const minor of ['4.19', '4.20'])
        for (let tries = 0; tries < 3; tries++) {
          const ended = await eusRunOn(stage, { approve: false, until: `operator-${minor}` })
          if (ended.error === undefined) break
          expect(ended.error.reason).toBe('approval-needed')
          await approve(stage)
        }
      expect(await eusRunOn(stage, { approve: false })).toMatchObject({ code: 0 })
      expect(writesTo(stage, 'installplans')).toEqual([])
      expect(versionOf(stage)).toBe('4.20.5')
    }))

  test('in the same moment as kvup, which may: it is theirs, and the window goes on', () =>
    play(small418, async (stage) => {
      const onEvent = (event: { kind: string; step?: { id: string } }) => {
        if (event.kind === 'step-started' && event.step?.id === 'approve-4.19.5') void approve(stage)
      }
      const ended = await eusRunOn(stage, { until: 'operator-4.19' }, { onEvent })
      expect(ended.error).toBeUndefined()
      expect(pending(stage)).toEqual([])
    }))
})
