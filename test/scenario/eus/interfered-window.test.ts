// 7 s: what others do in a window shows at its end, to which half of these are played.
import { describe, expect, test } from 'vitest'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import {
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { minute, play, type Stage } from '../stage.ts'
import { deleteJournal, forget, writesTo } from './meanwhile.ts'
import {
  borrowedFields,
  bothChecks,
  doneSteps,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  playAt,
  withPools,
} from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const loansOf = async (stage: Stage) => (await stage.journal.overrides()).map(({ id }) => id)
const pausePool = (stage: Stage, name: string, paused = true) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, { name }, { spec: { paused } })
const kubeletOf = (stage: Stage, name: string): string | undefined => {
  const nodes = stage.simulated.store.list(Nodes).items as Node[]
  return nodes.find(({ metadata }) => metadata.name === name)?.status?.nodeInfo?.kubeletVersion
}

describe('night E5: a pool that is not ours', () => {
  test('paused by somebody before: asked; accepted it stays theirs, is never borrowed, and is named at the end', () =>
    play(withPools('worker', 'gpu'), async (stage) => {
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
    }))

  test('one that appears is asked about; accepted it is paused, kept, and given back at the end with the others', () =>
    playAt('accepted-4.19')(async (stage) => {
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
})

describe('night E7: health checks', () => {
  test('both kinds are borrowed before the first hop, and given back after the last pool; all else is as it was, and again there is nothing to do', () =>
    play(bothChecks, async (stage) => {
      const before = borrowedFields(stage)
      const channels = () =>
        (stage.simulated.store.list(Subscriptions).items as Subscription[]).map(({ spec }) => spec?.channel)
      await eusRunOn(stage, { until: 'accepted-4.19' })
      expect(borrowedFields(stage)).toMatchObject({
        machineHealth: ['kvup'],
        nodeHealth: { 'worker-nodes': ['kvup: the platform is being updated'] },
      })
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.5')
      expect(borrowedFields(stage)).toEqual(before)
      expect(await stage.journal.overrides()).toEqual([])
      const ids = doneSteps(ended)
      expect(ids.findLastIndex((id) => id.startsWith('rolled-'))).toBeLessThan(
        ids.findIndex((id) => id.startsWith('restore-machine-health-check')),
      )
      // Drains put taints on and take them away, HyperConverged rewrites nothing, and on OpenShift the channel stays.
      expect(ended.text).toContain('labels and taints of the nodes are unchanged')
      expect(ended.documents.at(-1)).toMatchObject({ rewritten: [] })
      expect(channels()).toEqual(['stable'])
      const mark = stage.mark
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
      const { text, documents } = await eusStatusOn(stage)
      expect(text).toContain('no EUS upgrade is running (platform 4.20.5)')
      expect(documents.at(-1)).toMatchObject({ next: [] })
    }))

  test('what others paused stays theirs, beside ours and after it', () =>
    play(bothChecks, async (stage) => {
      const { writer } = stage.cluster
      const place = { name: 'workers', namespace: 'openshift-machine-api' }
      await writer.mergePatch(MachineHealthChecks, place, {
        metadata: { annotations: { 'cluster.x-k8s.io/paused': 'by the night shift' } },
      })
      await writer.mergePatch(
        NodeHealthChecks,
        { name: 'worker-nodes' },
        { spec: { pauseRequests: ['somebody'] } },
      )
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'channel-4.19' })
      expect(borrowedFields(stage)).toMatchObject({
        machineHealth: ['by the night shift'],
        nodeHealth: { 'worker-nodes': ['somebody', 'kvup: the platform is being updated'] },
      })
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
      expect(ended.text).toContain('MachineHealthCheck workers is still paused')
    }))
})

test('a journal that was deleted half-way is no loss: run and abort know what lies on the objects', () =>
  playAt('operator-4.19')(async (stage, before) => {
    await deleteJournal(stage)
    expect((await eusRunOn(stage, { until: 'operator-4.19' })).error).toBeUndefined()
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(borrowedFields(stage)).toEqual(before)
  }))

describe('a journal that was deleted, and the notes with it', () => {
  test('half-way: run, abort and restore refuse to guess, and say what the cluster shows; status does too; who takes it goes on to the target', () =>
    playAt('operator-4.19')(async (stage) => {
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
      expect(status.documents.at(-1)).toMatchObject({
        open: true,
        from: '4.18',
        at: '4.19.14',
        overrides: [],
        steps: [],
        parts: [
          { name: 'Pause pools', state: 'done', note: 'worker' },
          { name: 'Update the platform to 4.19', state: 'done' },
        ],
        next: expect.arrayContaining([expect.stringContaining('oc patch machineconfigpool worker')]),
      })
      for (const said of [
        'pool worker is paused, but the journal has no EUS upgrade',
        'the kubelets of the paused pools show that it started at 4.18',
        'workloadUpdateMethods is empty: its earlier value is unknown',
        'MachineHealthCheck workers is paused',
      ])
        expect(status.text).toContain(said)
      expect(stage.writes(mark)).toEqual([])
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

  test('before the first hop: pools that are merely paused are no window', () =>
    playAt('pause-worker')(async (stage) => {
      await forget(stage)
      const { documents, text } = await eusStatusOn(stage)
      expect(documents.at(-1)).toMatchObject({ open: false, at: '4.18.21' })
      expect(text).toContain('no EUS upgrade is running')
    }))

  test('under a run: it still knows what it has borrowed, and gives all of it back', () =>
    playAt('accepted-4.19')(async (stage, before) => {
      stage.later(20 * minute, () => void forget(stage))
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
    }))
})

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
    playAt('control-plane-4.19')(async (stage) => {
      for (const _ of ['4.19.5', '4.19.8']) {
        const ended = await eusRunOn(stage, { approve: false, until: 'operator-4.19' })
        expect(ended.error?.reason).toBe('approval-needed')
        expect(ended.text).toContain('kvup eus run --approve')
        await approve(stage)
      }
      expect(await eusRunOn(stage, { approve: false, until: 'operator-4.19' })).toMatchObject({ code: 0 })
      expect(writesTo(stage, 'installplans')).toEqual([])
    }))

  test('in the same moment as kvup, which may: it is theirs, and the window goes on', () =>
    playAt('control-plane-4.19')(async (stage) => {
      const onEvent = (event: { kind: string; step?: { id: string } }) => {
        if (event.kind === 'step-started' && event.step?.id === 'approve-4.19.5') void approve(stage)
      }
      const ended = await eusRunOn(stage, { until: 'operator-4.19' }, { onEvent })
      expect(ended.error).toBeUndefined()
      expect(pending(stage)).toEqual([])
    }))
})
