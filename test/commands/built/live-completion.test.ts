import { createServer } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeAll(async () => {
  alive = await serveCluster({ version: 'v1.7.0', method: 'image-tag', operator: 'v1.8.4', speed: 1 })
})
afterAll(() => alive.stop())

const nowhere = { kubeconfig: '/nonexistent/config' }
async function offered(line: string, setting: { kubeconfig?: string } = nowhere) {
  const { code, stdout, stderr, ms } = await kvup(['__complete', '--', ...line.split(' ')], setting)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const values = stdout.split('\n').flatMap((row) => (/^(:|$)/.test(row) ? [] : [row.split('\t')[0]]))
  return { values, ms }
}

test('--to offers what this cluster can reach, also of a cluster that is named on the line', async () => {
  const there = ['v1.7.4', 'v1.8.4']
  expect((await offered('upgrade --to ', alive)).values).toEqual(there)
  expect((await offered('check --to=v1.8', alive)).values).toEqual(['--to=v1.8.4'])
  expect((await offered(`--kubeconfig ${alive.kubeconfig} check --to `)).values).toEqual(there)
})

test('without a cluster it offers the latest known patches', async () => {
  expect((await offered('upgrade --to ')).values).toEqual(expect.arrayContaining(['v1.8.4', 'v1.7.4']))
})

test('--context offers those of the kubeconfig, and nothing without one', async () => {
  expect((await offered('status --context ', alive)).values).toContain('sim')
  expect((await offered('status --context ')).values).toEqual([])
})

test.each([
  ['check --accept kubernetes-w', 'kubernetes-window'],
  ['upgrade --accept=kubernetes-w', '--accept=kubernetes-window'],
  ['explain kubernetes-w', 'kubernetes-window'],
  ['wait --for s', 'settled'],
  ['wait --for ', 'workloads=0'],
  ['demo --scenario wrong', 'wrong-tag'],
  ['upgrade --method im', 'image-tag'],
])('%s', async (line, value) => {
  expect((await offered(line)).values).toContain(value)
})

test('a server that never answers costs no more than a moment', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const { port } = silent.address() as { port: number }
  const kubeconfig = join(alive.folder, 'silent')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  )
  const { values, ms } = await offered('upgrade --to ', { kubeconfig })
  expect(values).toContain('v1.8.4')
  // Half a second is its patience; the rest is for a machine that is busy with other tests.
  expect(ms).toBeLessThan(2000)
  silent.close()
})
