import type { EusStatusDocument } from '../../../src/lib/eus/run/window-status-report.ts'
import { describe, expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import type { EusReportDocument } from '../../../src/lib/eus/run/window-report.ts'
import { type Ended, play, type Stage } from '../stage.ts'
import {
  borrowedFields,
  doneSteps,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  small418,
  withPools,
  playAt,
} from './window-stage.ts'

const small41818 = { ...small418, openshift: { ...ocp418to420, ...small418.openshift, version: '4.18.18' } }

const firstOfHistory = (stage: Stage) => platformOf(stage).status?.history?.[0]

async function expectNothingBorrowed(stage: Stage, before: unknown): Promise<void> {
  expect(borrowedFields(stage)).toEqual(before)
  expect(await stage.journal.overrides()).toEqual([])
}

describe('night E2: a patch is a hop as well', () => {
  test('while it runs: abort sees it to its end before anything moves, and says what stays', () =>
    play(small41818, async (stage) => {
      const before = borrowedFields(stage)
      expect(await eusRunOn(stage, { until: 'accepted-4.18.21' })).toMatchObject({ code: 0 })
      expect(firstOfHistory(stage)).toMatchObject({ state: 'Partial', version: '4.18.21' })
      const spec = structuredClone(platformOf(stage).spec)
      // It is a part of its own, and not filed under the pools.
      const { parts } = (await eusStatusOn(stage)).documents.at(-1) as unknown as EusStatusDocument
      expect(parts.map(({ name, state }) => `${state} ${name}`).slice(0, 4)).toEqual([
        'done Pause automatic VM updates',
        'done Pause pools',
        'now Update the platform to 4.18.21',
        'ahead Update the platform to 4.19',
      ])

      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(firstOfHistory(stage)).toMatchObject({ state: 'Completed', version: '4.18.21' })
      expect(platformOf(stage).spec).toEqual(spec)
      const steps = doneSteps(ended)
      const order = ['platform-4.18.21', 'resume-workload-updates', 'unpause-worker', 'rolled-worker']
      expect(steps.filter((id) => order.includes(id))).toEqual(order)
      expect(steps).not.toContain('operator-4.18')
      await expectNothingBorrowed(stage, before)

      expect(ended.text).not.toContain('The platform has accepted no step')
      expect(ended.text).toContain('The platform is updating to 4.18.21: kvup waits for its end first')
      expect(ended.text).toContain(`the channel remains ${spec?.channel}`)
      expect(ended.text).toContain('the platform remains at 4.18.21; there is no way back to 4.18.18')
    }))

  test('the channel was set and nothing asked for: it goes back, and both ends say to what', () =>
    play(small418, async (stage) => {
      const channel = platformOf(stage).spec?.channel
      await eusRunOn(stage, { until: 'channel-4.19' })
      expect(platformOf(stage).spec?.channel).not.toBe(channel)
      const question = await eusAbortOn(stage, {}, { answer: async () => false })
      expect(question.text).toMatch(
        /Abort restores: automatic VM updates, 1 pool, 1 health check, update channel\n/u,
      )
      expect(question.text).toContain('Takes minutes')
      const ended = await eusAbortOn(stage)
      expect(platformOf(stage).spec?.channel).toBe(channel)
      expect(ended.text).toContain(`The platform has accepted no step: the channel becomes ${channel}`)
      expect(ended.text).toMatch(/Restored: .*update channel/u)
    }))
})

test('a pool that is gone since, with its machines: nothing is left borrowed for it', () =>
  play(withPools('worker', 'gpu'), async (stage) => {
    await eusRunOn(stage, { until: 'pause-worker' })
    await stage.cluster.writer.delete(MachineConfigPools, { name: 'gpu' })
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('Not restored: pool-paused/gpu')
    expect(await stage.journal.overrides()).toEqual([])
  }))

const remedies = ({ error }: Ended) => (error?.remedy ?? []).join('\n')

describe('what an abort prints to type next ends the window, and does not drive it on', () => {
  const typed = { commandLine: 'kvup eus abort --graph-file graph.json' }

  test('without --approve: the line that approves is the abort as it was typed', () =>
    playAt('accepted-4.19')(async (stage) => {
      const ended = await eusAbortOn(stage, { approve: false }, typed)
      expect(ended.error?.reason).toBe('approval-needed')
      expect(ended.text).toMatch(/Abort restores: automatic VM updates, 1 pool, 1 health check\n/u)
      expect(ended.text).toMatch(/Takes .* until the nodes are updated/u)
      expect(ended.text).toContain('--approve approves them')
      expect(remedies(ended)).toContain('kvup eus abort --graph-file graph.json --approve')
      expect(remedies(ended)).not.toContain('kvup eus run')
    }))

  test('vms-that-stay: the line that takes it is the abort, or the restore, as it was typed; none takes no-room', () =>
    play({ ...small418, vms: 1 }, async (stage) => {
      await eusRunOn(stage, { until: 'operator-4.19', accept: ['vms-that-stay', 'no-room'] })
      for (const [reason, accept] of [
        ['vms-that-stay', []],
        ['no-room', ['vms-that-stay']],
      ] as const) {
        const ended = await eusAbortOn(stage, { accept: [...accept] }, typed)
        expect(ended).toMatchObject({ code: 3, error: { reason } })
        // A drain without room never ends: to accept that is not offered.
        const offered = reason !== 'no-room'
        expect(remedies(ended).includes(`kvup eus abort --graph-file graph.json --accept ${reason}`)).toBe(
          offered,
        )
        expect(remedies(ended).includes(`--accept ${reason}`)).toBe(offered)
        expect(remedies(ended)).not.toContain('kvup eus run')
        const commandLine = 'kvup restore-settings --pools'
        const restored = await restoreOn(stage, { pools: true, accept: [...accept] }, { commandLine })
        expect(restored).toMatchObject({ code: 3, error: { reason } })
        expect(remedies(restored).includes(`${commandLine} --accept ${reason}`)).toBe(offered)
      }
      expect(borrowedFields(stage).paused['worker']).toBe(true)
    }))

  test('a run of a sealed plan, which takes no other risk, is not repeated with one', () =>
    playAt('pause-worker')(async (stage) => {
      await stage.cluster.writer.mergePatch(
        MachineConfigPools,
        { name: 'worker' },
        { spec: { paused: false } },
      )
      const commandLine = 'kvup eus run --plan plan.yaml --approve'
      const ended = await eusRunOn(stage, {}, { commandLine })
      expect(ended.error?.reason).toBe('override-changed')
      expect(remedies(ended)).toContain('kvup eus run --approve --accept override-changed')
      // That leaving it is a person's word.
      await restoreOn(stage, { whats: ['pool-paused/worker'], keepCurrent: true })
      expect((await stage.journal.overrides()).map(({ id }) => id)).not.toContain('pool-paused/worker')
    }))
})

test('a dry run of abort does not say of the window that it is closed already; not begun, the end says what was given back, and nothing of what was not borrowed', () =>
  play(small418, async (stage) => {
    for (const [until, state] of [
      ['keep-baseline', 'would-change'],
      ['pause-worker', 'depends'],
    ]) {
      await eusRunOn(stage, { until: until ?? '' })
      const mark = stage.mark
      const { documents } = await eusAbortOn(stage, { dryRun: 'client' })
      const { dryRunSteps } = documents.at(-1) as unknown as EusReportDocument
      expect(dryRunSteps?.find(({ id }) => id === 'close-window')).toMatchObject({ state })
      expect(stage.writes(mark)).toEqual([])
    }
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('The platform has accepted no step: the platform is at 4.18.21, as it was')
    expect(ended.text).toContain('Restored: automatic VM updates, 1 pool')
    expect(ended.text).not.toContain('desiredUpdate')
  }))
