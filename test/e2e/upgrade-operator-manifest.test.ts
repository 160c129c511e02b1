import { afterAll, beforeAll, expect, test } from 'vitest'
import { rehearsals, rehearsalsOf } from './dry-run.ts'
import { expectRolled, kubeVirtOf, nothingToDo, operatorImage, runAgain } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, operatorManifest, startLab } from './lab.ts'

const release = ['--to', 'v1.8.4', '--manifest', operatorManifest('v1.8.4')]
const upgrade = ['upgrade', ...release, '--yes', '--settle', '5s']
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'operator-manifest', operator: 'v1.7.0', methods: ['LiveMigrate'] })
})
afterAll(() => lab.stop())

test('before it, a dry run on this side sends no write, one on the server and the plan only dry runs', async () => {
  expect(await rehearsals(lab, release)).toEqual(
    rehearsalsOf(
      'clusterroles.rbac.authorization.k8s.io/kubevirt-operator',
      'customresourcedefinitions.apiextensions.k8s.io/kubevirts.kubevirt.io',
      'deployments.apps/virt-operator',
      'kubevirts.kubevirt.io/kubevirt',
      'roles.rbac.authorization.k8s.io/kubevirt-operator',
    ),
  )
})

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
