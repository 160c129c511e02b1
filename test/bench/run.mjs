// npm run bench: how kvup compares with bare Node and kubectl, all measured in this one run, printed as ratios.
// The cluster is the built-in simulated one and, where `npm run test:e2e` has built the lab, a real one.
// `npm run bench -- vms forecast` measures only these parts (fleet is another); `package` measures the file of `npm run package -- linux-x64`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { kubectlProgram } from '../e2e/lab.ts'
import { fleetOf } from './simulated-fleet.mjs'
import { forecastMany } from './forecast-many.mjs'
import { manyVmis, outdatedOf } from './many-vmis.mjs'
import { compare, leastCpu, onPath, program, weigh } from './measure.mjs'
import { inLab, realCluster } from './real-cluster.mjs'
import { rehearseMany } from './rehearse-many.mjs'
import { simulatedCluster } from './simulated-cluster.mjs'
import { table } from './table.mjs'

const kubectl = existsSync(kubectlProgram) ? kubectlProgram : onPath('kubectl')
const packaged = fileURLToPath(new URL('../../packages/linux-x64/kvup', import.meta.url))
const rows = []

const kvup = (...args) => ({ command: process.execPath, args: [program, ...args] })
const bare = { command: process.execPath, args: ['-e', '0'] }

function startUp() {
  rows.push({ what: '--help', than: 'node -e 0', limit: 1.8, ...compare(kvup('--help'), bare) })
  if (!kubectl) return
  const peer = { command: kubectl, args: ['--help'] }
  rows.push({ what: '--help', than: 'kubectl --help', limit: 1, ...compare(kvup('--help'), peer) })
}

/** The file that needs no Node, with nothing in its path. */
function oneFile() {
  if (!existsSync(packaged) || !kubectl)
    return console.log(
      `the one file: not measured, ${existsSync(packaged) ? 'kubectl' : packaged} is missing`,
    )
  const ours = { command: packaged, args: ['--help'] }
  ensureSaid({ ...ours, env: { PATH: '/nonexistent' } }, 'kvup upgrades KubeVirt')
  const peer = { command: kubectl, args: ['--help'] }
  rows.push({
    what: '--help of the one file',
    than: 'kubectl --help',
    limit: 1.3,
    ...compare(ours, peer, 25),
  })
}

function status(where, kubeconfig) {
  if (!kubectl) return
  const env = { KUBECONFIG: kubeconfig }
  const args = ['get', 'kv', '-A', '-o', 'json']
  const measured = compare({ ...kvup('status'), env }, { command: kubectl, args, env })
  rows.push({ what: `status (${where})`, than: `kubectl ${args.join(' ')}`, limit: 3, ...measured })
}

/** What all of them take of the processors against kubectl once for each, which judges nothing. */
async function fleet(clusters) {
  if (!kubectl) return console.log('the fleet: not measured, kubectl is missing')
  await fleetOf(clusters, async (kubeconfig) => {
    const env = { KUBECONFIG: kubeconfig }
    const ours = { ...kvup('fleet', 'status', '--contexts', '*', '-o', 'json'), env }
    ensureSaid(ours, `prod-${clusters - 1}`)
    const each = `for i in $(seq 0 ${clusters - 1}); do "$0" --context prod-$i get kubevirt -A -o json; done`
    const peer = { command: 'bash', args: ['-c', each, kubectl], env }
    const row = {
      what: `fleet status, ${clusters} clusters`,
      than: `kubectl get kubevirt -A, ${clusters} times`,
    }
    const { time, memory } = await weigh(ours, peer, 1)
    rows.push({ ...row, limit: 0.5, ...time, cpuRatio: compare(ours, peer, 1).cpuRatio })
    fleetTook = { seconds: leastCpu(ours, 5) / 1000, megabytes: memory.kvup }
  })
}

/** The limits of a fleet of 200. */
const fleetLimits = { seconds: 3, megabytes: 400 }
let fleetTook

const count = 10_000

/** A cluster with many VMs, on which kubectl reads them as well, and judges nothing. */
async function atScale(lab) {
  const bytes = await manyVmis(lab, count)
  const env = { KUBECONFIG: lab.kubeconfig }
  outdated(env, bytes)
  await check(env, bytes)
}

