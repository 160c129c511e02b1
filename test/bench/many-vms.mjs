import { readFile, rm } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'
import { operatorManifest, startLab } from '../e2e/lab.ts'
import { systemClock } from '../../src/lib/system/clock.ts'
import { openCluster } from '../../src/lib/cluster/http/open-cluster.ts'

const total = 10_000
const every = 10
const namespaces = 20
const [oldLauncher, newLauncher] = ['v1.7.2', 'v1.8.4'].map((tag) => `quay.io/kubevirt/virt-launcher:${tag}`)

/**
 * Runs `work` on a real API server that holds 10,000 VMIs of about 4 KB, of which 1,000 are outdated and 20 of these cannot be migrated.
 * Nobody acts on them: KubeVirt itself is not there, only what kvup reads of it.
 */
export async function manyVms(work) {
  const lab = await startLab({ name: 'bench-vms', workers: 2 })
  try {
    await install(lab)
    await fill(lab.kubeconfig)
    return await work(lab.kubeconfig)
  } finally {
    await lab.stop()
    await rm(lab.dir, { recursive: true, force: true })
  }
}

async function install(lab) {
  const manifest = parseAllDocuments(await readFile(operatorManifest('v1.8.4'), 'utf8')).map((one) =>
    one.toJS(),
  )
  const kubevirt = manifest.find(({ kind }) => kind === 'CustomResourceDefinition')
  const crds = [
    kubevirt,
    definition('VirtualMachine', ['vm', 'vms']),
    definition('VirtualMachineInstance', ['vmi', 'vmis']),
    definition('VirtualMachineInstanceMigration', ['vmim', 'vmims']),
  ]
  await lab.kubectl(['apply', '--server-side', '-f', '-'], list(crds))
  for (const { spec } of crds) await served(lab, `/apis/kubevirt.io/v1/${spec.names.plural}`)
  const places = Array.from({ length: namespaces }, (_, i) => `vms-${i}`).concat('kubevirt')
  await lab.kubectl(
    ['create', '-f', '-'],
    list(places.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))),
  )
  await lab.kubectl(['create', '-f', '-'], list(controlPlane()))
  const patch = [
    'patch',
    '-n',
    'kubevirt',
    'kubevirts.kubevirt.io',
    'kubevirt',
    '--type=merge',
    '--subresource=status',
    '-p',
  ]
  const settled = {
    phase: 'Deployed',
    observedKubeVirtVersion: 'v1.8.4',
    targetDeploymentID: 'one',
    observedDeploymentID: 'one',
    outdatedVirtualMachineInstanceWorkloads: total / every,
  }
  await lab.kubectl([...patch, JSON.stringify({ status: settled })])
  await lab.kubectl(['label', 'nodes', '--all', 'kubevirt.io/schedulable=true', '--overwrite'])
}

/** A kind is served a moment after its definition was taken. */
async function served(lab, path) {
  for (let left = 60; ; left--)
    try {
      return await lab.kubectl(['get', '--raw', path])
    } catch (error) {
      if (left === 0) throw error
      await systemClock.sleep(500)
    }
}

const list = (items) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })

const column = (name, jsonPath, type = 'string') => ({ name, jsonPath, type })

