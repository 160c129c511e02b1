import { describe, expect, test } from 'vitest'
import { restoreSettingsCommand } from '../../../src/commands/restore-settings.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { play } from '../stage.ts'
import { lying } from './lying-reader.ts'
import { patchPlatform, seal, sealedRun } from './meanwhile.ts'
import { eusAbortOn, eusRunOn, small418 } from './window-stage.ts'

describe('a dry run refuses what the run would refuse', () => {
  test.each([{ until: 'nosuch' }, { pauseBefore: ['nosuch'] }])('a step that there is not: %o', (limits) =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      const mark = stage.mark
      for (const command of [eusRunOn, eusAbortOn])
        expect(await command(stage, { dryRun: 'client', ...limits })).toMatchObject({
          code: 2,
          error: { reason: 'no-such-step' },
        })
      expect(stage.writes(mark)).toEqual([])
    }),
  )

  test('a sealed plan that the cluster has drifted from', () =>
    play(small418, async (stage) => {
      await seal(stage)
      expect(await sealedRun(stage, { dryRun: 'client' })).toMatchObject({ code: 0 })
      await patchPlatform(stage, { channel: 'fast-4.18' })
      await stage.until(120_000)
      const ended = await sealedRun(stage, { dryRun: 'client' })
      expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
      expect(ended.error?.notes.join('\n')).toContain('fast-4.18')
    }))
})

test.each([
  ['kubevirts', 'kubevirt-deleting'],
  ['hyperconvergeds', 'hyperconverged-deleting'],
])('%s that are being deleted: nothing is written', (plural, reason) =>
  play(small418, async (stage) => {
    const cluster = lying(stage.cluster, plural, ({ metadata, ...rest }: KubeObject) => ({
      ...rest,
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }))
    const mark = stage.mark
    const ended = await eusRunOn(stage, {}, { cluster })
    expect(ended).toMatchObject({ code: 3, error: { reason } })
    expect(stage.writes(mark)).toEqual([])
  }),
)

test.each([
  ['hello', 'not-a-plan', 'make one with --to-file of kvup eus plan'],
  [
    'apiVersion: kvup.io/v1alpha1\nkind: UpgradePlan\n',
    'not-a-plan',
    'make one with --to-file of kvup eus plan',
  ],
])('a file that is no plan of a window names the command that makes one: %o', (text, reason, remedy) =>
  play(small418, async (stage) => {
    stage.files.set('bad.yaml', text)
    const ended = await eusRunOn(stage, { plan: 'bad.yaml' })
    expect(ended).toMatchObject({ code: 2, error: { reason } })
    expect(ended.error?.remedy).toEqual([remedy])
  }),
)

test('a plan of a window that was edited names the command that makes it anew', () =>
  play(small418, async (stage) => {
    await seal(stage)
    stage.files.set('plan.yaml', stage.files.get('plan.yaml')?.replace('to: "4.20"', 'to: "4.22"') ?? '')
    const ended = await sealedRun(stage)
    expect(ended).toMatchObject({ code: 2, error: { reason: 'plan-edited' } })
    expect(ended.error?.remedy.join('\n')).toContain('kvup eus plan --help')
  }))

test('restore, which approves nothing, takes no flag that approves', () => {
  const flags = restoreSettingsCommand(() => async () => undefined).options.map(({ long }) => long)
  expect(flags).toContain('--pool-order')
  expect(flags).not.toContain('--approve')
  expect(flags).not.toContain('--approve-also')
})
