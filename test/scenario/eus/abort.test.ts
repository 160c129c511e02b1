// 4 s: each test is an abort, with everything borrowed that there is.
import { describe, expect, test } from 'vitest'
import type { Access } from '../../../src/lib/kube/cluster.ts'
import { VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { stopAt } from '../interrupted.ts'
import { minute, type Stage } from '../stage.ts'
import { denying } from './denying-cluster.ts'
import { expectAborted, expectedOfAbort } from './after-abort.ts'
import { abort, lentFields, playLent, playLentAt, run } from './lending-window.ts'
import { isEvery, shuffled } from '../killed.ts'
import { borrowedFields, doneSteps, eusAbortOn, restoreOn, platformOf, playAt } from './window-stage.ts'

const expected = await expectedOfAbort()
const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version

test('night E2, between hops: methods, then VMs, then pools, which roll to the minor in between', () =>
  playAt('operator-4.19')(async (stage, before) => {
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    const order = ['healthy', 'resume-workload-updates', 'workloads', 'unpause-worker', 'rolled-worker']
    expect(doneSteps(ended).filter((id) => order.includes(id))).toEqual(order)
    expect(versionOf(stage)).toBe('4.19.14')
    expect(borrowedFields(stage)).toEqual(before)
    expect(await stage.journal.overrides()).toEqual([])
    const mark = stage.mark
    for (const [again, said] of [
      [await eusAbortOn(stage), 'no EUS upgrade is running'],
      [await restoreOn(stage), 'there is no temporary change'],
    ] as const) {
      expect(again).toMatchObject({ code: 0 })
      expect(again.text).toContain(said)
    }
    expect(stage.writes(mark)).toEqual([])
  }))

/** By default one of the first, drawn by the seed, and one that only the run knows; each behind the moment that it is played from. */
const stopsBehind: readonly [until: string, from: string][] = [
  ...shuffled(
    [
      ['platform-4.19', 'accepted-4.19'],
      ['request-4.20', 'operator-4.19'],
      ['pause-worker', ''],
      ['channel-4.19', 'pause-worker'],
    ] as [string, string][],
    ([until]) => until,
  ).slice(0, 1),
  ['approve-4.19.5', 'accepted-4.19'],
]

async function stopsOfAll(): Promise<[until: string, from: string][]> {
  let steps: readonly string[] = []
  await playLent(async (stage) => {
    steps = doneSteps(await run(stage))
  })
  expect(steps.length).toBeGreaterThan(50)
  return steps.map((until) => [until, ''])
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
  test.each(isEvery ? await stopsOfAll() : stopsBehind)(
    '%s: every borrowed field is as it was',
    (until, from) =>
      (from === '' ? playLent : playLentAt(from))(async (stage) => {
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
    playLentAt('channel-4.19')(async (stage) => {
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

  test('a VM whose strategy somebody changed meanwhile: all else is given back, then it asks; answered, the window closes', () =>
    playLentAt('operator-4.19')(async (stage) => {
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

  test('what VMs were lent may not be given back: exit 7, nothing is written; may not be read: all else is given back, and that is said', () =>
    playLentAt('pause-worker')(async (stage, before) => {
      const { cluster } = stage
      const can = async (access: Access) =>
        mayChangeVm(access) ? { allowed: false, reason: 'RBAC' } : cluster.reviewer.can(access)
      const mark = stage.mark
      const refused = await abort(stage, { cluster: { ...cluster, reviewer: { ...cluster.reviewer, can } } })
      expect(refused.code).toBe(7)
      expect(refused.text).toContain('virtualmachines')
      expect(stage.writes(mark)).toEqual([])
      const ended = await abort(stage, { cluster: denying(cluster, listsVms) })
      expect(ended.error).toBeUndefined()
      expect(ended.text).toContain('kvup does not know whether VMs have temporary changes')
      const { vms: _, ...fields } = lentFields(stage)
      expect(before).toMatchObject(fields)
      expect(await stage.journal.overrides()).toEqual([])
    }))
})
