// npm run bench: how kvup compares with bare Node and kubectl, all measured in this one run, printed as ratios.
// The cluster is the built-in simulated one and, where `npm run test:e2e` has built the lab, a real one.
import { existsSync } from 'node:fs'
import { kubectlProgram } from '../e2e/lab.ts'
import { median, onPath, program } from './measure.mjs'
import { realCluster } from './real-cluster.mjs'
import { simulatedCluster } from './simulated-cluster.mjs'
import { table } from './table.mjs'

const kubectl = existsSync(kubectlProgram) ? kubectlProgram : onPath('kubectl')
const rows = []

async function startUp() {
  const help = await median(process.execPath, [program, '--help'])
  const bare = await median(process.execPath, ['-e', '0'])
  rows.push({ what: '--help', kvup: help, than: 'node -e 0', peer: bare, limit: 1.8 })
  if (!kubectl) return
  const peer = await median(kubectl, ['--help'])
  rows.push({ what: '--help', kvup: help, than: 'kubectl --help', peer, limit: 1 })
}

async function status(where, kubeconfig) {
  if (!kubectl) return
  const env = { KUBECONFIG: kubeconfig }
  const kvup = await median(process.execPath, [program, 'status'], env)
  const peer = await median(kubectl, ['get', 'kv', '-A', '-o', 'json'], env)
  rows.push({ what: `status (${where})`, kvup, than: 'kubectl get kv -A -o json', peer, limit: 3 })
}

await startUp()
await simulatedCluster(async ({ kubeconfig }) => status('simulated cluster', kubeconfig))
const real =
  existsSync(kubectlProgram) && (await realCluster((kubeconfig) => status('real cluster', kubeconfig)))

console.log(table(rows))
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
const over = rows.filter(({ kvup, peer, limit }) => kvup / peer > limit)
if (over.length > 0 || (real && real.reactionMs > 1000)) process.exitCode = 1
