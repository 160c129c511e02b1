import { expect, test } from 'vitest'
import { deathsAfterWrites, killAndResume, survive } from './killed.ts'
import { byManifest, byTag } from './stage.ts'

/** What comes after these writes is killed by the other tests. */
const untilItMoves = 6

// Nothing is borrowed here: only the cluster tells that the update was asked for already.
test.for([
  ['image tag', { ...byTag, methods: [] }, 'v1.8.4'],
  ['operator manifest', { ...byManifest, methods: [] }, 'v1.9.0'],
] as const)('killed after each write, without a loan, %s: the same line goes on', async ([, shape, to]) => {
  const update = await survive(shape, to)
  const deaths = await deathsAfterWrites(update)
  expect(deaths.length).toBeGreaterThan(3)
  const first = deaths.flatMap(([world, [death]]) => (death ? [{ world, death }] : []))
  for (const { world, death } of first.slice(0, untilItMoves))
    expect(await killAndResume(update, world, death)).toBe(0)
})
