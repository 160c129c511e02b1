// Records what a cluster does, as one JSON object per line with wall-clock time:
//   node record.mjs DIR OUT.ndjson.gz [MORE_RESOURCE_PATHS...]
// {"t": …ms, "type": ADDED|MODIFIED|DELETED, "object": {…}} for KubeVirts, and of KubeVirt's namespace (KUBEVIRT_NAMESPACE,
// default kubevirt) Deployments, ReplicaSets, DaemonSets, Jobs and Events; of all namespaces Pods, VMIs and migrations.
// DIR/kubeconfig is one as `up` writes it, or `kubectl config view --raw --minify --flatten -o json` of a cluster that a client
// certificate opens. Dropped: managedFields, what pods and pod templates repeat (volumes but those of virt-handler, mounts,
// probes, affinity, …), and changes that then leave nothing new. "note" lines come from DIR/notes (append a line there).
// SIGTERM or SIGINT ends it; without that the file is cut off. `npm run replay -- OUT.ndjson.gz` judges it.
import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { connect } from './api.mjs'

const [dir, out, ...more] = process.argv.slice(2)
if (dir === undefined || out === undefined) {
  console.error('usage: node record.mjs DIR OUT.ndjson.gz [MORE_RESOURCE_PATHS...]')
  process.exit(2)
}
const api = connect(path.join(dir, 'kubeconfig'))
const gz = zlib.createGzip({ level: 9 })
const done = new Promise((resolve) => gz.pipe(fs.createWriteStream(out)).on('finish', resolve))
const start = Date.now()
const write = (line) =>
  gz.write(`${JSON.stringify({ t: Date.now() - start, at: new Date().toISOString(), ...line })}\n`)

const container = ({ name, image, command, args, env }) => ({ name, image, command, args, env })

function podSpec({
  nodeName,
  serviceAccountName,
  restartPolicy,
  nodeSelector,
  containers,
  initContainers,
  volumes,
}) {
  return {
    nodeName,
    serviceAccountName,
    restartPolicy,
    nodeSelector,
    containers: containers?.map(container),
    initContainers: initContainers?.map(container),
    // Whether virt-handler still has its old volume is told by the names alone.
    volumes: volumes?.map(({ name }) => ({ name })),
  }
}

function trim(object) {
  const trimmed = structuredClone(object)
  delete trimmed.metadata.managedFields
  if (trimmed.kind === 'Pod' && trimmed.spec) trimmed.spec = podSpec({ ...trimmed.spec, volumes: undefined })
  const template = trimmed.spec?.template
  if (template?.spec?.containers) {
    const { volumes } = template.spec
    template.spec = podSpec({ ...template.spec, volumes: trimmed.kind === 'DaemonSet' ? volumes : undefined })
  }
  return trimmed
}

const last = new Map()

function on({ type, object }) {
  const trimmed = trim(object)
  const { resourceVersion: _, ...metadata } = trimmed.metadata
  const text = JSON.stringify({ ...trimmed, metadata })
  if (type !== 'DELETED' && last.get(metadata.uid) === text) return
  last.set(metadata.uid, text)
  write({ type, object: trimmed })
}

const namespace = `/namespaces/${process.env['KUBEVIRT_NAMESPACE'] ?? 'kubevirt'}`
for (const resource of [
  '/apis/kubevirt.io/v1/kubevirts',
  `/apis/apps/v1${namespace}/deployments`,
  `/apis/apps/v1${namespace}/replicasets`,
  `/apis/apps/v1${namespace}/daemonsets`,
  `/apis/batch/v1${namespace}/jobs`,
  '/api/v1/pods',
  `/api/v1${namespace}/events`,
  '/apis/kubevirt.io/v1/virtualmachineinstances',
  '/apis/kubevirt.io/v1/virtualmachineinstancemigrations',
  ...more,
])
  api.watch(resource, on)

const notes = path.join(dir, 'notes')
let seen = fs.existsSync(notes) ? fs.statSync(notes).size : 0

function takeNotes() {
  if (!fs.existsSync(notes)) return
  const text = fs.readFileSync(notes)
  if (text.length <= seen) return
  for (const line of text.subarray(seen).toString().split('\n')) if (line) write({ note: line })
  seen = text.length
}

setInterval(takeNotes, 50)
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    takeNotes()
    gz.end()
    void done.then(() => process.exit(0))
  })
}
