// Watches a lab's KubeVirt from outside, as a process of its own:   node watcher.mjs DIR OUT.ndjson
// A line per change with the time at which it was heard: of the KubeVirts, and of the Deployments and DaemonSets in their namespace,
// cut down to what says how far an update is. A line `{"stalled": MS}` where this process itself got no turn for more than half a second: the
// machine was too busy to be on time.
import fs from 'node:fs'
import path from 'node:path'
import { connect } from './api.mjs'

const [dir, file] = process.argv.slice(2)
const api = connect(path.join(dir, 'kubeconfig'))
const out = fs.openSync(file, 'a')
const write = (line) => fs.writeSync(out, `${JSON.stringify({ at: Date.now(), ...line })}\n`)

const kubeVirt = ({ metadata, spec, status = {} }) => ({
  generation: metadata.generation,
  observedGeneration: status.observedGeneration,
  conditions: Object.fromEntries((status.conditions ?? []).map((c) => [c.type, c.status])),
  targetVersion: status.targetKubeVirtVersion,
  observedVersion: status.observedKubeVirtVersion,
  targetId: status.targetDeploymentID,
  observedId: status.observedDeploymentID,
  methods: spec.workloadUpdateStrategy?.workloadUpdateMethods,
})
const daemonSet = ({ metadata, status }) => ({
  generation: metadata.generation,
  observedGeneration: status.observedGeneration,
  desired: status.desiredNumberScheduled ?? 0,
  updated: status.updatedNumberScheduled ?? 0,
  ready: status.numberReady ?? 0,
  total: status.currentNumberScheduled ?? 0,
})
const deployment = ({ metadata, spec, status }) => ({
  generation: metadata.generation,
  observedGeneration: status.observedGeneration,
  desired: spec.replicas ?? 1,
  updated: status.updatedReplicas ?? 0,
  ready: status.readyReplicas ?? 0,
  total: status.replicas ?? 0,
})

const last = new Map()
function follow(resource, kind, cut) {
  api.watch(resource, ({ type, object }) => {
    const name = object.metadata.name
    const line = { kind, name, ...(type === 'DELETED' ? { deleted: true } : cut(object)) }
    const text = JSON.stringify(line)
    if (last.get(`${kind}/${name}`) === text) return
    last.set(`${kind}/${name}`, text)
    write(line)
  })
}
follow('/apis/kubevirt.io/v1/kubevirts', 'KubeVirt', kubeVirt)
follow('/apis/apps/v1/namespaces/kubevirt/daemonsets', 'DaemonSet', daemonSet)
follow('/apis/apps/v1/namespaces/kubevirt/deployments', 'Deployment', deployment)

let due = Date.now() + 250
setInterval(() => {
  const late = Date.now() - due
  if (late > 500) write({ stalled: late })
  due = Date.now() + 250
}, 250)
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
