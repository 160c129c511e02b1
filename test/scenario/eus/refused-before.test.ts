import { expect, test } from 'vitest'
import { restoreSettingsCommand } from '../../../src/commands/restore-settings.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { play } from '../stage.ts'
import { lying } from './lying-reader.ts'
import { patchPlatform, seal, sealedRun } from './meanwhile.ts'
import { eusRunOn, small418 } from './window-stage.ts'

test('a dry run refuses what the run would refuse: a sealed plan that the cluster has drifted from', () =>
  play(small418, async (stage) => {
    await seal(stage)
    expect(await sealedRun(stage, { dryRun: 'client' })).toMatchObject({ code: 0 })
    await patchPlatform(stage, { channel: 'fast-4.18' })
    await stage.until(120_000)
    const ended = await sealedRun(stage, { dryRun: 'client' })
    expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    expect(ended.error?.notes.join('\n')).toContain('fast-4.18')
  }))

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

test('a file that is no plan of a window, or was edited, names the command that makes one', () =>
  play(small418, async (stage) => {
    for (const text of ['hello', 'apiVersion: kvup.io/v1alpha1\nkind: UpgradePlan\n']) {
      stage.files.set('bad.yaml', text)
      const ended = await eusRunOn(stage, { plan: 'bad.yaml' })
      expect(ended).toMatchObject({ code: 2, error: { reason: 'not-a-plan' } })
      expect(ended.error?.remedy).toEqual(['make one with --to-file of kvup eus plan'])
    }
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
