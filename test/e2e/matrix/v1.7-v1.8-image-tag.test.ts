import { expect, test } from 'vitest'
import { dryRuns, dryRunsOf } from '../dry-run.ts'
import { kubeVirtOf } from '../installation.ts'
import { kvup } from '../kvup.ts'
import { clusterFor, type Pair, testUpgrade } from './pair.ts'

const pair: Pair = { from: 'v1.7.0', to: 'v1.8.4', by: 'image-tag' }
const { lab, watcher } = clusterFor(pair)

test('before it, a dry run on this side sends no write, one on the server and the plan only dry runs', async () => {
  expect(await dryRuns(lab(), ['--to', 'v1.8.4'])).toEqual(dryRunsOf('kubevirts.kubevirt.io/kubevirt'))
})

testUpgrade(pair, lab, watcher)

test('the tag is what was asked for', async () => {
  expect((await kubeVirtOf(lab())).spec.imageTag).toBe('v1.8.4')
})

test('status says settled, in one document', async () => {
  const { code, stdout } = await kvup(lab(), ['status', '-o', 'json', '--exit-code'])
  expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'kvup.io/v1alpha1', status: 'complete' })
  expect(code).toBe(0)
})
