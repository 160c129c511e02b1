import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled, nothingToDo, runAgain } from './installation.ts'
import { killedOverAndOver } from './killed.ts'
import { kvup } from './kvup.ts'
import { type Lab, operatorManifest, startLab } from './lab.ts'

const upgrade = [
  'upgrade',
  '--to',
  'v1.8.4',
  '--manifest',
  operatorManifest('v1.8.4'),
  '--yes',
  '--stable-for',
  '5s',
]
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'killed-operator-manifest', operator: 'v1.7.0', methods: ['LiveMigrate'] })
})
afterAll(() => lab.stop())

test('killed about ten times and started again, it ends where a run that nobody killed ends', async () => {
  const { kills } = await killedOverAndOver(lab, upgrade)
  const last = await kvup(lab, upgrade)
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(last).toMatchObject({ code: 0 })
  expect(kills).toBeGreaterThanOrEqual(8)
})

test('the journal is whole, and there is nothing left to do', async () => {
  const history = await kvup(lab, ['history', '-o', 'json'])
  expect(history).toMatchObject({ code: 0 })
  expect(JSON.parse(history.stdout)).toMatchObject({ status: 'complete' })
  expect(await runAgain(lab, upgrade)).toEqual(nothingToDo)
})
