import * as kube from '../kinds.ts'
import {
  controlEach,
  type ControllerContext,
  foundIn,
  keyed,
  keyOf,
  made,
  mergeStatus,
  nameSuffix,
  recordEvent,
  control,
} from '../machinery/controller.ts'
import { lead } from '../machinery/leader-election.ts'
import { currentLauncher, launchersOf, runInstances, type Virt } from './vmi-controller.ts'
import {
  asksForMigration,
  instanceKeyOf,
  KnownMigrations,
  limitsOf,
  runMigrations,
} from './migration-controller.ts'
import { runVirtualMachines } from './vm-controller.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { condition } from '../../lib/kube/object.ts'

/** The image that this virt-controller gives to new launchers; empty where it is told none. */
export function launcherImageOf({ spec }: Pick<kube.PodTemplate, 'spec'> = {}): string {
  const args = spec?.containers?.[0]?.args ?? []
  return args[args.indexOf('--launcher-image') + 1] ?? ''
}

/** The program of a virt-controller pod: waits for the Lease, then runs VMs, their migrations and their updates. */
export async function runVirtController(cx: ControllerContext, pod: kube.Pod): Promise<void> {
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

/** The workload updater: facts 3.2. It looks only while target and observed are the same. */
function runWorkloadUpdater(cx: Virt): Promise<void> {
  const known = new KnownMigrations()
  const due = new DueInstances(cx.launcherImage)
  const watched = [
    { kind: kube.KubeVirts, where: { namespace: cx.namespace } },
    {
      kind: kube.Migrations,
      feeds: (migration: kube.Migration, isGone: boolean) => known.take(migration, isGone),
    },
    {
      kind: kube.Vmis,
      concerns: asksForMigration,
      feeds: (vmi: kube.Vmi, isGone: boolean) => due.take(vmi, isGone),
    },
  ]
  let lastBatch = Number.NEGATIVE_INFINITY
  const update = async (): Promise<number | undefined> => {
    const [kubevirt]: kube.KubeVirt[] = await cx.reader.list(kube.KubeVirts, { namespace: cx.namespace })
    if (kubevirt === undefined || !isSettled(kubevirt)) return undefined
    const { size, interval } = batchOf(kubevirt)
    const { methods, migratable, evictable } = planUpdate(cx, kubevirt, { due, known, size })
    const status = { outdatedVirtualMachineInstanceWorkloads: due.all.length }
    await mergeStatus(cx, kube.KubeVirts, kubevirt, status)
    for (const vmi of migratable.drawn) await migrate(cx, vmi)
    if (evictable.taken === 0) return methods.includes('LiveMigrate') && due.hasMigratable ? delay : undefined
    const now = cx.clock.now().getTime()
    if (now - lastBatch >= interval) {
      lastBatch = now
      for (const vmi of evictable.drawn) await evict(cx, vmi)
    }
    return Math.max(0, lastBatch + interval - cx.clock.now().getTime() - delay)
  }
  return control(cx, watched, update, () => delay)
}

const isSettled = ({ status }: kube.KubeVirt): boolean =>
  status?.phase === 'Deployed' &&
  status.observedDeploymentID !== undefined &&
  status.observedDeploymentID === status.targetDeploymentID

/** Whom the updater moves now, and whom it would evict: facts 3.2, getUpdateData. */
function planUpdate(
  cx: Virt,
  { spec }: kube.KubeVirt,
  { due, known, size }: { due: DueInstances; known: KnownMigrations; size: number },
) {
  const moving = known.movedInstances()
  const methods = spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? []
  const [migrates, evicts] = [methods.includes('LiveMigrate'), methods.includes('Evict')]
  const limit = limitsOf(spec?.configuration).perCluster
  const migratable = new Draw(Math.max(0, limit - known.running.size), cx.random)
  const evictable = new Draw(size, cx.random)
  const idle = due.all.filter(({ key }) => !moving.has(key))
  const isMigrated = ({ isMigratable }: DueInstance) => migrates && isMigratable
  for (const one of idle) if (isMigrated(one)) migratable.take(one.vmi)
  if (evicts) for (const one of idle) if (!isMigrated(one)) evictable.take(one.vmi)
  return { methods, migratable, evictable }
}

/** Defaults are the controller's own, not the CR's (facts 1.2). */
function batchOf({ spec }: kube.KubeVirt): { size: number; interval: number } {
  const { batchEvictionSize: size = 10, batchEvictionInterval = '1m' } = spec?.workloadUpdateStrategy ?? {}
  return { size, interval: milliseconds(batchEvictionInterval) }
}

const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000 }

/** Go's way to write a duration: `1m30s`. */
function milliseconds(duration: string): number {
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)([hms])/g)]
  return parts.reduce((sum, [, amount = '0', unit = 's']) => sum + Number(amount) * (units[unit] ?? 0), 0)
}

async function migrate(cx: Virt, vmi: kube.Vmi): Promise<void> {
  const { name, namespace } = vmi.metadata
  const generateName = 'kubevirt-workload-update-'
  const migration: kube.Migration = made(kube.Migrations, {
    metadata: {
      name: `${generateName}${nameSuffix(cx.random)}`,
      generateName,
      namespace,
      labels: { 'kubevirt.io/vmi-name': name },
      annotations: { 'kubevirt.io/workloadUpdateMigration': '' },
    },
    spec: { vmiName: name },
  })
  const created = await cx.writer.create(kube.Migrations, migration)
  const message = `Created Migration ${created.metadata.name} for automated workload update`
  await recordEvent(cx, vmi, by, ['Normal', 'SuccessfulCreate', message])
}

