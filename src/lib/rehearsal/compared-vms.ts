import type { Reader } from '../kube/cluster.ts'
import { type Event, Events } from '../kube/kinds/core-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../kube/kinds/kubevirt-kinds.ts'
import { itemsOf, type Known, known } from '../kube/known.ts'
import type { TriedWithVm, VmComparison } from '../upgrade/upgrade-report.ts'
import { isAutomatic, type Migration, migrationOf, vmOf } from '../vms/migrations/migration.ts'
import { vmName } from '../vms/vm.ts'
import type { RehearsedVm } from './rehearsal.ts'

interface Compared {
  since: Date
  /** KubeVirt has come to all VMs that it comes to. */
  areDone: boolean
}

/** What KubeVirt has tried with these VMs by itself since then; undefined where it cannot be read. */
export async function compareVms(
  reader: Reader,
  rehearsed: readonly RehearsedVm[],
  { since, areDone }: Compared,
): Promise<VmComparison | undefined> {
  const [instances, migrations, evicted, refused] = await Promise.all([
    known(reader.list(VirtualMachineInstances)),
    known(reader.list(VirtualMachineInstanceMigrations)),
    known(reader.list(Events, { fields: 'reason=SuccessfulEvict' })),
    known(reader.list(Events, { fields: 'reason=FailedEvict' })),
  ])
  if (!instances.known || !migrations.known) return undefined
  const tried = triedSince({
    instances: instances.items,
    migrations: migrations.items.map(migrationOf).filter((one) => isSince(one.createdAt, since)),
    evicted: vmsIn(evicted, since),
    refused: vmsIn(refused, since),
    since,
  })
  const judged = rehearsed.map((vm) => ({ vm, tried: tried(vm) }))
  const isComing = (one: Judged) => !areDone && one.tried === 'nothing' && one.vm.tries !== 'nothing'
  const open = judged.filter(isComing).length
  const others = judged.filter((one) => !isComing(one) && !isAsRehearsed(one))
  return {
    total: judged.length,
    agreed: judged.length - open - others.length,
    open,
    items: others.map(({ vm: { namespace, name, tries }, tried: is }) => ({
      namespace,
      name,
      rehearsed: tries,
      tried: is,
    })),
  }
}

interface Judged {
  vm: RehearsedVm
  tried: TriedWithVm
}

/** One that is evicted may start again elsewhere, or not; a refused eviction leaves no trace once its event is gone. */
function isAsRehearsed({ vm: { tries, becomes }, tried }: Judged): boolean {
  if (tries === 'evict') return tried === 'evict' || tried === 'restart' || tried === 'ended'
  if (tries === 'evict-refused') return tried === 'evict-refused' || tried === 'nothing'
  // That KubeVirt itself ends its migrations was rehearsed; why QEMU does is not in the twin.
  if (tries === 'migrate' && tried === 'migration-failed') return becomes === 'outdated'
  return tried === tries
}

interface Traces {
  instances: readonly VirtualMachineInstance[]
  migrations: readonly Migration[]
  /** `namespace/name` of the VMIs that events tell it of. Where events may not be read: none. */
  evicted: ReadonlySet<string>
  refused: ReadonlySet<string>
  since: Date
}

function triedSince(traces: Traces): (vm: RehearsedVm) => TriedWithVm {
  const { instances, migrations, evicted, refused, since } = traces
  const byPlace = new Map(instances.map((vmi) => [vmName(vmi), vmi]))
  const moved = new Map<string, Migration[]>()
  for (const migration of migrations.filter(isAutomatic))
    moved.set(vmOf(migration), [...(moved.get(vmOf(migration)) ?? []), migration])
  return ({ namespace, name, uid, launcher }) => {
    const place = `${namespace}/${name}`
    const vmi = byPlace.get(place)
    const isNewer = hasLeft(launcher, vmi)
    const own = moved.get(place) ?? []
    if (own.length > 0) return isNewer || !haveFailed(own) ? 'migrate' : 'migration-failed'
    if (vmi === undefined || vmi.status?.phase === 'Succeeded' || vmi.status?.phase === 'Failed')
      return 'ended'
    const isAnother =
      uid === undefined ? isSince(vmi.metadata.creationTimestamp, since) : vmi.metadata.uid !== uid
    if (isAnother) return evicted.has(place) ? 'evict' : 'restart'
    // KubeVirt keeps no more than the last few migrations of a VM.
    if (isNewer) return 'migrate'
    return refused.has(place) ? 'evict-refused' : 'nothing'
  }
}

function hasLeft(launcher: string | undefined, vmi: VirtualMachineInstance | undefined): boolean {
  const image = vmi?.status?.launcherContainerImageVersion
  return launcher !== undefined && image !== undefined && image !== launcher
}

/** Though KubeVirt may try again. */
const haveFailed = (migrations: readonly Migration[]): boolean =>
  migrations.some(({ phase }) => phase === 'Failed') && !migrations.some(({ phase }) => phase === 'Succeeded')

const vmsIn = (events: Known<Event>, since: Date): ReadonlySet<string> =>
  new Set(
    itemsOf(events)
      .filter(({ lastTimestamp, eventTime, firstTimestamp }) =>
        isSince(lastTimestamp ?? eventTime ?? firstTimestamp ?? undefined, since),
      )
      .map(({ involvedObject: { namespace = '', name = '' } = {} }) => `${namespace}/${name}`),
  )

/** Times of objects have whole seconds. */
const isSince = (time: string | undefined, since: Date): boolean =>
  Date.parse(time ?? '') >= Math.floor(since.getTime() / 1000) * 1000
