// Runs, on this machine, the pods for which a real program was built, and lets
// the apiserver reach them. Started by up:   node kubelet.mjs DIR
//
//  - virt-operator, virt-api, virt-controller: one process per ReplicaSet (its
//    first live pod; the others are played by kwok), with the pod's own image
//    tag choosing the program, its own args and env, and a token of its own
//    ServiceAccount, so that RBAC is that of the manifests. It listens on a
//    loopback address of its own, on the ports that the pod declares.
//  - the install-strategy Job's pod: run once, its exit code becomes the pod's.
//  - DIR/egress.sock: CONNECT proxy of the apiserver (webhooks, aggregated
//    APIs): service address -> running process. Anything else is refused.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { connect } from './api.mjs'
import { listenForApiserver } from './egress-proxy.mjs'

const dir = path.resolve(process.argv[2])
const bin = process.env.KVUP_LAB_BIN
const perSet = Number(process.env.LAB_PROCS_PER_SET ?? 1)
const only = (process.env.LAB_RUN ?? 'virt-operator,virt-api,virt-controller').split(',')
const api = connect(path.join(dir, 'kubeconfig'))
const apiPort = Number(new URL(api.kubeconfig.clusters[0].cluster.server).port)
// A host name per pod needs root, or a user namespace where the kernel allows one.
const ownHost = [['--uts'], ['--user', '--map-root-user', '--uts']].find(
  (flags) => spawnSync('unshare', [...flags, 'sh', '-c', 'hostname lab-probe']).status === 0,
)
const log = (...a) => console.log(new Date().toISOString(), ...a)

const pods = new Map() // uid -> pod
const services = new Map() // "ip" -> service
const running = new Map() // uid -> {child, address, pod, set, ready}
let addresses = 0

const tagOf = (image) => image.match(/:([^:/@]+)$/)?.[1]
const setOf = (pod) => pod.metadata.ownerReferences?.[0]?.uid ?? pod.metadata.uid
const programOf = (pod) => {
  const c = pod.spec.containers[0]
  const name = c.command?.[0]
  if (!only.includes(name) && name !== 'virt-operator') return undefined
  const file = path.join(bin, 'kubevirt', tagOf(c.image) ?? '', name)
  return fs.existsSync(file) ? { name, file } : undefined
}
const isDumper = (pod) => pod.metadata.labels?.['kubevirt.io'] === 'virt-operator-strategy-dumper'
const podPath = (pod) => `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`
const annotate = (pod, annotations) =>
  api.patch(podPath(pod), { metadata: { annotations } }).catch((e) => {
    if (e.code !== 404) log('annotate', pod.metadata.name, e.message)
  })

function environment(pod, c) {
  const env = {}
  for (const e of c.env ?? []) {
    if (e.value !== undefined) env[e.name] = e.value
    const field = e.valueFrom?.fieldRef?.fieldPath
    if (field === 'metadata.name') env[e.name] = pod.metadata.name
    else if (field === 'metadata.namespace') env[e.name] = pod.metadata.namespace
    else if (field === 'spec.nodeName') env[e.name] = pod.spec.nodeName
    else if (field === 'status.podIP') env[e.name] = pod.status.podIP
    else if (field) env[e.name] = pod.metadata.annotations?.[field.match(/\['(.*)'\]/)?.[1]] ?? ''
  }
  return env
}

