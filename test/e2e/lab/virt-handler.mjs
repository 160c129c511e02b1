// Plays every virt-handler of a lab cluster, because the real one needs libvirt:
//   node virt-handler.mjs DIR
// It acts for a node only while a ready virt-handler pod is there, with a token
// bound to that pod, so RBAC, KubeVirt's webhooks and its node restriction
// policy apply. What it does is what the real one writes to the API:
//   node     labels (schedulable, CPU models) and the heartbeat annotation
//   VMI      Scheduled -> Running with LiveMigratable; ends with its launcher pod
//   VMI      both node sides of a migration: target address, start, progress,
//            hand-over of the node, completed or failed
// A VMI's annotations ask for other outcomes:
//   lab.kvup/not-migratable: REASON     LiveMigratable=False with that reason
//   lab.kvup/migration: fail | hang | 20s      default: done after LAB_MIGRATION_MS (3000)
import path from 'node:path'
import { connect } from './api.mjs'

const kubeconfig = path.join(path.resolve(process.argv[2]), 'kubeconfig')
const api = connect(kubeconfig)
const migrationMs = Number(process.env.LAB_MIGRATION_MS ?? 3000)
const heartbeatMs = Number(process.env.LAB_HEARTBEAT_MS ?? 60_000)
const model = 'Skylake-Server'
const machine = 'pc-q35-rhel9.6.0'

const log = (...a) => console.log(new Date().toISOString(), ...a)
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z')

const handlers = new Map() // node -> {pod, api: a client with a token of that pod}
const pods = new Map() // uid -> launcher pod
const vmis = new Map() // uid -> VMI
const timers = new Map() // uid -> Timeout

// --- the virt-handler pods ----------------------------------------------------
async function arrive(pod) {
  const node = pod.spec.nodeName
  if (handlers.get(node)?.pod.metadata.uid === pod.metadata.uid) return
  const entry = { pod }
  handlers.set(node, entry)
  const { namespace, name, uid } = pod.metadata
  try {
    const t = await api.post(
      `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.spec.serviceAccountName}/token`,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 86400, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
      },
    )
    entry.api = connect(kubeconfig, t.status.token)
  } catch (e) {
    log('no token for', name, e.message)
    if (handlers.get(node) === entry) handlers.delete(node)
    return
  }
  log('virt-handler', name, 'on', node)
  void heartbeat(node)
  for (const vmi of vmis.values()) consider(vmi)
}
function leave(pod) {
  const node = pod.spec.nodeName
  if (handlers.get(node)?.pod.metadata.uid === pod.metadata.uid) handlers.delete(node)
}
async function heartbeat(node) {
  const entry = handlers.get(node)
  if (!entry?.api) return
  await entry.api
    .patch(
      `/api/v1/nodes/${node}`,
      {
        metadata: {
          annotations: { 'kubevirt.io/heartbeat': now() },
          labels: {
            'kubevirt.io/schedulable': 'true',
            cpumanager: 'false',
            'kubevirt.io/cpumanager': 'false',
            [`host-model-cpu.node.kubevirt.io/${model}`]: 'true',
            [`cpu-model.node.kubevirt.io/${model}`]: 'true',
            [`cpu-model-migration.node.kubevirt.io/${model}`]: 'true',
            'machine-type.node.kubevirt.io/q35': 'true',
            [`machine-type.node.kubevirt.io/${machine}`]: 'true',
          },
        },
      },
      'strategic-merge-patch',
    )
    .catch((e) => log('heartbeat', node, e.message))
}
setInterval(() => {
  for (const node of handlers.keys()) void heartbeat(node)
}, heartbeatMs)

api.watch('/api/v1/pods?labelSelector=kubevirt.io%3Dvirt-handler', ({ type, object: pod }) => {
  const ready = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')
  if (type === 'DELETED' || pod.metadata.deletionTimestamp || !ready) leave(pod)
  else void arrive(pod)
})

// --- VMIs ----------------------------------------------------------------------
const at = (vmi) =>
  `/apis/kubevirt.io/v1/namespaces/${vmi.metadata.namespace}/virtualmachineinstances/${vmi.metadata.name}`
// (times are never null: virt-controller's own patches test for the exact old list)
const condition = (type, status, more = {}) => ({
  type,
  status,
  lastProbeTime: now(),
  lastTransitionTime: now(),
  ...more,
})

