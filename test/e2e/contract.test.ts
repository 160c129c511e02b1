import { readFile } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { clusterContract } from '../contract/cluster-contract.ts'
import { eventually } from './installation.ts'
import { operatorManifest, startLab } from './lab.ts'

interface Named {
  kind: string
}

/** The CRD alone, out of the release's manifest: with no operator, nobody acts on its objects. */
async function kubeVirtDefinition(): Promise<string> {
  const documents = parseAllDocuments(await readFile(operatorManifest('v1.8.4'), 'utf8'))
  const found = documents
    .map((document) => document.toJS() as Named)
    .find(({ kind }) => kind === 'CustomResourceDefinition')
  return JSON.stringify(found)
}

clusterContract('the real kube-apiserver', async () => {
  const lab = await startLab({ name: 'contract', workers: 1 })
  const namespace = 'contract'
  await lab.kubectl(['create', 'namespace', namespace])
  await lab.kubectl(['apply', '--server-side', '-f', '-'], await kubeVirtDefinition())
  await eventually('KubeVirts are served', 30, () =>
    lab.kubectl(['get', '--raw', '/apis/kubevirt.io/v1/kubevirts']).then(
      () => true,
      () => false,
    ),
  )
  const cluster = await openCluster(
    { kubeconfig: lab.kubeconfig },
    {
      clock: systemClock,
      random: Math.random,
      env: {},
      onWarning: () => {},
      verbosity: 0,
      userAgent: 'kvup/contract',
    },
  )
  return { cluster, namespace, close: () => lab.stop() }
})
