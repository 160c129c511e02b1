// Upgrades that are killed behind a write: more than 3 s of processor time.
import { describe } from 'vitest'
import { drawnWrites, survive, testDeaths } from './killed.ts'
import { byManifest, byTag } from './stage.ts'

describe.each([
  { name: 'tag taken out', shape: { ...byTag, version: 'v1.8.4' }, to: 'v1.9.0', atLeast: 15 },
  { name: 'tag pinned', shape: { ...byTag, version: 'v1.8.3' }, to: 'v1.9.0', atLeast: 15 },
  // Nothing is borrowed by these: only the cluster tells that the update was asked for already.
  { name: 'image tag without a loan', shape: { ...byTag, methods: [] }, to: 'v1.8.4', atLeast: 3 },
  { name: 'manifest without a loan', shape: { ...byManifest, methods: [] }, to: 'v1.9.0', atLeast: 3 },
])('SIGKILL behind a write of kvup, $name', async ({ shape, to, atLeast }) => {
  const update = await survive(shape, to)
  if (update.written.length <= atLeast) throw new Error('there are fewer writes than there are changes')
  testDeaths(update, drawnWrites(update, 2))
})
