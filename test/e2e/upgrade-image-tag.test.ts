import { afterAll, beforeAll, expect, test } from 'vitest'
import { rehearsals, rehearsalsOf } from './dry-run.ts'
import { expectRolled, kubeVirtOf, nothingToDo, runAgain } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--settle', '5s']
let lab: Lab

beforeAll(async () => {
  lab = await startLab({
    name: 'image-tag',
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
})
afterAll(() => lab.stop())

test('before it, a dry run on this side sends no write, one on the server and the plan only dry runs', async () => {
  expect(await rehearsals(lab, ['--to', 'v1.8.4'])).toEqual(rehearsalsOf('kubevirts.kubevirt.io/kubevirt'))
})

test('the real operator is taken from v1.7.0 to v1.8.4 by its tag, and every pod runs it at the exit', async () => {
  const outcome = await kvup(lab, upgrade)
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(outcome).toMatchObject({ code: 0 })
  expect((await kubeVirtOf(lab)).spec.imageTag).toBe('v1.8.4')
})

test('a second run has nothing to do and writes nothing', async () => {
  expect(await runAgain(lab, upgrade)).toEqual(nothingToDo)
})

test('status says settled, in one document', async () => {
  const { code, stdout } = await kvup(lab, ['status', '-o', 'json', '--exit-code'])
  expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'kvup.io/v1alpha1', status: 'complete' })
  expect(code).toBe(0)
})
