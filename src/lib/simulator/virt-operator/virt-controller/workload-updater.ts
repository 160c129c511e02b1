import { type KubeVirt, KubeVirts } from '../../../cluster/kinds/kubevirt.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { Pods } from '../../../cluster/kinds/pods.ts'
import { ApiError } from '../../../system/errors.ts'
import { whenRung } from '../../machinery/controller.ts'
import { nameSuffix } from '../../machinery/luck.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { asksForMigration } from './asked-changes.ts'
import type { VirtControllerContext } from './controller-context.ts'
import { currentLauncher, launchersOf } from './launcher-pods.ts'
import { limitsOf } from './migration-plan.ts'
import { type UpdatePlan, planUpdate } from './update-plan.ts'

const by = 'workload-update-controller'
/** What is watched is acted on this much later: KubeVirt, migrations, and VMIs of which a change is asked. */
const delay = 5000
const minute = 60_000

/** The workload updater: facts 3.2. It looks only while target and observed are the same. */
export function runWorkloadUpdater(cx: VirtControllerContext): Promise<void> {
  const watched = [
    { kind: KubeVirts, where: { namespace: cx.namespace } },
    { kind: VirtualMachineInstanceMigrations },
    { kind: VirtualMachineInstances, concerns: asksForMigration },
  ]
  let lastBatch = Number.NEGATIVE_INFINITY
  const update = async (): Promise<number | undefined> => {
    const [kubevirt]: KubeVirt[] = await cx.reader.list(KubeVirts, { namespace: cx.namespace })
    if (kubevirt === undefined || !isSettled(kubevirt)) return undefined
    const plan = await planNow(cx, kubevirt)
    await writeCount(cx, kubevirt, plan.outdated)
    for (const vmi of plan.migrate) await migrate(cx, vmi)
    const { size, interval } = batchOf(kubevirt)
    const now = cx.clock.now().getTime()
    if (plan.evict.length > 0 && now - lastBatch >= interval) {
      lastBatch = now
      for (const vmi of plan.evict.slice(0, size)) await evict(cx, vmi)
    }
    const late =
      plan.evict.length > 0 ? Math.max(0, lastBatch + interval - cx.clock.now().getTime() - delay) : undefined
    return plan.waiting && late === undefined ? delay : late
  }
  return whenRung(cx, watched, update, () => delay)
}

const isSettled = ({ status }: KubeVirt): boolean =>
  status?.phase === 'Deployed' &&
  status.observedDeploymentID !== undefined &&
  status.observedDeploymentID === status.targetDeploymentID

async function planNow(cx: VirtControllerContext, kubevirt: KubeVirt): Promise<UpdatePlan> {
  return planUpdate({
    instances: await cx.reader.list(VirtualMachineInstances),
    migrations: await cx.reader.list(VirtualMachineInstanceMigrations),
    methods: kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? [],
    launcherImage: cx.launcherImage,
    limit: limitsOf(kubevirt.spec?.configuration).perCluster,
    random: cx.random,
  })
}

async function writeCount(cx: VirtControllerContext, kubevirt: KubeVirt, outdated: number): Promise<void> {
  if (kubevirt.status?.outdatedVirtualMachineInstanceWorkloads === outdated) return
  const status = { outdatedVirtualMachineInstanceWorkloads: outdated }
  await cx.writer.mergePatch(KubeVirts, kubevirt.metadata, { status }, 'status')
}

/** Defaults are the controller's own, not the CR's (facts 1.2). */
function batchOf({ spec }: KubeVirt): { size: number; interval: number } {
  const { batchEvictionSize = 10, batchEvictionInterval } = spec?.workloadUpdateStrategy ?? {}
  return {
    size: batchEvictionSize,
    interval: batchEvictionInterval === undefined ? minute : milliseconds(batchEvictionInterval),
  }
}

const units: Record<string, number> = { h: 3_600_000, m: minute, s: 1000 }

/** Go's way to write a duration: `1m30s`. */
function milliseconds(duration: string): number {
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)([hms])/g)]
  return parts.reduce((sum, [, amount = '0', unit = 's']) => sum + Number(amount) * (units[unit] ?? 0), 0)
}

async function migrate(cx: VirtControllerContext, vmi: VirtualMachineInstance): Promise<void> {
  const { name, namespace } = vmi.metadata
  const prefix = 'kubevirt-workload-update-'
  const created = await cx.writer.create(VirtualMachineInstanceMigrations, {
    apiVersion: VirtualMachineInstanceMigrations.apiVersion,
    kind: VirtualMachineInstanceMigrations.kind,
    metadata: {
      name: `${prefix}${nameSuffix(cx.random)}`,
      generateName: prefix,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { 'kubevirt.io/vmi-name': name },
      annotations: { 'kubevirt.io/workloadUpdateMigration': '' },
    },
    spec: { vmiName: name },
  })
  const message = `Created Migration ${created.metadata.name} for automated workload update`
  await recordEvent(cx, vmi, { type: 'Normal', reason: 'SuccessfulCreate', message, by })
}

async function evict(cx: VirtControllerContext, vmi: VirtualMachineInstance): Promise<void> {
  const pod = currentLauncher(vmi, await launchersOf(cx, vmi))
  if (pod === undefined) return
  try {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: pod.metadata }
    await cx.writer.subresource(Pods, pod.metadata, { name: 'eviction', method: 'POST', body })
    const message = 'Initiated eviction of VMI as part of automated workload update: <nil>'
    await recordEvent(cx, vmi, { type: 'Normal', reason: 'SuccessfulEvict', message, by })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = `Error deleting VMI during automated workload update: ${error.message}`
    await recordEvent(cx, vmi, { type: 'Warning', reason: 'FailedEvict', message, by })
  }
}
