import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCluster } from '../../src/lib/cluster/http/open-cluster.ts'
import { storeCluster } from '../../src/lib/simulator/api/client.ts'
import { ensureNamespace } from '../../src/lib/simulator/api/seed.ts'
import { serveSimulator } from '../../src/lib/simulator/api/server.ts'
import { Store } from '../../src/lib/simulator/api/store.ts'
import { systemClock } from '../../src/lib/system/clock.ts'
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