async function evict(cx: Virt, vmi: kube.Vmi): Promise<void> {
  const pod = currentLauncher(vmi, await launchersOf(cx, vmi))
  if (pod === undefined) return
  try {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: pod.metadata }
    await cx.writer.subresource(kube.Pods, pod.metadata, { name: 'eviction', method: 'POST', body })
    const message = 'Initiated eviction of VMI as part of automated workload update: <nil>'
    await recordEvent(cx, vmi, by, ['Normal', 'SuccessfulEvict', message])
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = `Error deleting VMI during automated workload update: ${error.message}`
    await recordEvent(cx, vmi, by, ['Warning', 'FailedEvict', message])
  }
}

interface DueInstance {
  key: string
  vmi: kube.Vmi
  isMigratable: boolean
}

/** The running instances that are to be updated, as a watch tells of them. */
class DueInstances {
  readonly #launcherImage: string
  /** In the order of a list. */
  readonly all: DueInstance[] = []
  #migratable = 0

  constructor(launcherImage: string) {
    this.#launcherImage = launcherImage
  }

  get hasMigratable(): boolean {
    return this.#migratable > 0
  }

  take(vmi: kube.Vmi, isGone: boolean): void {
    const key = keyOf(vmi.metadata)
    const place = this.#placeOf(key)
    const there = this.all[place]?.key === key ? this.all[place] : undefined
    const isMigratable = condition(vmi, 'LiveMigratable')?.status === 'True'
    const now = !isGone && this.#isDue(vmi) ? [{ key, vmi, isMigratable }] : []
    this.#migratable += Number(now.length > 0 && isMigratable) - Number(there?.isMigratable ?? false)
    this.all.splice(place, there ? 1 : 0, ...now)
  }

  /** An empty image is not outdated. */
  #isDue(vmi: kube.Vmi): boolean {
    const { metadata, status } = vmi
    if (status?.phase !== 'Running' || metadata.deletionTimestamp !== undefined) return false
    const { launcherContainerImageVersion: image = '' } = status
    return (image !== '' && image !== this.#launcherImage) || asksForMigration(vmi)
  }

  /** Where it stands or would stand: by halves. */
  #placeOf(key: string): number {
    let [low, high] = [0, this.all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.all[middle]?.key ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Draws so many of the instances that it takes, at random, as if all were shuffled. */
class Draw {
  readonly #most: number
  readonly #random: () => number
  readonly #drawn: { vmi: kube.Vmi; place: number }[] = []
  /** How many it was given. */
  taken = 0

  constructor(most: number, random: () => number) {
    this.#most = most
    this.#random = random
  }

  take(vmi: kube.Vmi): void {
    this.taken++
    const place = this.#random()
    const isFull = this.#drawn.length >= this.#most
    if (isFull && place >= (this.#drawn.at(-1)?.place ?? 0)) return
    this.#drawn.splice(this.#drawn.findLastIndex((other) => other.place <= place) + 1, 0, { vmi, place })
    if (isFull) this.#drawn.pop()
  }

  get drawn(): readonly kube.Vmi[] {
    return this.#drawn.map(({ vmi }) => vmi)
  }
}

/** Migrates instances that an eviction marked away from their node (facts 3.4). */
function runEvacuations(cx: Virt): Promise<void> {
  const known = new KnownMigrations()
  const created = new Map<string, string>()
  /** Keys of the instances that are to go, as the watch tells of them. */
  const evacuated = new Set<string>()
  const watches = [
    keyed(kube.Vmis, (vmi, isGone) => {
      const key = keyOf(vmi.metadata)
      if (!isGone && isEvacuated(vmi)) evacuated.add(key)
      else evacuated.delete(key)
      return evacuated.has(key) ? [key] : []
    }),
    keyed(kube.Migrations, (migration, isGone) => {
      known.take(migration, isGone)
      const instance = instanceKeyOf(migration)
      if (created.get(instance) === migration.metadata.name) created.delete(instance)
      return evacuated.has(instance) ? [instance] : []
    }),
  ]
  return controlEach(cx, watches, async () => async (ref) => {
    const vmi = foundIn(await cx.reader.get(kube.Vmis, ref))
    if (vmi === undefined || !isEvacuated(vmi)) return
    const key = keyOf(ref)
    if (created.has(key) || known.openOf(key).length > 0) return
    const { namespace, name: vmiName } = vmi.metadata
    const annotations = { 'kubevirt.io/evacuationMigration': vmi.status?.nodeName ?? '' }
    const name = `kubevirt-evacuation-${nameSuffix(cx.random)}`
    const migration: kube.Migration = made(kube.Migrations, {
      metadata: { name, namespace, annotations },
      spec: { vmiName, priority: 'system-critical' },
    })
    created.set(key, name)
    try {
      await cx.writer.create(kube.Migrations, migration)
    } catch (error) {
      created.delete(key)
      throw error
    }
  })
}

const isEvacuated = ({ spec, status }: kube.Vmi): boolean =>
  status?.evacuationNodeName !== undefined &&
  status.evacuationNodeName === status.nodeName &&
  spec?.evictionStrategy !== 'External'
