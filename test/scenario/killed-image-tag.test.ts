// An upgrade that is killed in each step: more than 3 s of processor time.
import { describe } from 'vitest'
import { survive, testDeaths } from './killed.ts'
import { byTag } from './stage.ts'

describe('manner 35: SIGKILL before and after each call of kvup, image tag', async () => {
  testDeaths(await survive(byTag, 'v1.8.4'))
})