// an update, not a patch: v1.9 took the verb patch away from virt-handler
const merge = (a, b) => {
  if (b === null || typeof b !== 'object' || Array.isArray(b)) return b
  const out = { ...a }
  for (const [k, v] of Object.entries(b)) {
    if (v === null) delete out[k]
    else out[k] = merge(out[k], v)
  }
  return out
}
async function write(vmi, node, patch, what) {
  const entry = handlers.get(node)
  if (!entry?.api) return later(vmi, 1000)
  try {
    const next = await entry.api.put(at(vmi), merge(vmi, patch))
    vmis.set(next.metadata.uid, next)
    log(`${vmi.metadata.namespace}/${vmi.metadata.name}`, what)
    consider(next)
  } catch (e) {
    if (e.code === 404) return
    if (e.code !== 409) log(`${vmi.metadata.namespace}/${vmi.metadata.name}`, what, 'refused:', e.message)
    later(vmi, e.code === 409 ? 200 : 2000)
  }
}
function later(vmi, ms) {
  const { uid } = vmi.metadata
  clearTimeout(timers.get(uid))
  timers.set(
    uid,
    setTimeout(() => {
      timers.delete(uid)
      const v = vmis.get(uid)
      if (v) consider(v)
    }, ms),
  )
}
const busy = new Set()
function consider(vmi) {
  const { uid } = vmi.metadata
  if (busy.has(uid)) return
  busy.add(uid)
  Promise.resolve(step(vmi))
    .catch((e) => log('step', vmi.metadata.name, e.message))
    .finally(() => {
      busy.delete(uid)
      const latest = vmis.get(uid)
      if (latest && latest.metadata.resourceVersion !== vmi.metadata.resourceVersion) consider(latest)
    })
}

// a virt-launcher that has nothing left to run exits; kwok ends its pod
const exit = (vmi, pod) =>
  pod &&
  api
    .patch(`/api/v1/namespaces/${vmi.metadata.namespace}/pods/${pod}`, {
      metadata: { annotations: { 'lab.kvup/exit': '0' } },
    })
    .catch((e) => {
      if (e.code !== 404) log('exit', pod, e.message)
    })
const transition = (vmi, phase) => [
  ...(vmi.status.phaseTransitionTimestamps ?? []),
  { phase, phaseTransitionTimestamp: now() },
]

async function step(vmi) {
  const s = vmi.status ?? {}
  const node = s.nodeName
  if (!node || ['Succeeded', 'Failed', '', 'Pending', 'Scheduling'].includes(s.phase ?? '')) return
  const m = s.migrationState
  const migrating = m?.migrationUid && m.targetNode && !m.endTimestamp

  // the launcher pod goes, or the VMI is to go: the guest is shut down
  const launcher = [...pods.values()].filter(
    (p) =>
      p.metadata.labels['kubevirt.io/created-by'] === vmi.metadata.uid &&
      p.spec.nodeName === node &&
      s.activePods?.[p.metadata.uid],
  )
  const going = launcher.length > 0 && launcher.every((p) => p.metadata.deletionTimestamp)
  if (vmi.metadata.deletionTimestamp || (going && !migrating && s.phase === 'Running')) {
    for (const p of launcher) exit(vmi, p.metadata.name)
    return write(
      vmi,
      node,
      { status: { phase: 'Succeeded', phaseTransitionTimestamps: transition(vmi, 'Succeeded') } },
      'shut down',
    )
  }
  if (s.phase === 'Scheduled') return boot(vmi, node)
  if (migrating) return migrate(vmi, m)
  if (m?.completed && vmi.metadata.labels?.['kubevirt.io/migrationTargetNodeName']) {
    await exit(vmi, m.failed ? m.targetPod : m.sourcePod)
    return write(
      vmi,
      m.targetNode,
      { metadata: { labels: { 'kubevirt.io/migrationTargetNodeName': null } } },
      'migration cleaned up',
    )
  }
}