/** Whether all VMs can follow has to be told of every one of them. */
async function check(env, bytes) {
  const args = ['get', 'vmi', '-A', '-o', 'json']
  // What it finds is that the controllers are at rest: exit 3.
  const ours = { ...kvup('check', '--to', 'v1.9.0', '-o', 'json'), env, ends: [3] }
  ensureSaid(ours, `${count / 100} running VMs cannot be migrated`)
  const { time, memory } = await weigh(ours, { command: kubectl, args, env })
  const row = { what: `check, ${count} VMIs of ${bytes} bytes`, than: `kubectl ${args.join(' ')}` }
  rows.push({ ...row, limit: 0.5, ...time }, { ...row, what: 'its peak memory', limit: 0.25, ...memory })
}

/** A program that looked at nothing would be quick. */
function ensureSaid({ command, args, env }, words) {
  const { stdout, stderr } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (!stdout.includes(words))
    throw new Error(`${args.slice(1).join(' ')} did not say "${words}":\n${stderr}${stdout.slice(-2000)}`)
}

/** Of 10,000 VMIs 1,000 are outdated; the json has to be read page by page and written as it comes. */
function outdated(env, bytes) {
  ensureSaid(
    { ...kvup('workloads', 'outdated'), env },
    `${outdatedOf(count)} of ${count} VMs run an old virt-launcher`,
  )
  const label = ['get', 'vmi', '-A', '-l', 'kubevirt.io/outdatedLauncherImage']
  for (const [format, limit] of [
    [['-o', 'json'], 0.5],
    [[], 1],
  ]) {
    const ours = { ...kvup('workloads', 'outdated', ...format), env }
    const peer = { command: kubectl, args: [...label, ...format], env }
    const what = [`workloads outdated, of ${count} VMIs of ${bytes} bytes`, ...format].join(' ')
    rows.push({ what, than: `kubectl ${peer.args.join(' ')}`, limit, ...compare(ours, peer) })
  }
}

const parts = process.argv.slice(2)
const isWanted = (part) => parts.length === 0 || parts.includes(part)
const hasLab = existsSync(kubectlProgram)
if (isWanted('package')) oneFile()

if (isWanted('start')) {
  startUp()
  await simulatedCluster(({ kubeconfig }) => status('simulated cluster', kubeconfig))
}
const onReal = isWanted('upgrade')
const real =
  hasLab &&
  onReal &&
  (await realCluster(
    ({ kubeconfig }) => status('real cluster', kubeconfig),
    async (lab) => isWanted('vms') && atScale(lab),
  ))
if (hasLab && !onReal && isWanted('vms')) await inLab({}, atScale)
if (isWanted('fleet')) await fleet(200)
const forecast = isWanted('forecast') && (await forecastMany())
/** Of a rehearsal, in seconds by VMs. */
const limits = { 100: 2, 10_000: 20 }
const rehearsals = isWanted('rehearse') ? await rehearseMany() : []

if (rows.length > 0) console.log(table(rows))
if (fleetTook)
  console.log(
    `fleet status of 200 clusters: ${fleetTook.seconds.toFixed(2)} s of its own processor time, the least of 5 runs (limit ${fleetLimits.seconds} s), peak memory ${fleetTook.megabytes} MB (limit ${fleetLimits.megabytes} MB)`,
  )
if (forecast)
  console.log(
    `workloads forecast of ${forecast.rows} lines: peak memory ${forecast.megabytes} MB (limit 250 MB), first row after ${forecast.firstRow.toFixed(0)} ms (limit 1000 ms), ${(forecast.whole / 1000).toFixed(0)} s`,
  )
for (const { vms, workers, seconds, megabytes } of rehearsals)
  console.log(
    `rehearse of ${vms} VMs on ${workers} nodes: ${seconds.toFixed(1)} s${limits[vms] ? ` (limit ${limits[vms]} s)` : ''}, peak memory ${megabytes} MB (limit 800 MB)`,
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
} else if (!hasLab) {
  console.log(
    'reaction, API calls, memory and VMs: not measured, the real cluster is not built (npm run test:e2e builds it)',
  )
}
const over = rows.filter(({ ratio, limit }) => ratio > limit)
if (over.length > 0 || (real && real.reactionMs > 1000)) process.exitCode = 1
if (forecast && (forecast.megabytes > 250 || forecast.firstRow > 1000)) process.exitCode = 1
if (rehearsals.some(({ vms, seconds, megabytes }) => seconds > (limits[vms] ?? Infinity) || megabytes > 800))
  process.exitCode = 1
if (fleetTook && (fleetTook.seconds > fleetLimits.seconds || fleetTook.megabytes > fleetLimits.megabytes))
  process.exitCode = 1
