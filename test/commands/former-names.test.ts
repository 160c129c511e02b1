import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { example } from '../lib/kubevirt/example.ts'
import { runText } from '../lib/run-text.ts'

const { reader, clock } = example('healthy')
const cluster = { reader } as Cluster
const kvup = (line: string) => runText(line.split(' '), { cluster, clock })

test.each([
  ['upgrade --to v1.9.0 --settle soon', 'upgrade --to v1.9.0 --stable-for soon'],
  ['upgrade --to v1.9.0 --settle=soon', 'upgrade --to v1.9.0 --stable-for=soon'],
  [
    'upgrade --to v1.9.0 --leave-held --wait-workloads',
    'upgrade --to v1.9.0 --leave-paused --wait-workloads',
  ],
  [
    'upgrade --to v1.9.0 --no-hold-workloads --leave-held',
    'upgrade --to v1.9.0 --no-pause-updates --leave-paused',
  ],
  ['workloads update --stall-timeout soon', 'workloads update --stalled-after soon'],
])('%s is refused as %s is, in the present words', async (former, present) => {
  const [was, is] = [await kvup(former), await kvup(present)]
  expect(was).toEqual(is)
  expect(is.code).toBe(2)
})

test('what follows -- is no flag', async () => {
  const { code, err } = await kvup('explain -- --settle')
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('--settle') })
})

test('wait --for settled is wait --for healthy', async () => {
  const [was, is] = [await kvup('wait --for settled -o json'), await kvup('wait --for healthy -o json')]
  expect(JSON.parse(was.out)).toEqual(JSON.parse(is.out))
  expect(JSON.parse(is.out)).toMatchObject({ for: 'healthy', met: true })
})
