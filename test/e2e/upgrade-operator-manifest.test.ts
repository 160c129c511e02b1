import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled, kubeVirtOf, nothingToDo, operatorImage, runAgain } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, operatorManifest, startLab } from './lab.ts'

const release = ['upgrade', '--to', 'v1.8.4', '--manifest', operatorManifest('v1.8.4')]
const upgrade = [...release, '--yes', '--settle', '5s']
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'operator-manifest', operator: 'v1.7.0', methods: ['LiveMigrate'] })
})
afterAll(() => lab.stop())

test('the release manifest takes operator and components from v1.7.0 to v1.8.4', async () => {
  const outcome = await kvup(lab, upgrade)
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(outcome).toMatchObject({ code: 0 })
  expect((await kubeVirtOf(lab)).spec.imageTag).toBeUndefined()
  expect(await operatorImage(lab)).toMatch(/:v1\.8\.4$/)
})

test('a second run has nothing to do and writes nothing', async () => {
  expect(await runAgain(lab, upgrade)).toEqual(nothingToDo)
})
