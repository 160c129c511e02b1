import { DaemonSets, Deployments, Jobs } from '../../cluster/kinds/apps.ts'
import { ConfigMaps } from '../../cluster/kinds/core.ts'
import { type KubeVirt, KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { type ControllerContext, type Watched, whenRung } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import { lead } from '../machinery/leader.ts'
import { between } from '../machinery/luck.ts'
import type { PodLogs } from '../machinery/pod-logs.ts'
import { deploymentConfig } from './deployment-config.ts'
import type { OperatorFaults } from './faults.ts'
import { loadStrategy, strategyLabel } from './install-strategy.ts'
import { report } from './kubevirt-status.ts'
import { DeploymentFailure, type OperatorContext, type Pass } from './operator-context.ts'
import { operatorPod } from './operator-pod.ts'
import { sync } from './sync.ts'

/** What the real one says when its cache lags behind (lab "Seen" 2). */
const blip =
  'unable to create instancetype cx1.2xlarge: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "cx1.2xlarge" already exists'
const shortestBackOff = 5000
const longestBackOff = 1_000_000

/** The program of a virt-operator pod: waits for the Lease, then keeps KubeVirt as the CR asks. */
export async function runOperator(
  cx: ControllerContext,
  pod: Pod,
  { faults, logs }: { faults: Faults<OperatorFaults>; logs: PodLogs },
): Promise<void> {
  const self = operatorPod(pod)
  const say = (msg: string, reason: string) =>
    logs.say(pod.metadata, {
      component: 'virt-operator',
      level: 'error',
      msg,
      reason,
      timestamp: cx.clock.now().toISOString(),
    })
  const candidate = { lease: 'virt-operator', namespace: self.namespace, identity: self.name }
  const stopped = () => faults.on.stopped === true
  await lead(cx, { ...candidate, stopped }, (signal) => operate({ ...cx, signal, self, faults, say }))
}

function operate(cx: OperatorContext): Promise<void> {
  const { namespace } = cx.self
  const watched: Watched[] = [
    { kind: KubeVirts, where: { namespace } },
    { kind: Deployments, where: { namespace } },
    { kind: DaemonSets, where: { namespace } },
    { kind: Pods, where: { namespace, labels: 'app.kubernetes.io/managed-by=virt-operator' } },
    { kind: Jobs, where: { namespace } },
    { kind: ConfigMaps, where: { namespace, labels: strategyLabel } },
  ]
  const work = new Work(cx)
  return whenRung(
    cx,
    watched,
    () => work.pass(),
    () => between(cx.random, 4000, 5000),
  )
}

/** The passes of one leader, one after the other. */
class Work {
  readonly #cx: OperatorContext
  #backOff = shortestBackOff
  #blipped = ''

  constructor(cx: OperatorContext) {
    this.#cx = cx
  }

  async pass(): Promise<number | undefined> {
    const cx = this.#cx
    const [kubevirt] = await cx.reader.list(KubeVirts, { namespace: cx.self.namespace })
    if (kubevirt === undefined || kubevirt.metadata.deletionTimestamp !== undefined) return undefined
    if (kubevirt.metadata.annotations?.[latest] === undefined) return adopt(cx, kubevirt)
    const config = deploymentConfig(kubevirt, cx.self)
    const pass: Pass = { kubevirt, config, generation: kubevirt.metadata.generation ?? 1 }
    try {
      return await this.#advance(pass)
    } catch (error) {
      if (!(error instanceof DeploymentFailure)) throw error
      cx.say(`reenqueuing KubeVirt ${kubevirt.metadata.namespace}/${kubevirt.metadata.name}`, error.message)
      await report(cx, pass, { is: 'failed', why: error.message })
      this.#backOff = Math.min(this.#backOff * 2, longestBackOff)
      return this.#backOff
    }
  }

  async #advance(pass: Pass): Promise<number | undefined> {
    const cx = this.#cx
    if (!(await loadStrategy(cx, pass.config))) {
      await report(cx, pass, { is: 'under way' })
      return undefined
    }
    if (this.#blipIsDue(pass)) throw new DeploymentFailure(blip)
    const ready = await sync(cx, pass)
    await report(cx, pass, { is: ready ? 'ready' : 'under way' })
    this.#backOff = shortestBackOff
    return undefined
  }

  /** Once per deployment, in the pass after it was ready. */
  #blipIsDue({ kubevirt, config }: Pass): boolean {
    if (this.#cx.faults.on.blipAfterReady !== true || this.#blipped === config.id) return false
    if (kubevirt.status?.observedDeploymentID !== config.id) return false
    this.#blipped = config.id
    return true
  }
}

const latest = 'kubevirt.io/latest-observed-api-version'

/** The first write to a new CR: it drops an empty `featureGates: []`, which makes generation 2 (lab "Seen" 4). */
async function adopt(cx: OperatorContext, { metadata, spec }: KubeVirt): Promise<undefined> {
  const annotations = { [latest]: 'v1', 'kubevirt.io/storage-observed-api-version': 'v1' }
  const developer = spec?.configuration?.['developerConfiguration'] as { featureGates?: string[] } | undefined
  const emptied = developer?.featureGates?.length === 0
  const configuration = { developerConfiguration: { featureGates: null } }
  await cx.writer.mergePatch(KubeVirts, metadata, {
    metadata: { annotations },
    ...(emptied ? { spec: { configuration } } : {}),
  })
  return undefined
}
