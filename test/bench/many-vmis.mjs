import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runningVmi } from './objects.mjs'

const namespaces = Array.from({ length: 20 }, (_, i) => `tenant-${i + 1}`)
const atOnce = 8
const createdAt = '2026-08-01T10:00:00Z'

/**
 * Fills a cluster with running VMIs of the VMs behind them, a tenth of them outdated; returns how many bytes a VMI takes in a list. They
 * are put where the API server keeps them, in the way it keeps them: through it, 10 000 of them take minutes.
 */
export async function manyVmis(lab, count) {
  await atRest(lab)
  const list = { apiVersion: 'v1', kind: 'List', items: namespaces.map(namespaceOf) }
  await lab.kubectl(['create', '-f', '-'], JSON.stringify(list))
  const etcd = etcdOf(lab)
  let next = 0
  const putSome = async () => {
    while (next < count) await put(etcd, next++)
  }
  await Promise.all(Array.from({ length: atOnce }, putSome))
  await seen(lab, count)
  await counted(lab, outdatedOf(count))
  const one = await lab.kubectl(['get', 'vmi', '-n', namespaces[0], nameOf(0), '-o', 'json'])
  return JSON.stringify(JSON.parse(one)).length
}

/** How many of so many VMIs are outdated. */
export const outdatedOf = (count) => count / 10

/** Until the API server's cache has followed, it refuses to list, or lists fewer. */
async function seen(lab, count) {
  const until = Date.now() + 120_000
  const query = '/apis/kubevirt.io/v1/virtualmachineinstances?limit=1'
  for (let listed = 0; listed < count;) {
    if (Date.now() > until) throw new Error(`the API server lists ${listed} VMIs, not ${count}`)
    await sleep(500)
    const answer = await lab.kubectl(['get', '--raw', query]).catch(() => '{}')
    const { items = [], metadata = {} } = JSON.parse(answer)
    listed = items.length + (metadata.remainingItemCount ?? 0)
  }
}

const inKubeVirt = (lab, ...args) => lab.kubectl(['-n', 'kubevirt', ...args])

/** KubeVirt's controllers would make a pod for each. The operator first: it mends what is taken. */
async function atRest(lab) {
  for (const name of ['virt-operator', 'virt-controller']) {
    await inKubeVirt(lab, 'scale', 'deployment', name, '--replicas=0')
    await inKubeVirt(lab, 'wait', 'pod', '-l', `kubevirt.io=${name}`, '--for=delete', '--timeout=60s')
  }
}

const patch = (body) => ['--type=merge', '-p', JSON.stringify(body)]

/** What virt-controller would have written, had it seen them. Who holds its Lease must not look like a pod of it that is gone. */
async function counted(lab, outdated) {
  const status = { outdatedVirtualMachineInstanceWorkloads: outdated }
  await inKubeVirt(lab, 'patch', 'kubevirt/kubevirt', '--subresource=status', ...patch({ status }))
  const spec = { holderIdentity: 'bench' }
  await inKubeVirt(lab, 'patch', 'lease/virt-controller', ...patch({ spec }))
}

const namespaceOf = (name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const nameOf = (index) => `guest-${String(index).padStart(5, '0')}`
const base64 = (text) => Buffer.from(text).toString('base64')

/** The VM first: garbage collection ends what has an owner that is not there. */
async function put(etcd, index) {
  const namespace = namespaces[index % namespaces.length]
  const name = nameOf(index)
  const vm = kept(machine({ name, namespace }))
  await putObject(etcd, 'virtualmachines', vm)
  const { apiVersion, kind } = vm
  const owner = { apiVersion, kind, name, uid: vm.metadata.uid, controller: true, blockOwnerDeletion: true }
  // One in ten of every namespace.
  const outdated = Math.floor(index / namespaces.length) % 10 === 0
  await putObject(
    etcd,
    'virtualmachineinstances',
    kept(runningVmi({ name, namespace, index, owner, outdated })),
  )
}

/** With what the API server adds. */
const kept = (object) => ({
  ...object,
  metadata: { ...object.metadata, uid: randomUUID(), creationTimestamp: createdAt, generation: 9 },
})

const machine = (metadata) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata,
  spec: { runStrategy: 'Always', template: { metadata: {}, spec: { domain: { devices: {} } } } },
  status: { created: true, ready: true, printableStatus: 'Running' },
})

async function putObject(etcd, plural, object) {
  const { namespace, name } = object.metadata
  const body = {
    key: base64(`/registry/kubevirt.io/${plural}/${namespace}/${name}`),
    value: base64(JSON.stringify(object)),
  }
  const answer = await fetch(`${etcd}/v3/kv/put`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`)
}

/** Where the lab's etcd listens; only it knows. */
function etcdOf(lab) {
  const [pid] = /^\d+(?= \d+ etcd$)/m.exec(readFileSync(path.join(lab.dir, 'pids'), 'utf8')) ?? []
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return words.find((word) => word.startsWith('--advertise-client-urls=')).split('=')[1]
}
