import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveSimulator } from '../../src/simulator/api/http-server.ts'
import { Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { peakMegabytes, program } from './measure.mjs'
import { madeOf } from './objects.mjs'

const namespaces = 100
const workers = 50

/** `kvup workloads forecast` of so many VMs, served by the simulator over HTTP: its peak memory, its first row, and the whole, in ms. */
export async function forecastMany(total = 100_000) {
  const clock = new SimClock()
  const sim = await simulate({
    clock,
    version: 'v1.7.4',
    workers,
    controlPlanes: 1,
    methods: ['LiveMigrate', 'Evict'],
  })
  // Nothing acts on them: they are only read.
  await sim.stop()
  fill(sim.store, total)
  const server = await serveSimulator(sim.store)
  const dir = await mkdtemp(join(tmpdir(), 'kvup-bench-'))
  try {
    const file = join(dir, 'kubeconfig')
    await writeFile(file, server.kubeconfig())
    return await measured(file, total)
  } finally {
    await server.close()
    await rm(dir, { recursive: true, force: true })
  }
}

function fill(store, total) {
  for (const { metadata } of store
    .list(Nodes)
    .items.filter((node) => node.metadata.name.startsWith('worker')))
    store.patch(
      Nodes,
      metadata,
      { type: 'merge', body: { status: { allocatable: { pods: '100000' } } } },
      { on: 'status', manager: 'bench' },
    )
  for (let i = 0; i < total; i++) {
    const words = {
      name: `vm-${i}`,
      namespace: `vms-${i % namespaces}`,
      node: `worker-${(i % workers) + 1}`,
      migratable: i % 20 === 0 ? 'False' : 'True',
    }
    store.put(VirtualMachines, madeOf('forecastMachine', words))
    store.put(VirtualMachineInstances, madeOf('forecastInstance', words))
  }
}

function measured(kubeconfig, total) {
  const began = performance.now()
  const args = [program, 'workloads', 'forecast', '--to', 'v1.8.4']
  const child = spawn(process.execPath, args, { env: { ...process.env, KUBECONFIG: kubeconfig } })
  const seen = { firstRow: undefined, megabytes: 0, rows: 0, said: '', wrong: '' }
  const look = setInterval(() => (seen.megabytes = Math.max(seen.megabytes, peakMegabytes(child.pid))), 50)
  child.stdout.setEncoding('utf8').on('data', (text) => {
    seen.firstRow ??= performance.now() - began
    seen.rows += text.split('\n').length - 1
    seen.said = (seen.said + text).slice(-2000)
  })
  child.stderr.setEncoding('utf8').on('data', (text) => (seen.wrong += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(look)
      const last = seen.said.trimEnd().split('\n').at(-1)
      if (code !== 0 || seen.rows < total)
        reject(new Error(`exit ${code}, ${seen.rows} rows: ${last}\n${seen.wrong}`))
      else resolve({ ...seen, last, whole: performance.now() - began })
    })
  })
}
