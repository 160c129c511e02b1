import { describe } from 'vitest'
import { deathsAfterWrites, isEvery, shuffled, survive, testDeaths } from './killed.ts'
import { byTag } from './stage.ts'

/** So many of those after a write are drawn. */
const most = 8

describe.each([
  { name: 'taken out', shape: { ...byTag, version: 'v1.8.4' } },
  { name: 'pinned', shape: { ...byTag, version: 'v1.8.3' } },
])('SIGKILL after each write of kvup, operator manifest, tag $name', async ({ shape }) => {
  const update = await survive(shape, 'v1.9.0')
  const worlds = await deathsAfterWrites(update)
  if (worlds.length <= 15)
    throw new Error('there are fewer than there are changes, with their notes in the journal')
  testDeaths(update, isEvery ? worlds : shuffled(worlds, ([world]) => world).slice(0, most))
})
