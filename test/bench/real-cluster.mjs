import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { startKvup } from '../e2e/kvup.ts'
import { kubectlProgram, startLab } from '../e2e/lab.ts'
import { peakMegabytes } from './measure.mjs'

const user = 'system:serviceaccount:default:bench'
const operator = 'system:serviceaccount:kubevirt:kubevirt-operator'
const admin = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'bench' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: 'bench', namespace: 'default' }],
})
const settling = /stable for/

/** A whole upgrade on the real virt-operator, and what it cost. `before` and `after` run around it, on the same cluster. */
export function realCluster(before, after) {
  process.env.LAB_AUDIT_USER = user
  return inLab({ imageTag: 'v1.7.0' }, async (lab) => {
    await before(lab)
    const cost = await upgrade(lab, await lab.serviceAccountKubeconfig('bench', admin))
    await after(lab)
    return cost
  })
}

/** Runs `work` on a real cluster with KubeVirt. */
export async function inLab(kubevirt, work) {
  const lab = await startLab({ name: 'bench', operator: 'v1.8.4', methods: ['LiveMigrate'], ...kubevirt })
  try {
    return await work(lab)
  } finally {
    await lab.stop()
    await rm(lab.dir, { recursive: true, force: true })
  }
}

async function upgrade(lab, kubeconfig) {
  const watch = spawn(kubectlProgram, ['--kubeconfig', kubeconfig, 'get', 'kv', '-A', '--watch'], {
    stdio: 'ignore',
  })
  const run = startKvup(lab, ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '10s'], { kubeconfig })
  let megabytes = 0
  let peerMegabytes = 0
  const sampling = setInterval(() => {
    megabytes = Math.max(megabytes, peakMegabytes(run.pid))
    peerMegabytes = Math.max(peerMegabytes, peakMegabytes(watch.pid))
  }, 100)
  try {
    await run.line(/virt-handler/)
    const waitingSince = new Date()
    const said = await run.line(settling)
    const saidAt = new Date()
    const { code, stderr, tookMs } = await run.ended
    if (code !== 0) throw new Error(`kvup upgrade ended with ${code}:\n${stderr}`)
    const events = await auditEvents(lab)
    const between = events.filter(({ at, who }) => who === user && at > waitingSince && at < saidAt)
    const lastWrite = events.findLast(
      ({ at, who, verb, resource }) =>
        who === operator && resource === 'kubevirts' && isWrite(verb) && at <= saidAt,
    )
    return {
      said: said.trim(),
      tookSeconds: tookMs / 1000,
      reactionMs: saidAt - lastWrite.at,
      callsPerMinute: (between.length * 60_000) / (saidAt - waitingSince),
      calls: countsOf(between.map(({ verb }) => verb)),
      megabytes,
      peerMegabytes,
    }
  } finally {
    clearInterval(sampling)
    watch.kill()
    run.signal('SIGKILL')
  }
}

const isWrite = (verb) => ['create', 'update', 'patch', 'delete'].includes(verb)

function countsOf(verbs) {
  const counts = new Map()
  for (const verb of verbs) counts.set(verb, (counts.get(verb) ?? 0) + 1)
  return [...counts].map(([verb, count]) => `${count} ${verb}`).join(', ')
}

async function auditEvents(lab) {
  const text = await readFile(path.join(lab.dir, 'log/audit.log'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))
    .filter(({ stage, verb }) => verb !== 'watch' || stage === 'ResponseStarted')
    .map(({ stageTimestamp, verb, user: { username }, objectRef }) => ({
      at: new Date(stageTimestamp),
      verb,
      who: username,
      resource: objectRef?.resource,
    }))
    .sort((a, b) => a.at - b.at)
}
