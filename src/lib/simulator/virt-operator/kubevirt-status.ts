import { DaemonSets, Deployments } from '../../cluster/kinds/apps.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { type KubeVirt, KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { sameStatus } from '../machinery/same-status.ts'
import { configText } from './deployment-config.ts'
import type { OperatorContext, Pass } from './operator-context.ts'
import { conditionsIn, type Situation } from './situation.ts'

type Status = NonNullable<KubeVirt['status']>
type Outcome = { is: 'ready' | 'under way' } | { is: 'failed'; why: string }

/** Writes what a pass came to; nothing when that is there already. True when it wrote. */
export async function report(cx: OperatorContext, pass: Pass, outcome: Outcome): Promise<boolean> {
  const { kubevirt } = pass
  const now = cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
  const synced = outcome.is === 'ready'
  const conditions = conditionsIn(situation(pass, outcome), kubevirt.status?.conditions ?? [], {
    now,
    synced,
  })
  const status: Status = {
    phase: synced ? 'Deployed' : (kubevirt.status?.phase ?? 'Deploying'),
    operatorVersion: cx.self.version,
    defaultArchitecture: 'amd64',
    ...target(pass),
    ...(synced ? { ...observed(pass), generations: await generations(cx, pass) } : {}),
    conditions,
  }
  if (sameStatus(kubevirt.status, status)) return false
  if (cx.faults.on.statusTooLarge === true) {
    cx.say(`could not update the status of KubeVirt ${kubevirt.metadata.name}`, tooLarge)
    return false
  }
  await cx.writer.mergePatch(KubeVirts, kubevirt.metadata, { status }, 'status')
  return true
}

/** What it wrote itself (recorded: it names no pods and no ReplicaSets). */
async function generations(
  cx: OperatorContext,
  { config }: Pass,
): Promise<NonNullable<Status['generations']>> {
  const where = { namespace: config.namespace, labels: 'app.kubernetes.io/managed-by=virt-operator' }
  const [deployments, daemonsets] = await Promise.all([
    cx.reader.list(Deployments, where),
    cx.reader.list(DaemonSets, where),
  ])
  const written = (resource: string) => (object: KubeObject) => ({
    group: 'apps',
    resource,
    namespace: config.namespace,
    name: object.metadata.name,
    lastGeneration: object.metadata.generation ?? 1,
    hash: '',
  })
  return [...deployments.map(written('deployments')), ...daemonsets.map(written('daemonsets'))]
}

const tooLarge = 'etcdserver: request is too large'

const target = ({ config }: Pass): Status => ({
  targetKubeVirtRegistry: config.registry,
  targetKubeVirtVersion: config.kubeVirtVersion,
  targetDeploymentConfig: configText(config),
  targetDeploymentID: config.id,
})

const observed = ({ config, generation }: Pass): Status => ({
  observedKubeVirtRegistry: config.registry,
  observedKubeVirtVersion: config.kubeVirtVersion,
  observedDeploymentConfig: configText(config),
  observedDeploymentID: config.id,
  observedGeneration: generation,
})

/** facts 1.5: an update is one deployment ID that follows another. */
function situation({ kubevirt, config }: Pass, outcome: Outcome): Situation {
  if (outcome.is === 'failed') {
    return { is: 'failed', message: `An error occurred during deployment: ${outcome.why}` }
  }
  if (outcome.is === 'ready') return { is: 'ready', message: 'All components are ready.' }
  const {
    observedDeploymentID = '',
    observedKubeVirtVersion,
    observedKubeVirtRegistry,
  } = kubevirt.status ?? {}
  const to = `version ${config.kubeVirtVersion}`
  if (observedDeploymentID === '' || observedDeploymentID === config.id) {
    return { is: 'deploying', message: `Deploying ${to} with registry ${config.registry}` }
  }
  const from = `previous version ${observedKubeVirtVersion} with registry ${observedKubeVirtRegistry}`
  return {
    is: 'updating',
    message: `Transitioning from ${from} to target ${to} using registry ${config.registry}`,
  }
}
