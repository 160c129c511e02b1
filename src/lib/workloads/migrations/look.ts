import type { Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import { known } from '../../facts/known.ts'
import { ApiError, isNotFound } from '../../system/errors.ts'
import { type Launchers, readLaunchers } from './launchers.ts'
import { type MigrationLedger, readMigrations, type Unread } from './ledger.ts'
import { isRunning, type Migration, vmOf } from './migration.ts'
import { type Mover, readMovers } from './movers.ts'

/** Everything that is said of migrations is said of this. */
export interface MigrationsLook {
  at: Date
  ledger: MigrationLedger
  /** Only this namespace is shown. */
  namespace?: string
  /** Not all namespaces were read: nothing is said of limits of the whole cluster. */
  partial: boolean
  /** Namespaces that were asked for and may not be read. */
  unread: readonly Unread[]
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

/**
 * Reads all migrations, the limits being of the cluster; where not all may be read, those of the namespace that is asked for, or of each that
 * may. Throws ApiError.
 */
export async function lookAtMigrations(looking: Looking): Promise<MigrationsLook> {
  const { reader, namespace, each } = looking
  const narrow = namespace !== undefined && !(await mayReadAll(reader))
  const place = { ...(narrow && { namespace }), ...(each && { each }) }
  const { ledger, unread } = await readMigrations(reader, place)
  return lookAround(ledger, { ...looking, unread, partial: narrow || unread.length > 0 })
}

async function mayReadAll(reader: Reader): Promise<boolean> {
  try {
    await ensureReadable(reader, undefined)
    return true
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    return false
  }
}

/** Throws ApiError where migrations may not be read; a watch would wait for that right without end. */
export async function ensureReadable(reader: Reader, namespace: string | undefined): Promise<void> {
  try {
    for await (const _ of reader.pages(VirtualMachineInstanceMigrations, { namespace })) return
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

interface Coverage {
  partial?: boolean
  unread?: readonly Unread[]
}

/** What lies around the migrations of a ledger: their VMIs, and the pods of those that do not run yet. Throws ApiError. */
export async function lookAround(
  ledger: MigrationLedger,
  { reader, at, namespace, kubevirt, partial = false, unread = [] }: Looking & Coverage,
): Promise<MigrationsLook> {
  const movers = await readMovers(reader, [...new Set([...ledger.open.map(vmOf), ...ledger.failing])])
  const waiting = ledger.open.filter((one) => !isRunning(one) || one.phase === 'Scheduling')
  const shown = waiting.filter((one) => namespace === undefined || one.namespace === namespace)
  const vmis = shown.flatMap((one) => {
    const uid = movers.get(vmOf(one))?.uid
    return uid === undefined ? [] : [{ uid, namespace: one.namespace }]
  })
  const launchers = await known(readLaunchers(reader, vmis, { namespace, at }).then((read) => [read]))
  const [pods] = launchers.known ? launchers.items : []
  return {
    at,
    ledger,
    partial,
    unread,
    movers,
    ...(namespace !== undefined && { namespace }),
    ...(pods && { launchers: pods }),
    ...(kubevirt && { kubevirt }),
    remarks: [
      ...(partial ? ['not all namespaces are read: limits of the whole cluster are not judged'] : []),
      ...(launchers.known ? [] : [`why a target pod waits is not known: ${launchers.why}`]),
    ],
  }
}