/** As KubeVirt defines its kinds, but for their schemas: names and columns (facts 6). */
function definition(kind, shortNames) {
  const singular = kind.toLowerCase()
  const ready = '.status.conditions[?(@.type=="Ready")].status'
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.kubevirt.io` },
    spec: {
      group: 'kubevirt.io',
      scope: 'Namespaced',
      names: { kind, singular, plural: `${singular}s`, shortNames },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          additionalPrinterColumns: [
            column('Age', '.metadata.creationTimestamp', 'date'),
            column('Phase', '.status.phase'),
            column('IP', '.status.interfaces[0].ipAddress'),
            column('NodeName', '.status.nodeName'),
            column('Ready', ready),
          ],
        },
      ],
    },
  }
}

const inHome = (name) => ({
  metadata: {
    name,
    namespace: 'kubevirt',
    labels: { 'kubevirt.io': name, 'app.kubernetes.io/managed-by': 'virt-operator' },
  },
})

/** What is read of KubeVirt besides its VMs. */
function controlPlane() {
  const labels = { 'kubevirt.io': 'virt-controller' }
  const containers = [
    { name: 'virt-controller', image: 'virt-controller', args: ['--launcher-image', newLauncher] },
  ]
  return [
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      ...inHome('kubevirt'),
      spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } },
    },
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      ...inHome('virt-controller'),
      spec: { holderIdentity: 'bench' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      ...inHome('virt-controller'),
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
  ]
}

async function fill(kubeconfig) {
  const tools = {
    clock: systemClock,
    random: Math.random,
    env: {},
    onWarning: () => {},
    verbosity: 0,
    userAgent: 'kvup/bench',
  }
  const { writer } = await openCluster({ kubeconfig }, tools)
  let next = 0
  const worker = async () => {
    for (let i = next++; i < total; i = next++) await create(writer, i)
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

const kubevirtKind = (kind) => ({
  apiVersion: 'kubevirt.io/v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
})
const machines = kubevirtKind('VirtualMachine')
const instances = kubevirtKind('VirtualMachineInstance')

/** A VMI. Only one that cannot be migrated has a VM: of the others nobody asks for it, and an owner that is not there would end them. */
async function create(writer, i) {
  const [name, namespace] = [`vm-${String(i).padStart(5, '0')}`, `vms-${i % namespaces}`]
  const outdated = Math.floor(i / namespaces) % every === 0
  const stuck = outdated && Math.floor(i / namespaces / every) % 50 === 0
  const owned = stuck && { ownerReferences: [await owner(writer, { name, namespace })] }
  await writer.create(instances, {
    apiVersion: instances.apiVersion,
    kind: instances.kind,
    metadata: {
      name,
      namespace,
      labels: {
        'kubevirt.io/nodeName': `node-${i % 50}`,
        ...(outdated && { 'kubevirt.io/outdatedLauncherImage': '' }),
      },
      annotations: { 'kubevirt.io/latest-observed-api-version': 'v1', 'bench/padding': 'x'.repeat(500) },
      ...owned,
    },
    spec: specOf(i),
    status: statusOf(i, { outdated, stuck }),
  })
}

async function owner(writer, { name, namespace }) {
  const { apiVersion, kind } = machines
  const spec = { runStrategy: 'Always', template: { metadata: {}, spec: {} } }
  const { metadata } = await writer.create(machines, {
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec,
  })
  return { apiVersion, kind, name, uid: metadata.uid, controller: true }
}

function specOf(i) {
  const disks = ['root', 'data', 'cloudinit'].map((name) => ({ name, disk: { bus: 'virtio' } }))
  return {
    evictionStrategy: 'LiveMigrate',
    domain: {
      cpu: { cores: 2, sockets: 1, threads: 1 },
      memory: { guest: '4Gi' },
      machine: { type: 'pc-q35-rhel9.4.0' },
      devices: { disks },
    },
    networks: [{ name: 'default', pod: {} }],
    volumes: ['root', 'data'].map((name) => ({ name, persistentVolumeClaim: { claimName: `${name}-${i}` } })),
  }
}

function statusOf(i, { outdated, stuck }) {
  const at = '2026-06-01T08:00:00Z'
  const judged = stuck
    ? { status: 'False', reason: 'DisksNotLiveMigratable', message: 'PVC data is not shared' }
    : { status: 'True' }
  return {
    phase: 'Running',
    nodeName: `node-${i % 50}`,
    launcherContainerImageVersion: outdated ? oldLauncher : newLauncher,
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: at },
      { type: 'LiveMigratable', lastTransitionTime: at, ...judged },
      { type: 'AgentConnected', status: 'True', lastTransitionTime: at },
    ],
    interfaces: [
      { name: 'default', ipAddress: `10.0.${i % 250}.${(i >> 8) % 250}`, mac: '02:00:00:00:00:01' },
    ],
    phaseTransitionTimestamps: ['Pending', 'Scheduling', 'Scheduled', 'Running'].map((phase) => ({
      phase,
      phaseTransitionTimestamp: at,
    })),
    volumeStatus: ['root', 'data'].map((name) => ({
      name,
      target: 'vda',
      persistentVolumeClaimInfo: { accessModes: ['ReadWriteMany'], requests: { storage: '20Gi' } },
    })),
  }
}
