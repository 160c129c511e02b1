import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VirtualMachineInstances, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { serveSimulator } from '../../src/simulator/api/http-server.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { peakMegabytes, program } from './measure.mjs'
import { madeOf } from './objects.mjs'

/** VMs, and the nodes that they run on. */
const sizes = [
  [100, 10],
  [1000, 50],
  [10_000, 200],
]

/** `kvup rehearse --from` of clusters of several sizes, the updates of their VMs included: seconds and peak memory of each. */
export async function rehearseMany() {
  const rows = []
  for (const [vms, workers] of sizes) {
    const dir = await mkdtemp(join(tmpdir(), 'kvup-bench-'))
    try {
      const file = join(dir, 'cluster.ndjson')
      await snapshot({ vms, workers, dir, file })
      rows.push({ vms, workers, ...(await rehearsed(file, vms)) })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }
  return rows
}

/** Of a simulated cluster, as `kvup snapshot` takes it. */
async function snapshot({ vms, workers, dir, file }) {
  const sim = await simulate({
    clock: new SimClock(),
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
    workers,
  })
  // Nothing acts on them: they are only saved.
  await sim.stop()
  for (let i = 0; i < vms; i++) {
    const words = { name: `vm-${i}`, namespace: `vms-${i % 50}`, node: `worker-${(i % workers) + 1}` }
    sim.store.put(VirtualMachines, madeOf('rehearsedMachine', words))
    sim.store.put(VirtualMachineInstances, madeOf('rehearsedInstance', words))
  }
  const server = await serveSimulator(sim.store)
  try {
    const kubeconfig = join(dir, 'kubeconfig')
    await writeFile(kubeconfig, server.kubeconfig())
    await ended(kvup(['snapshot', '--to-file', file], { KUBECONFIG: kubeconfig }), 'snapshot')
  } finally {
    await server.close()
  }
}

const kvup = (args, env = {}) =>
  spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** One that moved nothing would be quick. */
async function rehearsed(file, vms) {
  const began = performance.now()
  const child = kvup(['rehearse', '--to', 'v1.8.4', '--from', file, '-o', 'json'])
  let megabytes = 0
  const look = setInterval(() => (megabytes = Math.max(megabytes, peakMegabytes(child.pid))), 50)
  try {
    const updated = (await ended(child, 'rehearse')).split('"becomes": "updated"').length - 1
    if (updated !== vms) throw new Error(`${updated} of ${vms} VMs were updated`)
    return { seconds: (performance.now() - began) / 1000, megabytes }
  } finally {
    clearInterval(look)
  }
}

function ended(child, what) {
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (said.err += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0
        ? resolve(said.out)
        : reject(new Error(`kvup ${what}: exit ${code}\n${said.err}${said.out.slice(-2000)}`)),
    )
  })
}
