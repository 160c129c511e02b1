import { describe, expect, test } from 'vitest'
import type { Access } from '../../../src/lib/kube/cluster.ts'
import { VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { stopAt } from '../interrupted.ts'
import { minute, play, type Stage } from '../stage.ts'
import { denying } from './denying-cluster.ts'
import { expectAborted, expectedOf } from './after-abort.ts'
import { abort, lentFields, playLent, run } from './lending-window.ts'
import { isEvery } from '../killed.ts'
import {
  borrowedFields,
  doneSteps,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  platformOf,
  small418,
} from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const specOf = (stage: Stage) => platformOf(stage).spec

async function expectNothingBorrowed(stage: Stage, before: unknown): Promise<void> {
  expect(borrowedFields(stage)).toEqual(before)
  expect(await stage.journal.overrides()).toEqual([])
}

describe('night E2: abort by state', () => {
  test.each(['keep-baseline', 'pause-workload-updates', 'pause-worker', 'channel-4.19'])(
    'not accepted, stopped after %s: everything as it was, the channel and desiredUpdate included',
    (until) =>
      play(small418, async (stage) => {
        const [before, spec] = [borrowedFields(stage), structuredClone(specOf(stage))]
        expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
        const ended = await eusAbortOn(stage)
        expect(ended.error).toBeUndefined()
        expect(specOf(stage)).toEqual(spec)
        expect(versionOf(stage)).toBe('4.18.21')
        await expectNothingBorrowed(stage, before)
      }),
  )

  test('a hop is running: platform and operator of that hop come to their end, then all is given back', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'accepted-4.19' })
      const channel = specOf(stage)?.channel
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.19.14')
      expect(specOf(stage)?.channel).toBe(channel)
      expect(specOf(stage)?.desiredUpdate?.version).toBe('4.19.14')
      expect(doneSteps(ended)).toEqual(
        expect.arrayContaining([
          'platform-4.19',
          'operator-4.19',
          'resume-workload-updates',
          'rolled-worker',
        ]),
      )
      expect(ended.text).toContain('Abort cannot undo: the platform remains at 4.19')
      await expectNothingBorrowed(stage, before)
    }))

  test('between hops: methods, then VMs, then pools, which roll to the minor in between', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'operator-4.19' })
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      const steps = doneSteps(ended)
      const order = ['healthy', 'resume-workload-updates', 'workloads', 'unpause-worker', 'rolled-worker']
      expect(steps.filter((id) => order.includes(id))).toEqual(order)
      expect(versionOf(stage)).toBe('4.19.14')
      await expectNothingBorrowed(stage, before)
    }))

  test('nothing is open: nothing to do, and nothing is written', () =>
    play(small418, async (stage) => {
      const mark = stage.mark
      for (const [ended, said] of [
        [await eusAbortOn(stage), 'no EUS upgrade is running'],
        [await restoreOn(stage), 'there is no temporary change'],
      ] as const) {
        expect(ended).toMatchObject({ code: 0 })
        expect(ended.text).toContain(said)
      }
      expect(stage.writes(mark)).toEqual([])
    }))
})

/** The steps of a whole window; of those that change nothing every fifth, unless all are asked for. */
async function stepsToStopAfter(): Promise<readonly string[]> {
  let steps: readonly { id: string; changed: boolean }[] = []
  await playLent(async (stage) => {
    const { events } = await run(stage)
    steps = events.flatMap((event) =>
      event.kind === 'step-done' ? [{ id: event.step.id, changed: event.changed }] : [],
    )
  })
  expect(steps.length).toBeGreaterThan(50)
  return steps.filter(({ changed }, at) => isEvery || changed || at % 5 === 0).map(({ id }) => id)
}

/** By --until; releases of the operator are known only on the way, and `--until` not of their steps: there by Ctrl-C. */
async function stopAfter(stage: Stage, id: string): Promise<void> {
  const ended = await run(stage, {}, { until: id })
  const isUnknown = ended.error?.reason === 'no-such-step'
  expect(ended.code).toBe(isUnknown ? 2 : 0)
  const isThere = stopAt('SIGINT', (event) => event.kind === 'step-done' && event.step.id === id)
  if (isUnknown) await run(stage, isThere)
  const entries = await stage.journal.entries()
  const last = entries.findLast(({ procedure }) => procedure === 'eus to 4.20')
  expect(['interrupted', undefined]).toContain(last?.what)
}

