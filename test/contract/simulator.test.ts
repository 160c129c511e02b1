import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { ensureNamespace, Store } from '../../src/simulator/api/store.ts'
import { serveSimulator } from '../../src/simulator/api/http-server.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { clusterContract } from './cluster-contract.ts'

const namespace = 'contract'

function store(): Store {
  const made = new Store(systemClock)
  ensureNamespace(made, namespace)
  return made
}

clusterContract('the store', () =>
  Promise.resolve({ cluster: storeCluster(store()), namespace, close: () => Promise.resolve() }),
)

clusterContract('the simulator over HTTP', async () => {
  const simulator = await serveSimulator(store())
  const folder = await mkdtemp(join(tmpdir(), 'kvup-contract-'))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, simulator.kubeconfig())
  const cluster = await openCluster(
    { kubeconfig },
    {
      clock: systemClock,
      random: () => 0.5,
      env: {},
      onWarning: () => undefined,
      verbosity: 0,
      userAgent: 'kvup/contract',
    },
  )
  return {
    cluster,
    namespace,
    close: async () => {
      await simulator.close()
      await rm(folder, { recursive: true })
    },
  }
})
