import { expect, test } from 'vitest'
import { planAgain } from '../../src/lib/upgrade/plan/upgrade-options.ts'
import { byTag, play } from './stage.ts'

test('a sealed plan that is blocked: the line that helps makes it anew with the risk taken', async () => {
  await play({ ...byTag, version: 'v1.7.4' }, async (stage) => {
    expect(await stage.plan('v1.7.0', { stableFor: '45s', toFile: 'my plan.yaml' })).toMatchObject({
      code: 3,
    })
    const sealed = { plan: 'my plan.yaml' }
    for (const more of [{}, { dryRun: 'client' as const }]) {
      const ended = await stage.upgrade(undefined, { ...sealed, ...more })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'downgrade' } })
      expect(ended.error?.remedy.at(-1)).toBe(
        "kvup plan --to v1.7.0 --method image-tag --stable-for 45s --accept downgrade --to-file 'my plan.yaml'     makes a plan that takes the risk",
      )
    }
    expect(stage.writes()).toEqual([])
  })
})

test('drift: every difference is said once, and the plan is made anew by the flags that it was made with', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4', { leavePaused: true, accept: ['patch-skipped=it is tested'] })
    stage.edit({ imagePullPolicy: 'Always' })
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended.code).toBe(5)
    expect(ended.text.match(/was IfNotPresent, is Always/gu)).toHaveLength(1)
    expect(ended.error?.remedy[0]).toMatch(
      /^kvup plan --to v1\.8\.4 --method image-tag --leave-paused --accept 'patch-skipped=it is tested' --to-file plan\.yaml {3,}makes a new plan/u,
    )
  })
})

test('of standard input there is no file to write over; what no flag says is left out', () => {
  const request = {
    to: 'v1.8.4',
    method: 'operator-manifest',
    manifest: 'o.yaml',
    manifestSha256: 'f'.repeat(64),
  }
  const silent = {
    stableFor: '30s',
    migrations: 'wait',
    migrationsTimeout: '30m',
    pauseUpdates: true,
    follow: false,
  }
  const sealed = { request: { ...request, ...silent }, accepted: [], file: 'standard input' }
  expect(planAgain(sealed)).toBe('kvup plan --to v1.8.4 --method operator-manifest --manifest o.yaml -o yaml')
  expect(planAgain({ ...sealed, request: { to: 'v1.8.4', pauseUpdates: false } })).toBe(
    'kvup plan --to v1.8.4 --no-pause-updates -o yaml',
  )
})
