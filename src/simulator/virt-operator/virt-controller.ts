import { type Pod, Pods, type PodTemplate } from '../../lib/kube/kinds/workload-kinds.ts'
import {
  control,
  type ControllerContext,
  nameSuffix,
  recordEvent,
  whenRung,
} from '../machinery/controller.ts'
import { lead } from '../machinery/leader-election.ts'
import { currentLauncher, launchersOf, runInstances, type VirtControllerContext } from './vmi-controller.ts'
import { asksForMigration, isFinal, isRunning, limitsOf, runMigrations } from './migration-controller.ts'
import { runVirtualMachines } from './vm-controller.ts'
import {
  type KubeVirt,
  KubeVirts,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { condition } from '../../lib/kube/object.ts'

/** The image that this virt-controller gives to new launchers; empty where it is told none. */
export function launcherImageOf({ spec }: Pick<PodTemplate, 'spec'> = {}): string {
  const args = spec?.containers?.[0]?.args ?? []
  return args[args.indexOf('--launcher-image') + 1] ?? ''
}

/** The program of a virt-controller pod: waits for the Lease, then runs VMs, their migrations and their updates. */
export async function runVirtController(cx: ControllerContext, pod: Pod): Promise<void> {
  const { name, namespace = '' } = pod.metadata
  const launcherImage = launcherImageOf(pod)
  await lead(cx, { lease: 'virt-controller', namespace, identity: name }, async (signal) => {
    const own = { ...cx, signal, namespace, launcherImage }
    await Promise.all([
      runVirtualMachines(own),
      runInstances(own),
      runMigrations(own),
      runEvacuations(own),
      runWorkloadUpdater(own),
    ])
  })
}

const by = 'workload-update-controller'
/** What is watched is acted on this much later: KubeVirt, migrations, and VMIs of which a change is asked. */
const delay = 5000
const minute = 60_000

/** The workload updater: facts 3.2. It looks only while target and observed are the same. */
function runWorkloadUpdater(cx: VirtControllerContext): Promise<void> {
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

interface UpdateQuestion {
  instances: readonly VirtualMachineInstance[]
  migrations: readonly VirtualMachineInstanceMigration[]
  methods: readonly string[]
  launcherImage: string
  /** parallelMigrationsPerCluster. */
  limit: number
  random: () => number
}

interface UpdatePlan {
  /** What status.outdatedVirtualMachineInstanceWorkloads says. */
  outdated: number
  migrate: VirtualMachineInstance[]
  /** All that may be evicted, in random order. */
  evict: VirtualMachineInstance[]
  /** Something is left that a method could do later. */
  waiting: boolean
}

/** What the updater does now: facts 3.2, getUpdateData. Pure but for the order of equals. */
function planUpdate(question: UpdateQuestion): UpdatePlan {
  const { instances, migrations, methods, launcherImage, limit, random } = question
  const running = instances.filter(
    ({ metadata, status }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
  )
  const due = running.filter((vmi) => isOutdated(vmi, launcherImage) || asksForMigration(vmi))
  const idle = due.filter((vmi) => !migrations.some((m) => !isFinal(m) && isOf(m, vmi)))
  const migratable = idle.filter(
    (vmi) => methods.includes('LiveMigrate') && condition(vmi, 'LiveMigratable')?.status === 'True',
  )
  const evictable = methods.includes('Evict') ? idle.filter((vmi) => !migratable.includes(vmi)) : []
  const room = Math.max(0, limit - migrations.filter(isRunning).length)
  return {
    outdated: due.length,
    migrate: shuffled(migratable, random).slice(0, room),
    evict: shuffled(evictable, random),
    waiting:
      methods.includes('LiveMigrate') &&
      due.some((vmi) => condition(vmi, 'LiveMigratable')?.status === 'True'),
  }
}

/** An empty field means "not outdated". */
function isOutdated({ status }: VirtualMachineInstance, launcherImage: string): boolean {
  const { launcherContainerImageVersion: image = '' } = status ?? {}
  return image !== '' && image !== launcherImage
}

const isOf = ({ spec, metadata }: VirtualMachineInstanceMigration, vmi: VirtualMachineInstance): boolean =>
  spec?.vmiName === vmi.metadata.name && metadata.namespace === vmi.metadata.namespace

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Migrates instances that an eviction marked away from their node (facts 3.4). */
function runEvacuations(cx: VirtControllerContext): Promise<void> {
  const watched = [{ kind: VirtualMachineInstances }, { kind: VirtualMachineInstanceMigrations }]
  return control(cx, watched, async () => {
    const marked = (await cx.reader.list(VirtualMachineInstances)).filter(
      ({ spec, status }) =>
        status?.evacuationNodeName !== undefined &&
        status.evacuationNodeName === status.nodeName &&
        spec?.evictionStrategy !== 'External',
    )
    if (marked.length === 0) return undefined
    const open = (await cx.reader.list(VirtualMachineInstanceMigrations)).filter((m) => !isFinal(m))
    for (const { metadata, status } of marked) {
      if (open.some((m) => m.spec?.vmiName === metadata.name && m.metadata.namespace === metadata.namespace))
        continue
      await cx.writer.create(VirtualMachineInstanceMigrations, {
        apiVersion: VirtualMachineInstanceMigrations.apiVersion,
        kind: VirtualMachineInstanceMigrations.kind,
        metadata: {
          name: `kubevirt-evacuation-${nameSuffix(cx.random)}`,
          ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
          annotations: { 'kubevirt.io/evacuationMigration': status?.nodeName ?? '' },
        },
        spec: { vmiName: metadata.name, priority: 'system-critical' },
      })
    }
    return undefined
  })
}
