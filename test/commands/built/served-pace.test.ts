import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { kvup } from '../in-process.ts'
import { startKvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
afterEach(() => alive.stop())

const speed = 60

/** As `kvup demo --serve --speed 60` does: answers have the cluster's own time, and the kubeconfig its pace. */
async function served(): Promise<Alive> {
  let simulated: Alive | undefined
  const said = { now: () => simulated?.cluster.store.clock.now() ?? new Date() }
  simulated = await serveCluster({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    speed,
    said,
  })
  return simulated
}

test('an update on a cluster whose time runs 60 times as fast is not taken for a process that slept', async () => {
  alive = await served()
  const config = JSON.parse(readFileSync(alive.kubeconfig, 'utf8')) as { clusters: { cluster: object }[] }
  const [{ cluster } = { cluster: {} }] = config.clusters
  Object.assign(cluster, { extensions: [{ name: 'kvup.io/pace', extension: { speed } }] })
  writeFileSync(alive.kubeconfig, JSON.stringify(config))
  const { code, stderr } = await kvup(['upgrade', '--to', 'v1.8.4', '--yes'], alive)
  expect(stderr).not.toContain('suspended')
  expect(stderr).not.toContain('the clock of this computer')
  expect(code).toBe(0)
  const now = alive.cluster.store.clock.now().getTime()
  const journal = alive.store.read(ConfigMaps, { namespace: 'kubevirt', name: 'kvup-journal' })
  const written = [...JSON.stringify(journal).matchAll(/\\"at\\":\\"([^\\]+)\\"/gu)].map(([, at = '']) => at)
  const last = Date.parse(written.toSorted().at(-1) ?? '')
  expect([last <= now, now - last < 10 * 60_000]).toEqual([true, true])
})

test('kvup demo --serve says in its kubeconfig how fast it is', async () => {
  alive = await served()
  const demo = startKvup(['demo', '--serve', '--speed', '20'])
  await demo.until(/Ctrl-C ends it/u)
  const file = /^export KUBECONFIG=(?<file>\S+)\n$/u.exec(demo.said().stdout)?.groups?.['file'] ?? ''
  const { clusters } = JSON.parse(readFileSync(file, 'utf8')) as { clusters: { cluster: object }[] }
  demo.kill('SIGINT')
  expect(clusters[0]?.cluster).toMatchObject({
    extensions: [{ name: 'kvup.io/pace', extension: { speed: 20 } }],
  })
  expect((await demo.ended).code).toBe(0)
})

test('beside a served platform lies its update graph, as it is downloaded', async () => {
  alive = await served()
  const demo = startKvup(['demo', '--serve', '--scenario', 'ocp-eus'])
  await demo.until(/Ctrl-C ends it/u)
  const file = /graph\.json: (?<file>\S+)/u.exec(demo.said().stderr)?.groups?.['file'] ?? ''
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ nodes: expect.any(Array) })
  demo.kill('SIGINT')
  expect((await demo.ended).code).toBe(0)
})
