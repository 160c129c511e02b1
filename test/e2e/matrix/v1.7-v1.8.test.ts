import { expect, test } from 'vitest'
import { dryRuns, dryRunsOf } from '../dry-run.ts'
import { kubeVirtOf, operatorImage } from '../installation.ts'
import { operatorManifest } from '../lab.ts'
import { clusterFor, type Pair, testUpgrade } from './pair.ts'

const pair: Pair = { from: 'v1.7.0', to: 'v1.8.4', by: 'operator-manifest' }
const { lab, watcher } = clusterFor(pair)

test('before it, a dry run on this side sends no write, one on the server and the plan only dry runs', async () => {
  expect(await dryRuns(lab(), ['--to', 'v1.8.4', '--manifest', operatorManifest('v1.8.4')])).toEqual(
    dryRunsOf(
      'clusterroles.rbac.authorization.k8s.io/kubevirt-operator',
      'customresourcedefinitions.apiextensions.k8s.io/kubevirts.kubevirt.io',
      'deployments.apps/virt-operator',
      'kubevirts.kubevirt.io/kubevirt',
      'roles.rbac.authorization.k8s.io/kubevirt-operator',
    ),
  )
})

testUpgrade(pair, lab, watcher)

test('the manifest brought the operator, and no tag is pinned', async () => {
  expect((await kubeVirtOf(lab())).spec.imageTag).toBeUndefined()
  expect(await operatorImage(lab())).toMatch(/:v1\.8\.4$/)
})