function boot(vmi, node) {
  const reason = vmi.metadata.annotations?.['lab.kvup/not-migratable']
  const cpu = vmi.spec.domain.cpu ?? {}
  const conditions = (vmi.status.conditions ?? []).filter(
    (c) => !['LiveMigratable', 'StorageLiveMigratable'].includes(c.type),
  )
  conditions.push(
    reason
      ? condition('LiveMigratable', 'False', { reason, message: `cannot migrate VMI: ${reason}` })
      : condition('LiveMigratable', 'True'),
  )
  conditions.push(condition('StorageLiveMigratable', 'True'))
  return write(
    vmi,
    node,
    {
      status: {
        phase: 'Running',
        phaseTransitionTimestamps: transition(vmi, 'Running'),
        conditions,
        migrationMethod: reason ? 'BlockMigration' : 'LiveMigration',
        migrationTransport: 'Unix',
        machine: { type: machine },
        guestOSInfo: {},
        currentCPUTopology: { cores: cpu.cores ?? 1, sockets: cpu.sockets ?? 1, threads: cpu.threads ?? 1 },
        runtimeUser: 107,
        selinuxContext: 'none',
        virtualMachineRevisionName: vmi.status.virtualMachineRevisionName,
      },
    },
    `running on ${node}`,
  )
}

const since = (t) => Date.now() - Date.parse(t)
const state = (more, rest = {}) => ({ ...rest, status: { ...rest.status, migrationState: more } })

// One step per call; which one is read off the state, as the real ones do.
function migrate(vmi, m) {
  const wish = vmi.metadata.annotations?.['lab.kvup/migration'] ?? ''
  if (m.abortRequested && m.abortStatus !== 'Succeeded') {
    return write(
      vmi,
      m.sourceNode,
      state({
        abortStatus: 'Succeeded',
        failed: true,
        completed: true,
        endTimestamp: now(),
        failureReason: 'Live migration aborted',
      }),
      'migration aborted',
    )
  }
  if (!m.targetNodeAddress) {
    return write(
      vmi,
      m.targetNode,
      state({ targetNodeAddress: '127.0.0.1', targetDirectMigrationNodePorts: { 49152: 0, 49153: 49153 } }),
      `target ${m.targetNode} prepared`,
    )
  }
  if (!m.startTimestamp)
    return write(vmi, m.sourceNode, state({ startTimestamp: now(), mode: 'PreCopy' }), 'migration started')
  if (wish === 'hang') return
  if (wish === 'fail') {
    return write(
      vmi,
      m.sourceNode,
      state({
        failed: true,
        completed: true,
        endTimestamp: now(),
        failureReason: "operation failed: guest CPU doesn't match specification: extra features: ht",
      }),
      'migration failed',
    )
  }
  const duration = /^\d+s$/.test(wish) ? parseInt(wish, 10) * 1000 : migrationMs
  const left = duration - since(m.startTimestamp)
  if (left > 0) return later(vmi, left)
  if (!m.targetNodeDomainReadyTimestamp) {
    return write(
      vmi,
      m.targetNode,
      state({ targetNodeDomainDetected: true, targetNodeDomainReadyTimestamp: now() }),
      'domain runs on the target',
    )
  }
  // hand-over: the VMI belongs to the target node now (ackMigrationCompletion)
  return write(
    vmi,
    m.targetNode,
    state(
      { endTimestamp: now(), completed: true },
      {
        metadata: {
          labels: { 'kubevirt.io/nodeName': m.targetNode, 'kubevirt.io/outdatedLauncherImage': null },
        },
        status: { nodeName: m.targetNode, launcherContainerImageVersion: null, evacuationNodeName: null },
      },
    ),
    `migrated to ${m.targetNode}`,
  )
}

api.watch('/apis/kubevirt.io/v1/virtualmachineinstances', ({ type, object }) => {
  const { uid } = object.metadata
  if (type === 'DELETED') {
    vmis.delete(uid)
    clearTimeout(timers.get(uid))
    timers.delete(uid)
    return
  }
  vmis.set(uid, object)
  consider(object)
})
api.watch('/api/v1/pods?labelSelector=kubevirt.io%3Dvirt-launcher', ({ type, object }) => {
  if (type === 'DELETED') pods.delete(object.metadata.uid)
  else pods.set(object.metadata.uid, object)
  if (type !== 'DELETED' && !object.metadata.deletionTimestamp) return
  const vmi = vmis.get(object.metadata.labels['kubevirt.io/created-by'])
  if (vmi) consider(vmi)
})
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
