import { expect, test } from 'vitest'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { example, exampleNames, expected } from '../kubevirt/example.ts'
import { runText } from '../run-text.ts'

/** Golden output beside each cluster; there has to be a KubeVirt to be judged. */
const names = exampleNames.filter((name) => name !== 'operator-without-kubevirt')

test.each(names)('kvup check --to v1.9.0 on %s', async (name) => {
  const { store, clock } = example(name)
  const place = { cluster: storeCluster(store), clock }
  const text = await runText(['check', '--to', 'v1.9.0'], place)
  const json = await runText(['check', '--to', 'v1.9.0', '-o', 'json'], place)
  expect(`exit ${text.code}\n${text.out}`).toBe(expected(name, 'check.txt', `exit ${text.code}\n${text.out}`))
  expect(json.out).toBe(expected(name, 'check.json', json.out))
  expect(json.code).toBe(text.code)
})
