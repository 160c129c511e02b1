import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

const byTag = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 0 } as const
const planning = '--contexts prod-* --to v1.8.4 --method image-tag --to-file fleet-plan.yaml'.split(' ')
const going = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--yes']

async function staged(names: readonly string[], shape: Omit<Simulation, 'clock'> = byTag) {
  const stage = await fleetStage(names, () => shape)
  onTestFinished(() => stage.stop())
  return stage
}

async function planned(stage: FleetStage, line: readonly string[]): Promise<string> {
  const ran = await stage.run(['fleet', 'plan', ...line])
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 0 })
  const { seal } = parse(readFileSync(join(stage.folder, 'fleet-plan.yaml'), 'utf8')) as {
    seal: { uid: string }
  }
  return seal.uid
}

const kubeVirtOf = (stage: FleetStage, name: string): KubeVirt => {
  const [found] = stage.cluster(name).cluster.store.list(KubeVirts).items
  if (found === undefined) throw new Error(`no KubeVirt in ${name}`)
  return found
}
const versionOf = (stage: FleetStage, name: string) => kubeVirtOf(stage, name).status?.observedKubeVirtVersion

/** As anybody can who may write ConfigMaps there. */
async function forgeEnd(stage: FleetStage, name: string, fleet: { uid: string; wave: number }) {
  const { namespace = '' } = kubeVirtOf(stage, name).metadata
  const entry = {
    at: '2020-01-01T00:00:00Z',
    by: 'anna@x',
    procedure: 'upgrade',
    step: 'x',
    what: 'finished',
  }
  const { writer } = stage.cluster(name).cluster.cluster()
  await writer.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kvup-journal', namespace },
    data: { entries: JSON.stringify({ ...entry, text: 'done', fleet }) },
  })
}

test('a forged end does not spare a cluster its upgrade: not by image tag, and not by OLM', async () => {
  const tagged = await staged(['prod-0'])
  await forgeEnd(tagged, 'prod-0', { uid: await planned(tagged, planning), wave: 1 })
  expect(await tagged.run(going)).toMatchObject({ code: 0 })
  expect(versionOf(tagged, 'prod-0')).toBe('v1.8.4')
  const olm = await staged(['prod-0'], {
    methods: ['LiveMigrate'],
    workers: 1,
    controlPlanes: 1,
    olm: okdOlm(),
  })
  const before = versionOf(olm, 'prod-0')
  const line = '--contexts prod-* --to 1.18.1 --method olm --to-file fleet-plan.yaml'.split(' ')
  await forgeEnd(olm, 'prod-0', { uid: await planned(olm, line), wave: 1 })
  const ended = await olm.run([...going, '-o', 'json'])
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(versionOf(olm, 'prod-0')).not.toBe(before)
})

test('a journal that is gone during the soak starts it again, and no wave', async () => {
  const stage = await staged(['prod-0', 'prod-1'])
  await planned(stage, [...planning, '--canary', 'prod-0', '--soak', '20h'])
  const first = stage.start(going)
  await first.until(/begins in 19 h|begins in 20 h/u)
  first.kill('SIGINT')
  await first.ended
  const { writer } = stage.cluster('prod-0').cluster.cluster()
  await writer.delete(ConfigMaps, { name: 'kvup-journal', namespace: 'kubevirt' })
  const again = stage.start(going)
  await again.until(/begins in 19 h|begins in 20 h/u)
  again.kill('SIGINT')
  expect(await again.ended).toMatchObject({ code: 130 })
  expect(stage.writes('prod-1')).toBe(0)
})

test('a wave that another machine is at is neither done nor failed: nothing further begins, and nothing is called over', async () => {
  const stage = await staged(['prod-0', 'prod-1'])
  await planned(stage, [...planning, '--wave-size', '1', '--stop-after', '2'])
  stage.cluster('prod-0').cluster.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const first = stage.start([...going, '--timeout', '5h'])
  await first.until(/prod-0: set/u)
  const second = await stage.run(going, 'another')
  expect({ code: second.code, said: second.stderr }).toMatchObject({ code: 6 })
  expect(stage.writes('prod-1')).toBe(0)
  expect(stage.journal('prod-0')).not.toContain('"over":true')
  first.kill('SIGKILL')
  await first.ended
})

/** Stands in front of a cluster of the kubeconfig, and can be pointed elsewhere. */
async function behindProxy(stage: FleetStage, name: string) {
  let target = stage.cluster(name).url
  const server = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked
    const passed = request(new URL(url, target), { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      given.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as {
    clusters: { name: string; cluster: { server: string } }[]
  }
  for (const one of config.clusters)
    if (one.name === name) one.cluster.server = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(file, JSON.stringify(config))
  return (other: string) => {
    target = stage.cluster(other).url
  }
}

test('a context that leads to another cluster in the middle of the run stops it: that one is well, and not what was upgraded', async () => {
  const stage = await staged(['prod-0', 'prod-1', 'other'])
  const leadTo = await behindProxy(stage, 'prod-0')
  await planned(stage, [...planning, '--canary', 'prod-0', '--soak', '10m'])
  const live = stage.start(going)
  await live.until(/begins in/u)
  leadTo('other')
  const ended = await live.ended
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 3 })
  expect(ended.stderr).toContain('context prod-0 leads to another cluster than before')
  expect([stage.writes('prod-1'), stage.writes('other')]).toEqual([0, 0])
})

test('two contexts of one cluster with another wave or window each are refused: one of them would be dropped', async () => {
  const stage = await staged(['prod-0'])
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as {
    contexts: { name: string; context: { cluster: string; user: string } }[]
  }
  config.contexts.push({ name: 'prod-again', context: { cluster: 'prod-0', user: 'admin' } })
  writeFileSync(file, JSON.stringify(config))
  const ran = await stage.run(['fleet', 'plan', ...planning, '--canary', 'prod-again'])
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('prod-0 and prod-again are one cluster')
})

test('runs that were given up are given up by one line, however many they were', async () => {
  const stage = await staged(['prod-0', 'prod-1'])
  await planned(stage, planning)
  await forgeEnd(stage, 'prod-0', { uid: '11111111-1111-4111-8111-111111111111', wave: 1 })
  await forgeEnd(stage, 'prod-1', { uid: '22222222-2222-4222-8222-222222222222', wave: 1 })
  const refused = await stage.run(going)
  expect(refused.code).toBe(6)
  const [line = ''] = /--replace-run \S+ --replace-run \S+/u.exec(refused.stderr) ?? []
  expect(line).not.toBe('')
  expect(await stage.run([...going, ...line.split(' ')])).toMatchObject({ code: 0 })
})
