import type { Reader } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import {
  type DataJob,
  DataVolumes,
  VirtualMachineBackups,
  VirtualMachineClones,
  VirtualMachineExports,
  VirtualMachineRestores,
  VirtualMachineSnapshots,
} from '../cluster/kinds/data-jobs.ts'
import { servedPages } from '../cluster/list-served.ts'
import { condition } from '../cluster/object.ts'
import { readAhead } from '../cluster/read-ahead.ts'

export interface OpenDataJob {
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
