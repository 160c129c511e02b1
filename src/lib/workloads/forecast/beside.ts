import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
} from '../../cluster/kinds/virtual-machines.ts'
import { whyUnknown } from '../../facts/known.ts'
import { isMigrating } from '../outdated/due.ts'
import { MigrationLedger, keptByKubeVirt } from '../migrations/ledger.ts'
import { countLivingLaunchers } from '../migrations/launchers.ts'
import type { Beside } from './obstacles.ts'

/**
 * Asks only for those where there may be something: pods of VMIs with two active ones (a stale entry is common, lab "Seen with workloads" 9),
 * migrations of VMIs whose last one failed. By uid; what may not be read is not in it. Throws ApiError but 403.
 */
export async function readBeside(
  reader: Reader,
  vmis: readonly VirtualMachineInstance[],
): Promise<ReadonlyMap<string, Beside>> {
  const found = new Map<string, Beside>()
  const [living] = await Promise.all([
    livingPods(reader, vmis),
    ...vmis.filter(hasFailed).map(async (vmi) => {
      const endless = await endlessFailures(reader, vmi)
      if (endless !== undefined) found.set(vmi.metadata.uid ?? '', { endless })
    }),
  ])
  for (const [uid, pods] of living) found.set(uid, { ...found.get(uid), pods })
  return found
}

async function livingPods(
  reader: Reader,
  vmis: readonly VirtualMachineInstance[],
): Promise<ReadonlyMap<string, number>> {
  const two = vmis.filter((vmi) => Object.keys(vmi.status?.activePods ?? {}).length > 1 && !isMigrating(vmi))
  const refs = two.flatMap(({ metadata: { uid, namespace = '' } }) =>
    uid === undefined ? [] : [{ uid, namespace }],
  )
  return ifKnown(countLivingLaunchers(reader, refs), new Map())
}

const hasFailed = ({ status }: VirtualMachineInstance): boolean => status?.migrationState?.failed === true

async function endlessFailures(
  reader: Reader,
  { metadata }: VirtualMachineInstance,
): Promise<Beside['endless']> {
  const { name, namespace = '' } = metadata
  const ledger = new MigrationLedger()
  const all = reader.list(VirtualMachineInstanceMigrations, {
    namespace,
    labels: `kubevirt.io/vmi-name=${name}`,
  })
  for (const object of await ifKnown(all, [])) ledger.add(object)
  const { failures } = ledger.pastOf(`${namespace}/${name}`)
  if (failures.length < keptByKubeVirt) return undefined
  const why = failures[0]?.failureReason
  return { times: failures.length, ...(why !== undefined && { reason: why }) }
}

async function ifKnown<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return otherwise
  }
}
