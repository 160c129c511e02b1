// An upgrade that is killed in each step: more than 3 s of processor time.
import { describe } from 'vitest'
import { drawn, survive, testDeaths } from './killed.ts'
import { byManifest } from './stage.ts'

describe('SIGKILL before and after each call of kvup, operator manifest', async () => {
  const update = await survive(byManifest, 'v1.9.0')
  testDeaths(update, drawn(update, 'step'))
})