async function kubeconfigFor(pod, folder) {
  const ns = pod.metadata.namespace
  const sa = pod.spec.serviceAccountName ?? 'default'
  const t = await api.post(`/api/v1/namespaces/${ns}/serviceaccounts/${sa}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 86400 },
  })
  const kc = {
    ...api.kubeconfig,
    users: [{ name: sa, user: { token: t.status.token } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: sa, namespace: ns } }],
  }
  const file = path.join(folder, 'kubeconfig')
  fs.writeFileSync(file, JSON.stringify(kc), { mode: 0o600 })
  return file
}

// Secret and ConfigMap volumes become folders; the flags that name files in
// them (those programs have defaults under /etc) are pointed there.
async function volumes(pod, folder) {
  const at = {}
  for (const v of pod.spec.volumes ?? []) {
    const name = v.secret?.secretName ?? v.configMap?.name
    if (!name) continue
    const kind = v.secret ? 'secrets' : 'configmaps'
    let object
    try {
      object = await api.get(`/api/v1/namespaces/${pod.metadata.namespace}/${kind}/${name}`)
    } catch {
      continue
    }
    const target = path.join(folder, v.name)
    fs.mkdirSync(target, { recursive: true })
    for (const [k, data] of Object.entries(object.data ?? {}))
      fs.writeFileSync(path.join(target, k), v.secret ? Buffer.from(data, 'base64') : data, { mode: 0o600 })
    const mount = pod.spec.containers[0].volumeMounts?.find((m) => m.name === v.name)?.mountPath
    if (mount) at[mount] = target
  }
  return at
}
const fileFlags = {
  'virt-api': {
    '--tls-cert-file': '/etc/virt-api/certificates/tls.crt',
    '--tls-key-file': '/etc/virt-api/certificates/tls.key',
    '--handler-cert-file': '/etc/virt-handler/clientcertificates/tls.crt',
    '--handler-key-file': '/etc/virt-handler/clientcertificates/tls.key',
  },
  'virt-controller': {
    '--prom-cert-file': '/etc/virt-controller/certificates/tls.crt',
    '--prom-key-file': '/etc/virt-controller/certificates/tls.key',
  },
}

function nextAddress() {
  addresses = (addresses % 250) + 1
  return `127.${64 + ((apiPort >> 8) & 127)}.${apiPort & 255}.${addresses}`
}

async function start(pod) {
  const uid = pod.metadata.uid
  const program = programOf(pod)
  const entry = { pod, set: setOf(pod), address: nextAddress(), ready: false }
  running.set(uid, entry)
  try {
    const folder = path.join(dir, 'pods', pod.metadata.name)
    fs.mkdirSync(folder, { recursive: true })
    const c = pod.spec.containers[0]
    const kubeconfig = await kubeconfigFor(pod, folder)
    const mounts = await volumes(pod, folder)
    const args = [...c.command.slice(1), ...(c.args ?? []), '--kubeconfig', kubeconfig]
    const dumper = isDumper(pod)
    if (!dumper) {
      args.push('--listen', entry.address)
      for (const [flag, file] of Object.entries(fileFlags[program.name] ?? {})) {
        const folderOf = mounts[path.dirname(file)]
        if (folderOf) args.push(flag, path.join(folderOf, path.basename(file)))
      }
    }
    if (running.get(uid) !== entry) return // the pod went meanwhile
    const out = fs.openSync(path.join(dir, 'log', `${pod.metadata.name}.log`), 'a')
    // Its host name is the pod's, as in a container: leader election goes by it.
    const inPod = ownHost
      ? ['unshare', ...ownHost, 'sh', '-c', 'hostname "$0" && exec "$@"', pod.metadata.name, program.file]
      : [program.file]
    entry.child = spawn(inPod[0], [...inPod.slice(1), ...args], {
      cwd: folder,
      stdio: ['ignore', out, out],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        ...environment(pod, c),
        ...(dumper ? {} : { POD_NAME: pod.metadata.name }),
      },
    })
    fs.closeSync(out)
    log('start', pod.metadata.name, c.image, entry.child.pid, entry.address)
    entry.child.on('exit', (code, signal) => {
      log('exit', pod.metadata.name, code ?? signal)
      if (running.get(uid) === entry) entry.child = undefined
      if (dumper) {
        void annotate(pod, { 'lab.kvup/exit': String(code ?? 1) })
        return
      }
      entry.ready = false
      // as a kubelet does: start it again, unless the pod is going
      setTimeout(() => {
        if (running.get(uid) === entry) {
          running.delete(uid)
          consider(pods.get(uid))
        }
      }, 2000).unref()
    })
    if (!dumper) {
      const port =
        c.ports?.find((p) => p.name === 'webhooks' || p.name === 'virt-api')?.containerPort ??
        c.ports?.[0]?.containerPort
      await listening(entry, port)
      entry.ready = true
      await annotate(pod, { 'lab.kvup/ready': 'true', 'lab.kvup/address': `${entry.address}:${port}` })
      for (const other of pods.values()) consider(other)
    }
  } catch (e) {
    log('cannot start', pod.metadata.name, e.message)
    if (running.get(uid) === entry)
      setTimeout(() => {
        if (running.get(uid) === entry) {
          entry.child?.kill()
          running.delete(uid)
          consider(pods.get(uid))
        }
      }, 1000).unref()
  }
}

function listening(entry, port) {
  return new Promise((resolve, reject) => {
    const until = Date.now() + 60_000
    const probe = () => {
      if (!entry.child) return reject(new Error('it exited'))
      const s = net.connect(port, entry.address)
      s.on('connect', () => {
        s.destroy()
        resolve()
      })
      s.on('error', () =>
        Date.now() > until ? reject(new Error(`port ${port} not open after 60 s`)) : setTimeout(probe, 200),
      )
    }
    probe()
  })
}

function stop(uid) {
  const entry = running.get(uid)
  if (!entry) return
  running.delete(uid)
  const child = entry.child
  if (child) {
    log('stop', entry.pod.metadata.name, child.pid)
    child.kill('SIGTERM')
    setTimeout(() => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }, 3000).unref()
  }
}

function consider(pod) {
  if (!pod) return
  const uid = pod.metadata.uid
  if (pod.metadata.deletionTimestamp) return stop(uid)
  if (pod.status?.phase !== 'Running' || running.has(uid) || !programOf(pod)) return
  if (isDumper(pod)) {
    if (pod.metadata.annotations?.['lab.kvup/exit'] === undefined) void start(pod)
    return
  }
  const mates = [...running.values()].filter((e) => e.set === setOf(pod))
  if (mates.length < perSet) return void start(pod)
  // the other replicas get ready together with the one that really runs
  if (mates.some((e) => e.ready) && !pod.metadata.annotations?.['lab.kvup/ready'])
    void annotate(pod, { 'lab.kvup/ready': 'true' })
}

api.watch('/api/v1/pods', ({ type, object }) => {
  const uid = object.metadata.uid
  if (type === 'DELETED') {
    pods.delete(uid)
    stop(uid)
    for (const p of pods.values()) if (setOf(p) === setOf(object)) consider(p)
    return
  }
  pods.set(uid, object)
  consider(object)
})
api.watch('/api/v1/services', ({ type, object }) => {
  const ip = object.spec.clusterIP
  if (!ip || ip === 'None') return
  if (type === 'DELETED') services.delete(ip)
  else services.set(ip, object)
})

// What runs behind a port of a service address: the newest ready program that its selector matches.
function programBehind(host, port) {
  const service = services.get(host)
  const wanted = service?.spec.selector && service.spec.ports.find((p) => p.port === port)
  if (!wanted) return undefined
  const selected = ({ metadata }) =>
    metadata.namespace === service.metadata.namespace &&
    Object.entries(service.spec.selector).every(([k, v]) => metadata.labels?.[k] === v)
  const entry = [...running.values()].findLast((e) => e.ready && selected(e.pod))
  const target = wanted.targetPort ?? wanted.port
  const named = () => entry?.pod.spec.containers[0].ports?.find((p) => p.name === target)?.containerPort
  const targetPort = typeof target === 'string' ? named() : target
  return entry && targetPort ? { host: entry.address, port: targetPort } : undefined
}
listenForApiserver(path.join(dir, 'egress.sock'), (host, port) => programBehind(host, port))

for (const s of ['SIGTERM', 'SIGINT']) {
  process.on(s, () => {
    const children = [...running.values()].map((e) => e.child).filter(Boolean)
    for (const uid of running.keys()) stop(uid)
    setTimeout(() => {
      for (const c of children) c.kill('SIGKILL')
      process.exit(0)
    }, 1500)
  })
}
