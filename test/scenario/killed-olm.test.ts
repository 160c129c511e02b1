import { describe, expect, test } from 'vitest'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { killAndResume, survive } from './killed.ts'

const shape = { olm: okdOlm(), methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }

describe('SIGKILL before and after each call of kvup, upgrade by OLM', async () => {
  const update = await survive(shape, '1.18.1')

  test('every call is among the deaths, before it and after it', () => {
    const deaths = new Set([...update.deaths.values()].flat().map((death) => JSON.stringify(death)))
    for (let call = 1; call <= update.calls; call++)
      for (const death of [{ beforeCall: call }, { afterCall: call }])
        expect(deaths).toContain(JSON.stringify(death))
  })

  for (const [world, deaths] of update.deaths)
    test(`${deaths.length} deaths at ${world}: resumed, it ends as if nobody had killed it`, async () => {
      for (const death of deaths.slice(0, 1)) expect(await killAndResume(update, world, death)).toBe(0)
    })
})
