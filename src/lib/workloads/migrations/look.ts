import type { Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import { known } from '../../facts/known.ts'
import { ApiError, isNotFound } from '../../system/errors.ts'
import { type Launchers, readLaunchers } from './launchers.ts'
import { type MigrationLedger, readMigrations } from './ledger.ts'
import { isRunning, type Migration, vmOf } from './migration.ts'
import { type Mover, readMovers } from './movers.ts'

/** Everything that is said of migrations is said of this. */
export interface MigrationsLook {
  at: Date
  ledger: MigrationLedger
  /** Only this namespace is shown. */
  namespace?: string
  /** Only this namespace could be read: nothing is known of the others. */
  partial: boolean
  /** By `namespace/name`: VMIs with an unfinished migration, and those whose last one failed. */
  movers: ReadonlyMap<string, Mover>
  launchers?: Launchers
  kubevirt?: KubeVirt
  /** What could not be read, and what is therefore not said. */
  remarks: readonly string[]
}

export interface Looking {
  reader: Reader
  at: Date
  namespace?: string | undefined
  /** Its limits and methods; a remark says why it is missing. */
  kubevirt?: KubeVirt | undefined
  /** Sees every migration that is read. */
  each?: (migration: Migration) => void
}

/** Reads all migrations, the limit being of the cluster, or those of the namespace where no more may be read. Throws ApiError. */
export async function lookAtMigrations(looking: Looking): Promise<MigrationsLook> {
  const { reader, namespace, each } = looking
  try {
    return await lookAround(await readMigrations(reader, each && { each }), looking)
  } catch (error) {
    if (namespace === undefined || !(error instanceof ApiError) || error.status !== 403) throw error
  }
  const ledger = await readMigrations(reader, { namespace, ...(each && { each }) })
  return lookAround(ledger, { ...looking, partial: true })
}

/** Throws ApiError where migrations may not be read; a watch would wait for that right without end. */
export async function ensureReadable(reader: Reader, namespace: string | undefined): Promise<void> {
  try {
    for await (const _ of reader.pages(VirtualMachineInstanceMigrations, { namespace })) return
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** What lies around the migrations of a ledger: their VMIs, and the pods of those that do not run yet. Throws ApiError. */
export async function lookAround(
  ledger: MigrationLedger,
  { reader, at, namespace, kubevirt, partial = false }: Looking & { partial?: boolean },
): Promise<MigrationsLook> {
  const movers = await readMovers(reader, [...new Set([...ledger.open.map(vmOf), ...ledger.failing])])
  const waiting = ledger.open.filter((one) => !isRunning(one) || one.phase === 'Scheduling')
  const shown = waiting.filter((one) => namespace === undefined || one.namespace === namespace)
  const uids = shown.flatMap((one) => movers.get(vmOf(one))?.uid ?? [])
  const launchers = await known(readLaunchers(reader, uids, { namespace, at }).then((read) => [read]))
  const [pods] = launchers.known ? launchers.items : []
  return {
    at,
    ledger,
    partial,
    movers,
    ...(namespace !== undefined && { namespace }),
    ...(pods && { launchers: pods }),
    ...(kubevirt && { kubevirt }),
    remarks: [
      ...(partial
        ? [`only namespace ${namespace} may be read: limits of the whole cluster are not judged`]
        : []),
      ...(launchers.known ? [] : [`why a target pod waits is not known: ${launchers.why}`]),
    ],
  }
}
