// An upgrade that is killed in each step: more than 3 s of processor time.
import { describe } from 'vitest'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { drawn, survive, testDeaths } from './killed.ts'

const shape = { olm: okdOlm(), methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }

describe('SIGKILL before and after each call of kvup, upgrade by OLM', async () => {
  const update = await survive(shape, '1.18.1')
  testDeaths(update, drawn(update, 'step'))
})
