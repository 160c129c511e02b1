import * as kube from '../kinds.ts'
import {
  controlEach,
  type ControllerContext,
  keyed,
  keyOf,
  made,
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
const minute = 60_000

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
    const plan = planUpdate({
      due,
      known,
      methods: kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? [],
      limit: limitsOf(kubevirt.spec?.configuration).perCluster,
      batch: size,
      random: cx.random,
    })
    await writeCount(cx, kubevirt, plan.outdated)
    for (const vmi of plan.migrate) await migrate(cx, vmi)
    const now = cx.clock.now().getTime()
    if (plan.mayEvict && now - lastBatch >= interval) {
      lastBatch = now
      for (const vmi of plan.evict) await evict(cx, vmi)
    }
    const late = plan.mayEvict
      ? Math.max(0, lastBatch + interval - cx.clock.now().getTime() - delay)
      : undefined
    return plan.waiting && late === undefined ? delay : late
  }
  return control(cx, watched, update, () => delay)
}

const isSettled = ({ status }: kube.KubeVirt): boolean =>
  status?.phase === 'Deployed' &&
  status.observedDeploymentID !== undefined &&
  status.observedDeploymentID === status.targetDeploymentID

async function writeCount(cx: Virt, kubevirt: kube.KubeVirt, outdated: number): Promise<void> {
  if (kubevirt.status?.outdatedVirtualMachineInstanceWorkloads === outdated) return
  const status = { outdatedVirtualMachineInstanceWorkloads: outdated }
  await cx.writer.mergePatch(kube.KubeVirts, kubevirt.metadata, { status }, 'status')
}

/** Defaults are the controller's own, not the CR's (facts 1.2). */
function batchOf({ spec }: kube.KubeVirt): { size: number; interval: number } {
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

async function migrate(cx: Virt, vmi: kube.Vmi): Promise<void> {
  const { name, namespace } = vmi.metadata
  const prefix = 'kubevirt-workload-update-'
  const created = await cx.writer.create(
    kube.Migrations,
    made(kube.Migrations, {
      metadata: {
        name: `${prefix}${nameSuffix(cx.random)}`,
        generateName: prefix,
        namespace,
        labels: { 'kubevirt.io/vmi-name': name },
        annotations: { 'kubevirt.io/workloadUpdateMigration': '' },
      },
      spec: { vmiName: name },
    }),
  )
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

/** The running instances that are to be updated, as a watch tells of them, in the order of a list. */
class DueInstances {
  readonly #launcherImage: string
  readonly #due: DueInstance[] = []
  #migratable = 0

  constructor(launcherImage: string) {
    this.#launcherImage = launcherImage
  }

  get size(): number {
    return this.#due.length
  }

  get hasMigratable(): boolean {
    return this.#migratable > 0
  }

  /** Those that none of these keys names. Copied in pieces: there are thousands, and this is asked of every batch. */
  without(keys: Iterable<string>): readonly DueInstance[] {
    const places = Array.from(keys, (key) => [this.#placeOf(key), key] as const)
    const left = places.filter(([i, key]) => this.#due[i]?.key === key).map(([i]) => i)
    if (left.length === 0) return this.#due
    const ends = [...new Set(left)].toSorted((a, b) => a - b)
    const pieces = [...ends, this.#due.length].map((end, n) =>
      this.#due.slice(n === 0 ? 0 : (ends[n - 1] ?? 0) + 1, end),
    )
    return new Array<DueInstance>().concat(...pieces)
  }

  take(vmi: kube.Vmi, isGone: boolean): void {
    const key = keyOf(vmi.metadata)
    const place = this.#placeOf(key)
    const there = this.#due[place]?.key === key ? this.#due[place] : undefined
    if (there?.isMigratable === true) this.#migratable--
    if (isGone || !this.#isDue(vmi)) {
      if (there) this.#due.splice(place, 1)
      return
    }
    const isMigratable = condition(vmi, 'LiveMigratable')?.status === 'True'
    if (isMigratable) this.#migratable++
    this.#due.splice(place, there ? 1 : 0, { key, vmi, isMigratable })
  }

  #isDue(vmi: kube.Vmi): boolean {
    const { metadata, status } = vmi
    const isRunningOn = status?.phase === 'Running' && metadata.deletionTimestamp === undefined
    return isRunningOn && (isOutdated(vmi, this.#launcherImage) || asksForMigration(vmi))
  }

  /** Where it stands or would stand: by halves. */
  #placeOf(key: string): number {
    let [low, high] = [0, this.#due.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#due[middle]?.key ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

interface UpdateQuestion {
  due: DueInstances
  known: KnownMigrations
  methods: readonly string[]
  /** parallelMigrationsPerCluster. */
  limit: number
  /** How many are evicted at once at most. */
  batch: number
  random: () => number
}

interface UpdatePlan {
  /** What status.outdatedVirtualMachineInstanceWorkloads says. */
  outdated: number
  migrate: readonly kube.Vmi[]
  evict: readonly kube.Vmi[]
  mayEvict: boolean
  /** Something is left that a method could do later. */
  waiting: boolean
}

/** What the updater does now: facts 3.2, getUpdateData. Pure but for the order of equals. */
function planUpdate({ due, known, methods, limit, batch, random }: UpdateQuestion): UpdatePlan {
  const moving = known.movedInstances()
  const [migrates, evicts] = [methods.includes('LiveMigrate'), methods.includes('Evict')]
  const migratable = new Draw(Math.max(0, limit - known.running.size), random)
  const evictable = new Draw(batch, random)
  const idle = due.without(moving)
  const isMigrated = ({ isMigratable }: DueInstance) => migrates && isMigratable
  if (migrates) for (const one of idle) if (one.isMigratable) migratable.take(one.vmi)
  if (evicts) for (const one of idle) if (!isMigrated(one)) evictable.take(one.vmi)
  return {
    outdated: due.size,
    migrate: migratable.drawn,
    evict: evictable.drawn,
    mayEvict: evictable.taken > 0,
    waiting: migrates && due.hasMigratable,
  }
}

/** An empty field means "not outdated". */
function isOutdated({ status }: kube.Vmi, launcherImage: string): boolean {
  const { launcherContainerImageVersion: image = '' } = status ?? {}
  return image !== '' && image !== launcherImage
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
    const found = await cx.reader.get(kube.Vmis, ref)
    if (found.is !== 'object' || !isEvacuated(found.object)) return
    const key = keyOf(ref)
    if (created.has(key) || known.openOf(key).length > 0) return
    const { metadata, status } = found.object
    const name = `kubevirt-evacuation-${nameSuffix(cx.random)}`
    created.set(key, name)
    try {
      await cx.writer.create(
        kube.Migrations,
        made(kube.Migrations, {
          metadata: {
            name,
            namespace: metadata.namespace,
            annotations: { 'kubevirt.io/evacuationMigration': status?.nodeName ?? '' },
          },
          spec: { vmiName: metadata.name, priority: 'system-critical' },
        }),
      )
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