describe('stopped after each step, then aborted', async () => {
  test.each(await stepsToStopAfter())('%s: every borrowed field is as it was', (until) =>
    playLent(async (stage, before) => {
      const expected = expectedOf(stage, before)
      await stopAfter(stage, until)
      const ended = await abort(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectAborted(stage, expected, ended)
    }),
  )
})

const mayChangeVm = ({ verb, resource }: Access) => verb === 'patch' && resource === 'virtualmachines'
const listsVms = (verb: string, plural: string) => verb === 'list' && plural === 'virtualmachines'

describe('what an abort finds in its way', () => {
  test('the hop is accepted while a person thinks about the question: it is seen to its end, and that is said', () =>
    playLent(async (stage, before) => {
      const expected = expectedOf(stage, before)
      await run(stage, {}, { until: 'request-4.19' })
      expect(versionOf(stage)).toBe('4.18.21')
      const answer = () => stage.until(30 * minute).then(() => true)
      const ended = await abort(stage, { yes: false, answer })
      expect(versionOf(stage)).toBe('4.19.14')
      await expectAborted(stage, expected, ended)
      const closed = (await stage.journal.entries()).filter(({ what }) => what === 'closed')
      expect(closed.map(({ step, text }) => `${step}: ${text.split(':')[0]}`)).toEqual([
        'desired-update: the platform has accepted a step',
        'platform-channel: the platform has accepted a step',
      ])
    }))

  test('a VM that would be left behind: refused, and the line that takes it is one of abort, never of run', () =>
    playLent(async (stage) => {
      await run(stage, {}, { until: 'operator-4.19' })
      const ended = await abort(stage, {}, { accept: [] })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-that-stay' } })
      const lines = ended.error?.remedy ?? []
      expect(lines.some((line) => line.startsWith('kvup eus abort --accept vms-that-stay'))).toBe(true)
      expect(lines.filter((line) => line.startsWith('kvup eus run'))).toEqual([])
    }))

  test('a VM whose strategy somebody changed meanwhile: all else is given back, then it asks; answered, the window closes', () =>
    playLent(async (stage, before) => {
      const expected = expectedOf(stage, before)
      await run(stage, {}, { until: 'operator-4.19' })
      const db = { name: 'db', namespace: 'demo' }
      const spec = { template: { spec: { evictionStrategy: 'External' } } }
      await stage.cluster.writer.mergePatch(VirtualMachines, db, { spec })
      const ended = await abort(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'changed-meanwhile' } })
      expect(ended.error?.remedy.join('\n')).toContain('kvup restore-settings vm/demo/db --overwrite')
      const { vms: _, ...fields } = lentFields(stage)
      expect(expected.before).toMatchObject(fields)
      expect(await stage.journal.overrides()).toEqual([])
      expect(await stage.restore({ overwrite: true })).toMatchObject({ code: 0 })
      await expectAborted(stage, expected, await abort(stage))
    }))

  test('what VMs were lent may not be given back: exit 7, and nothing is written', () =>
    playLent(async (stage) => {
      await run(stage, {}, { until: 'pause-worker' })
      const { cluster } = stage
      const can = async (access: Access) =>
        mayChangeVm(access) ? { allowed: false, reason: 'RBAC' } : cluster.reviewer.can(access)
      const mark = stage.mark
      const ended = await abort(stage, { cluster: { ...cluster, reviewer: { ...cluster.reviewer, can } } })
      expect(ended.code).toBe(7)
      expect(ended.text).toContain('virtualmachines')
      expect(stage.writes(mark)).toEqual([])
    }))

  test('which VMs were lent anything may not be read: all else is given back, and that is said', () =>
    playLent(async (stage, before) => {
      await run(stage, {}, { until: 'pause-worker' })
      const ended = await abort(stage, { cluster: denying(stage.cluster, listsVms) })
      expect(ended.error).toBeUndefined()
      expect(ended.text).toContain('kvup does not know whether VMs have temporary changes')
      const { vms: _, ...fields } = lentFields(stage)
      expect(before).toMatchObject(fields)
      expect(await stage.journal.overrides()).toEqual([])
    }))
})
