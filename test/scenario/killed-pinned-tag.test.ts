import { describe, expect, test } from 'vitest'
import { deathsAfterWrites, killAndResume, survive } from './killed.ts'
import { byTag } from './stage.ts'

const cases = [
  { name: 'taken out', shape: { ...byTag, version: 'v1.8.4' } },
  { name: 'pinned', shape: { ...byTag, version: 'v1.8.3' } },
] as const

for (const { name, shape } of cases)
  describe(`SIGKILL after each write of kvup, operator manifest, tag ${name}`, async () => {
    const update = await survive(shape, 'v1.9.0')
    const worlds = await deathsAfterWrites(update)

    test('there are as many as there are changes, with their notes in the journal', () => {
      expect(worlds.size).toBeGreaterThan(15)
    })

    for (const [world, deaths] of worlds)
      test(`${deaths.length} deaths at ${world}: resumed, it ends as if nobody had killed it`, async () => {
        expect(deaths).not.toHaveLength(0)
        for (const death of deaths.slice(0, 1)) expect(await killAndResume(update, world, death)).toBe(0)
      })
  })
