import { describe, expect, test } from 'vitest'
import { killAndResume, survive } from './killed.ts'
import { byTag } from './stage.ts'

describe('manner 35: SIGKILL before and after each call of kvup, image tag', async () => {
  const update = await survive(byTag, 'v1.8.4')

  test('every call is among the deaths, before it and after it', () => {
    const deaths = [...update.deaths.values()].flat()
    for (let call = 1; call <= update.calls; call++)
      for (const death of [{ beforeCall: call }, { afterCall: call }]) expect(deaths).toContainEqual(death)
  })

  for (const [world, deaths] of update.deaths)
    test(`${deaths.length} deaths at ${world}: resumed, it ends as if nobody had killed it`, async () => {
      for (const death of deaths.slice(0, 1)) expect(await killAndResume(update, world, death)).toBe(0)
    })
})
