import { describe, expect, test } from 'vitest'
import { brief } from './killed.ts'
import { expectWayOn, phasesOf, stopAt } from './interrupted.ts'
import { play, second, byManifest } from './stage.ts'

describe('ended early in every phase, operator manifest', async () => {
  const phases = await phasesOf(byManifest, 'v1.9.0')

  test('the phases are the steps of the procedure', () => {
    expect([...phases.began.keys()]).toEqual([
      'pause-workload-updates',
      'migrations-in-flight',
      'apply-operator-manifest',
      'virt-operator',
      'install-strategy',
      'virt-handler',
      'virt-controller',
      'virt-api',
      'virt-exportproxy',
      'virt-template-apiserver',
      'virt-template-controller',
      'healthy',
      'virt-controller-leads',
      'resume-workload-updates',
      'healthy-again',
    ])
  })

  for (const [id, began] of phases.began) {
    test(`Ctrl-C when ${id} begins: 130 within 2 s, resumed to the same end`, async () => {
      await play(phases.shape, async (stage) => {
        const terminal = stopAt('SIGINT', (e) => e.kind === 'step-started' && e.step.id === id)
        const ended = await stage.upgrade(phases.to, brief, terminal)
        expect(ended.code).toBe(130)
        expect(ended.took - began).toBeLessThan(2 * second)
        await expectWayOn(stage, ended, phases)
      })
    })

    test(`SIGTERM while ${id} is waited for or done: 143 within 2 s, resumed to the same end`, async () => {
      await play(phases.shape, async (stage) => {
        let at = 0
        const terminal = stopAt('SIGTERM', (e) => {
          const hit = (e.kind === 'step-waiting' || e.kind === 'step-done') && e.step.id === id
          if (hit) at ||= Date.parse(e.at)
          return hit
        })
        const ended = await stage.upgrade(phases.to, brief, terminal)
        expect(ended.code).toBe(143)
        expect(stage.now - at).toBeLessThan(2 * second)
        await expectWayOn(stage, ended, phases)
      })
    })

    test(`--timeout in ${id}: 4, resumed to the same end`, async () => {
      await play(phases.shape, async (stage) => {
        const ended = await stage.upgrade(phases.to, { ...brief, timeout: `${began + 1}ms` })
        expect(ended.code).toBe(4)
        expect(ended.took - began).toBeLessThan(2 * second)
        await expectWayOn(stage, ended, phases)
      })
    })
  }
})
