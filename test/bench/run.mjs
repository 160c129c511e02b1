// npm run bench: how kvup compares with bare Node and kubectl, all measured in this one run, printed as ratios.
// The cluster is the built-in simulated one and, where `npm run test:e2e` has built the lab, a real one.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { kubectlProgram } from '../e2e/lab.ts'
import { forecastMany } from './forecast-many.mjs'
import { manyVmis } from './many-vmis.mjs'
import { manyVms } from './many-vms.mjs'
import { compare, onPath, program, weigh } from './measure.mjs'
import { realCluster } from './real-cluster.mjs'
import { simulatedCluster } from './simulated-cluster.mjs'
import { table } from './table.mjs'

const kubectl = existsSync(kubectlProgram) ? kubectlProgram : onPath('kubectl')
const rows = []

const kvup = (...args) => ({ command: process.execPath, args: [program, ...args] })
const bare = { command: process.execPath, args: ['-e', '0'] }

function startUp() {
  rows.push({ what: '--help', than: 'node -e 0', limit: 1.8, ...compare(kvup('--help'), bare) })
  if (!kubectl) return
  const peer = { command: kubectl, args: ['--help'] }
  rows.push({ what: '--help', than: 'kubectl --help', limit: 1, ...compare(kvup('--help'), peer) })
}

function status(where, kubeconfig) {
  if (!kubectl) return
  const env = { KUBECONFIG: kubeconfig }
  const args = ['get', 'kv', '-A', '-o', 'json']
  const measured = compare({ ...kvup('status'), env }, { command: kubectl, args, env })
  rows.push({ what: `status (${where})`, than: `kubectl ${args.join(' ')}`, limit: 3, ...measured })
}

/** Whether all VMs can follow has to be told of every one of them; kubectl reads them as well, and judges nothing. */
async function checkAtScale(lab) {
  const count = 10_000
  const bytes = await manyVmis(lab, count)
  const env = { KUBECONFIG: lab.kubeconfig }
  const args = ['get', 'vmi', '-A', '-o', 'json']
  // What it finds is that the controllers are at rest: exit 3.
  const ours = { ...kvup('check', '--to', 'v1.9.0', '-o', 'json'), env, ends: [3] }
  const { stdout } = spawnSync(ours.command, ours.args, { env: { ...process.env, ...env }, encoding: 'utf8' })
  if (!stdout.includes(`${count / 100} running VMs cannot be migrated`))
    throw new Error(`kvup check did not look at all ${count} VMIs:\n${stdout}`)
  const { time, memory } = await weigh(ours, { command: kubectl, args, env })
  const row = { what: `check, ${count} VMIs of ${bytes} bytes`, than: `kubectl ${args.join(' ')}` }
  rows.push({ ...row, limit: 0.5, ...time }, { ...row, what: 'its peak memory', limit: 0.25, ...memory })
}

/** Of 10,000 VMIs, 1,000 outdated; the json has to be read page by page and written as it comes. */
function outdated(kubeconfig) {
  const env = { KUBECONFIG: kubeconfig }
  const label = ['get', 'vmi', '-A', '-l', 'kubevirt.io/outdatedLauncherImage']
  for (const [format, limit] of [
    [['-o', 'json'], 0.5],
    [[], 1],
  ]) {
    const ours = { ...kvup('workloads', 'outdated', ...format), env }
    const peer = { command: kubectl, args: [...label, ...format], env }
    const what = ['workloads outdated', ...format].join(' ')
    rows.push({ what, than: `kubectl ${peer.args.join(' ')}`, limit, ...compare(ours, peer) })
  }
}

startUp()
await simulatedCluster(({ kubeconfig }) => status('simulated cluster', kubeconfig))
const real =
  existsSync(kubectlProgram) &&
  (await realCluster(({ kubeconfig }) => status('real cluster', kubeconfig), checkAtScale))
if (existsSync(kubectlProgram)) await manyVms(outdated)
const forecast = await forecastMany()

console.log(table(rows))
console.log(
  `workloads forecast of ${forecast.rows} lines: peak memory ${forecast.megabytes} MB (limit 250 MB), first row after ${forecast.firstRow.toFixed(0)} ms (limit 1000 ms), ${(forecast.whole / 1000).toFixed(0)} s`,
)
if (real) {
  console.log(
    [
      `upgrade by image tag on the real virt-operator: ${real.tookSeconds.toFixed(0)} s`,
      `from the operator's last write to "${real.said}": ${real.reactionMs} ms (limit 1000 ms)`,
      `API calls per minute of waiting: ${real.callsPerMinute.toFixed(0)} (${real.calls})`,
      `peak memory: kvup upgrade ${real.megabytes} MB, kubectl get kv -A --watch ${real.peerMegabytes} MB`,
    ].join('\n'),
  )
} else {
  console.log(
    'reaction, API calls and memory: not measured, the real cluster is not built (npm run test:e2e builds it)',
  )
}
const over = rows.filter(({ ratio, limit }) => ratio > limit)
if (over.length > 0 || (real && real.reactionMs > 1000)) process.exitCode = 1
if (forecast.megabytes > 250 || forecast.firstRow > 1000) process.exitCode = 1
