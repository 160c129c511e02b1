import { type Reader, servedPages, type Where, orUnserved } from '../kube/cluster.ts'
import { condition, type Kind, type KubeObject } from '../kube/object.ts'
import {
  type DataJob,
  DataVolumes,
  VirtualMachineBackups,
  VirtualMachineClones,
  VirtualMachineExports,
  VirtualMachineRestores,
  VirtualMachineSnapshots,
} from '../kube/kinds/kubevirt-kinds.ts'
import { readAhead } from '../kube/read-cache.ts'
import { CronJobs, Deployments } from '../kube/kinds/workload-kinds.ts'
import {
  ClusterApiMachineHealthChecks,
  KubeDeschedulers,
  type MachineConfigPool,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../kube/kinds/openshift-kinds.ts'

interface OpenDataJob {
  kind: string
  /** `namespace/name` */
  name: string
  phase: string
  /** The VM that it is of, `namespace/name`, where it says so. */
  vm?: string
}

interface JobKind {
  kind: Kind<DataJob>
  /** The newest first. */
  versions: readonly string[]
  isOver: (job: DataJob) => boolean
}

const phaseIn = (...phases: string[]) => {
  const ends = new Set(phases)
  return ({ status }: DataJob) => ends.has(status?.phase ?? '')
}
const isTrue = (job: DataJob, ...types: string[]) =>
  types.some((type) => condition(job, type)?.status === 'True')
const ended = phaseIn('Succeeded', 'Failed')
const beta = ['v1beta1', 'v1alpha1']

const jobKinds: readonly JobKind[] = [
  {
    kind: VirtualMachineSnapshots,
    versions: beta,
    isOver: (job) => ended(job) || job.status?.readyToUse === true || isTrue(job, 'Failure'),
  },
  {
    kind: VirtualMachineRestores,
    versions: beta,
    isOver: (job) => job.status?.complete === true || isTrue(job, 'Failure'),
  },
  { kind: VirtualMachineClones, versions: beta, isOver: ended },
  // Ready is open: a download goes through virt-exportproxy, which the update replaces.
  { kind: VirtualMachineExports, versions: ['v1', ...beta], isOver: phaseIn('Terminated', 'Skipped') },
  {
    kind: VirtualMachineBackups,
    versions: ['v1beta1', 'v1alpha1'],
    isOver: (job) => ended(job) || isTrue(job, 'Done', 'Failed', 'Failure'),
  },
  {
    kind: DataVolumes,
    versions: ['v1beta1'],
    // The last three wait for a person or a pod; nothing is being copied.
    isOver: phaseIn('Succeeded', 'Failed', 'WaitForFirstConsumer', 'PendingPopulation', 'Paused'),
  },
]

/** Snapshots, restores, clones, exports, backups and DataVolumes that are not over (night C5). Throws ApiError. */
export async function openDataJobs(reader: Reader): Promise<OpenDataJob[]> {
  return (await Promise.all(jobKinds.map(async (one) => openOnes(reader, one)))).flat()
}

async function openOnes(reader: Reader, { kind, versions, isOver }: JobKind): Promise<OpenDataJob[]> {
  const open: OpenDataJob[] = []
  for await (const { items } of readAhead(servedPages(reader, kind, versions)))
    for (const job of items) if (!isOver(job)) open.push(described(job, kind))
  return open
}

function described(job: DataJob, { kind }: Kind): OpenDataJob {
  const { namespace, name } = job.metadata
  const working = job.status?.conditions?.find((c) => c.status === 'True')?.type
  const of = vmIn(job)
  return {
    kind,
    name: `${namespace}/${name}`,
    phase: job.status?.phase || working || 'not begun',
    ...(of !== undefined && { vm: `${namespace}/${of}` }),
  }
}

/** A snapshot, a clone, an export and a backup name it as their source, a restore as its target. */
function vmIn({ spec }: DataJob): string | undefined {
  return [spec?.source, spec?.target].find((one) => one?.kind === 'VirtualMachine')?.name
}

/** Somebody else who moves VMs, or stops or reboots nodes. */
export interface Other {
  kind: string
  name: string
  /** As kubectl takes it where several groups have such a kind: `machinehealthchecks.machine.openshift.io`. */
  resource: string
  does: 'evicts' | 'remediates' | 'updates' | 'waits'
}

/**
 * Who else moves VMs, or stops or reboots nodes: deschedulers that evict, health checks that are not paused, pools that update
 * or are paused (night C4). A kind that is not served is none. Throws ApiError.
 */
export async function activeOthers(reader: Reader): Promise<Other[]> {
  const found = await Promise.all([
    those(reader, KubeDeschedulers, ({ spec }) =>
      spec?.mode === 'Automatic' && spec.managementState !== 'Unmanaged' ? 'evicts' : undefined,
    ),
    descheduler(reader, Deployments, ({ spec }) => spec?.replicas !== 0),
    descheduler(reader, CronJobs, ({ spec }) => spec?.suspend !== true),
    those(reader, MachineHealthChecks, unlessPaused),
    those(reader, ClusterApiMachineHealthChecks, unlessPaused),
    those(reader, NodeHealthChecks, ({ spec }) =>
      (spec?.pauseRequests ?? []).length > 0 ? undefined : 'remediates',
    ),
    those(reader, MachineConfigPools, poolAt),
  ])
  return found.flat()
}

async function those<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  doesOf: (object: T) => Other['does'] | undefined,
  where?: Where,
): Promise<Other[]> {
  const others: Other[] = []
  for await (const { items } of orUnserved(reader.pages(kind, where)))
    others.push(...items.flatMap((object) => otherOf(object, kind, doesOf(object))))
  return others
}

function otherOf(object: KubeObject, kind: Kind, does: Other['does'] | undefined): Other[] {
  if (does === undefined) return []
  const [group] = kind.apiVersion.split('/')
  return [{ kind: object.kind, name: nameOf(object), resource: `${kind.plural}.${group}`, does }]
}

/** As its manifests and its chart call it: who may list only this name may ask so. */
function descheduler<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  isOn: (object: T) => boolean,
): Promise<Other[]> {
  return those(reader, kind, (object) => (isOn(object) ? 'evicts' : undefined), { name: 'descheduler' })
}

function unlessPaused({ metadata }: KubeObject): Other['does'] | undefined {
  return Object.hasOwn(metadata.annotations ?? {}, 'cluster.x-k8s.io/paused') ? undefined : 'remediates'
}

function poolAt(pool: MachineConfigPool): Other['does'] | undefined {
  if (condition(pool, 'Updating')?.status === 'True') return 'updates'
  return pool.spec?.paused === true ? 'waits' : undefined
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
