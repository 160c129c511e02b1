import { type Reader, orUnserved } from '../../kube/cluster.ts'
import {
  type KubeVirt,
  type MigrationState,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { itemsOf, known } from '../../kube/known.ts'
import { ApiError, isNotFound } from '../../kube/errors.ts'
import { type MigrationLedger, readMigrations } from './migration-ledger.ts'
import type { Unread } from '../../kube/readable-pages.ts'
import { isRunning, type Migration, type TargetPod, vmOf } from './migration.ts'
import { outdatedLabel, unfinishedMigrations } from '../../kubevirt/snapshot.ts'
import { placeOfVm, vmName } from '../vm.ts'
import { type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import {
  type AroundPods,
  isEnded,
  lastWarning,
  launcherTrouble,
  readAroundPods,
} from '../../kubevirt/diagnosis/launcher-trouble.ts'
import { endOf, migrationUidLabel, placesOf } from '../../kubevirt/diagnosis/stuck-migrations.ts'
import { Nodes } from '../../kube/kinds/core-kinds.ts'
import type { Procedure, ReadContext, Step, StepState } from '../../engine/step.ts'
import { minutes, seconds } from '../../kube/clock.ts'

/** Everything that is said of migrations is said of this. */
export interface MigrationSnapshot {
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
  /** The last warning about VMIs whose migration waits, by `namespace/name`; of ten at most. */
  warnings?: ReadonlyMap<string, string>
  /** Nodes that take pods, where a VMI that moves is marked to leave one. */
  openNodes?: ReadonlySet<string>
  kubevirt?: KubeVirt
  /** What could not be read, and what is therefore not said. */
  remarks: readonly string[]
}

interface SnapshotOptions {
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
export async function readInFlight(reading: SnapshotOptions): Promise<MigrationSnapshot> {
  const { reader, namespace, each } = reading
  const narrow = namespace !== undefined && !(await mayReadAll(reader))
  const place = { ...(narrow && { namespace }), ...(each && { each }) }
  const { ledger, unread } = await readMigrations(reader, place)
  return readAround(ledger, { ...reading, unread, partial: narrow || unread.length > 0 })
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
  for await (const _ of orUnserved(reader.pages(VirtualMachineInstanceMigrations, { namespace }))) return
}

interface Coverage {
  partial?: boolean
  unread?: readonly Unread[]
}

/** What lies around the migrations of a ledger: their VMIs, and the pods of those that do not run yet. Throws ApiError. */
export async function readAround(
  ledger: MigrationLedger,
  { reader, at, namespace, kubevirt, partial = false, unread = [] }: SnapshotOptions & Coverage,
): Promise<MigrationSnapshot> {
  const movers = await readMovers(reader, [...new Set([...ledger.open.map(vmOf), ...ledger.failing])])
  const shown = ledger.open.filter((one) => namespace === undefined || one.namespace === namespace)
  const vmis = shown.flatMap((one) => {
    const uid = movers.get(vmOf(one))?.uid
    return uid === undefined ? [] : [{ uid, namespace: one.namespace }]
  })
  const [launchers, openNodes, warnings] = await Promise.all([
    known(readLaunchers(reader, vmis, { namespace, at }).then((read) => [read])),
    readOpenNodes(reader, [...movers.values()]),
    readWarnings(
      reader,
      shown.filter((one) => !isRunning(one)),
      movers,
    ),
  ])
  const [pods] = launchers.known ? launchers.items : []
  return {
    at,
    ledger,
    partial,
    unread,
    movers,
    ...(namespace !== undefined && { namespace }),
    ...(pods && { launchers: pods }),
    ...(openNodes && { openNodes }),
    ...(warnings.size > 0 && { warnings }),
    ...(kubevirt && { kubevirt }),
    remarks: [
      ...(partial ? ['kvup does not read all namespaces: cluster-wide limits are not checked'] : []),
      ...(launchers.known ? [] : [`why a target pod waits is unknown: ${launchers.why}`]),
    ],
  }
}

/** So many VMIs are asked for their events, a request each. */
const warnedAtMost = 10

/** What may not be read is left out. Throws any ApiError but 403 and 404. */
async function readWarnings(
  reader: Reader,
  waiting: readonly Migration[],
  movers: ReadonlyMap<string, Mover>,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    waiting.slice(0, warnedAtMost).map(async (migration) => {
      const { namespace, vmi: name } = migration
      const uid = movers.get(vmOf(migration))?.uid ?? ''
      const read = await known(lastWarning(reader, { namespace, name, uid }).then((text) => [text]))
      const [text] = itemsOf(read)
      return text === undefined ? [] : [[vmOf(migration), text] as const]
    }),
  )
  return new Map(found.flat())
}

/** Only where a VMI is marked to leave a node. Undefined where none is, or where nodes may not be read. Throws any ApiError but 403 and 404. */
async function readOpenNodes(
  reader: Reader,
  movers: readonly Mover[],
): Promise<ReadonlySet<string> | undefined> {
  if (movers.every(({ evacuating }) => evacuating === undefined)) return undefined
  const nodes = await known(reader.list(Nodes))
  if (!nodes.known) return undefined
  const usable = itemsOf(nodes).filter(({ spec }) => spec?.unschedulable !== true)
  return new Set(usable.map(({ metadata }) => metadata.name))
}

/** What is kept of a VMI that moves, wants to, or cannot. */
export interface Mover {
  uid: string
  node?: string
  outdated: boolean
  /** A drain wants it away from this node. */
  evacuating?: string
  /** uid of the migration that it is in, or was in last, and between which nodes. */
  migration?: { uid: string; from?: string; to?: string; startedAt?: string; mode?: string }
}

/** So many are asked for one by one; more are picked out of a list. */
const singly = 50
const atATime = 10

/** The VMIs of these names, `namespace/name`, that exist. Throws ApiError. */
async function readMovers(reader: Reader, vms: readonly string[]): Promise<ReadonlyMap<string, Mover>> {
  const wanted = new Set(vms)
  const found = new Map<string, Mover>()
  const keep = (vmi: VirtualMachineInstance) => found.set(vmName(vmi), moverOf(vmi))
  if (wanted.size <= singly) {
    const names = [...wanted]
    while (names.length > 0) (await getAll(reader, names.splice(0, atATime))).forEach(keep)
    return found
  }
  for await (const { items } of orUnserved(
    reader.pages(VirtualMachineInstances, { namespace: onlyOne(vms) }),
  ))
    items.filter((vmi) => wanted.has(vmName(vmi))).forEach(keep)
  return found
}

async function getAll(reader: Reader, vms: readonly string[]): Promise<VirtualMachineInstance[]> {
  const found = await Promise.all(vms.map((vm) => reader.get(VirtualMachineInstances, placeOfVm(vm))))
  return found.flatMap((one) => (one.is === 'object' ? [one.object] : []))
}

/** The namespace that all of them are in, if there is one. */
function onlyOne(vms: readonly string[]): string | undefined {
  const namespaces = new Set(vms.map((vm) => vm.slice(0, vm.indexOf('/'))))
  return namespaces.size === 1 ? [...namespaces][0] : undefined
}

function moverOf({ metadata, status }: VirtualMachineInstance): Mover {
  const { nodeName, evacuationNodeName, migrationState } = status ?? {}
  return {
    uid: metadata.uid ?? '',
    outdated: outdatedLabel in (metadata.labels ?? {}),
    ...(nodeName && { node: nodeName }),
    ...(evacuationNodeName && { evacuating: evacuationNodeName }),
    ...(migrationState && { migration: migrationIn(migrationState) }),
  }
}

const migrationIn = ({ migrationUid, sourceNode, targetNode, startTimestamp, mode }: MigrationState) => ({
  uid: migrationUid ?? '',
  ...(sourceNode && { from: sourceNode }),
  ...(targetNode && { to: targetNode }),
  ...(startTimestamp && { startedAt: startTimestamp }),
  ...(mode && { mode }),
})

/** Launcher pods of VMIs with a migration that is not over. */
interface Launchers {
  /** By the uid of the migration. */
  targets: ReadonlyMap<string, TargetPod>
  /** How many have not ended, by the uid of the VMI: KubeVirt waits while there are two (facts 3.3). */
  living: ReadonlyMap<string, number>
}

const createdBy = 'kubevirt.io/created-by'
/** A selector of uids has to fit into an address. */
const atOnce = 50

/** A VMI whose launchers are asked for. */
interface VmiRef {
  uid: string
  namespace: string
}

/** Reads the launcher pods of these VMIs, of one namespace or of all. Throws ApiError. */
export async function readLaunchers(
  reader: Reader,
  vmis: readonly VmiRef[],
  { namespace, at }: { namespace?: string | undefined; at: Date },
): Promise<Launchers> {
  const pods: Pod[] = []
  const living = new Map<string, number>(vmis.map(({ uid }) => [uid, 0]))
  for await (const { pod, vmi } of launchersOf(reader, vmis, namespace)) {
    if (!isEnded(pod)) living.set(vmi, (living.get(vmi) ?? 0) + 1)
    if (pod.metadata.labels?.[migrationUidLabel] !== undefined) pods.push(pod)
  }
  const around = { ...(await readAroundPods(reader, pods, at)), at }
  // A pod that lives tells more than one that ended before.
  const inOrder = pods.toSorted((a, b) => Number(isEnded(b)) - Number(isEnded(a)))
  const targets = inOrder.map(
    (pod) => [pod.metadata.labels?.[migrationUidLabel] ?? '', targetOf(pod, around)] as const,
  )
  return { targets: new Map(targets), living }
}

/** How many launcher pods of each of these VMIs, by uid, have not ended. Throws ApiError. */
export async function countLivingLaunchers(
  reader: Reader,
  vmis: readonly VmiRef[],
): Promise<Launchers['living']> {
  const living = new Map<string, number>()
  for await (const { pod, vmi } of launchersOf(reader, vmis, undefined))
    if (!isEnded(pod)) living.set(vmi, (living.get(vmi) ?? 0) + 1)
  return living
}

/** The label only finds them: it can be put on any pod, by anybody who may create one. */
async function* launchersOf(
  reader: Reader,
  vmis: readonly VmiRef[],
  namespace: string | undefined,
): AsyncGenerator<{ pod: Pod; vmi: string }> {
  for (let from = 0; from < vmis.length; from += atOnce) {
    const some = vmis.slice(from, from + atOnce)
    const places = namespace === undefined ? placesOf(some.map((vmi) => vmi.namespace)) : [namespace]
    for (const place of places) yield* launchersIn(reader, some, place)
  }
}

async function* launchersIn(
  reader: Reader,
  vmis: readonly VmiRef[],
  namespace: string | undefined,
): AsyncGenerator<{ pod: Pod; vmi: string }> {
  const here = vmis.filter((vmi) => namespace === undefined || vmi.namespace === namespace)
  const asked = new Map(here.map((vmi) => [vmi.uid, vmi.namespace]))
  if (asked.size === 0) return
  const labels = `${createdBy} in (${[...asked.keys()].join(',')})`
  for await (const { items } of reader.pages(Pods, { namespace, labels }))
    for (const pod of items) {
      const vmi = vmiOf(pod)
      if (vmi !== undefined && asked.get(vmi) === pod.metadata.namespace) yield { pod, vmi }
    }
}

/** The uid of the VMI that virt-controller made this pod for: launchers are controlled by their VMI, in its namespace. */
const vmiOf = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, controller }) => controller === true && kind === 'VirtualMachineInstance',
  )?.uid

function targetOf(pod: Pod, around: AroundPods & { at: Date }): TargetPod {
  const { name, creationTimestamp } = pod.metadata
  const ended = endOf(pod)
  const trouble = ended === undefined ? launcherTrouble(pod, around) : undefined
  return {
    name,
    ...(creationTimestamp && { createdAt: creationTimestamp }),
    ...(trouble && { trouble }),
    ...(ended !== undefined && { ended }),
  }
}

export type MigrationsPolicy = 'wait' | 'cancel' | 'ignore'

/**
 * Waits for every unfinished migration, whoever made it, or cancels them: the virt-handler roll kills those in flight, and
 * emptying the methods cancels none (facts 2.8, night U1). `atMost` in ms.
 */
export function migrationsInFlight(policy: 'wait' | 'cancel', atMost: number): Step {
  return {
    id: 'migrations-in-flight',
    title: policy === 'cancel' ? 'cancel running migrations' : 'wait for running migrations',
    patience: { every: 15 * seconds, atMost },
    estimate: 30 * seconds,
    watches: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const found = await open(reader)
      if (found.length === 0) return { is: 'done' }
      const names = found.slice(0, 3).map(nameOf).join(', ')
      const text = `${found.length} ${found.length === 1 ? 'migration' : 'migrations'} (${names}${found.length > 3 ? ', …' : ''})`
      const cancellable = found.filter((m) => m.metadata.deletionTimestamp === undefined)
      if (policy === 'cancel' && cancellable.length > 0) return { is: 'todo', change: `cancel ${text}` }
      return { is: 'waiting', on: `${text} to end` }
    },
    ...(policy === 'cancel' && {
      repeats: { atMost: 10, parallel: 1 },
      apply: async ({ reader, writer }) => {
        for (const { metadata } of await open(reader))
          await writer
            .delete(
              VirtualMachineInstanceMigrations,
              { name: metadata.name, namespace: metadata.namespace },
              { uid: metadata.uid },
            )
            .catch((error: unknown) => {
              if (!isNotFound(error)) throw error
            })
      },
    }),
  }
}

/** None where the kind is not served. */
async function open(reader: Reader): Promise<VirtualMachineInstanceMigration[]> {
  try {
    return await unfinishedMigrations(reader)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

const nameOf = (m: VirtualMachineInstanceMigration) =>
  `${m.metadata.namespace}/${m.spec?.vmiName ?? m.metadata.name}`

/** Cancels the migrations that kvup has made since a time, in ms since the epoch, and that are not over: deleting is cancelling (facts 3.3). */
export function cancelProcedure(since: number): Procedure {
  const running = (cx: ReadContext) => ownMigrations(cx, since)
  return {
    name: 'cancel migrations',
    reached: async (cx) => (await running(cx)).length === 0,
    steps: async () => [
      {
        id: 'cancel-migrations',
        title: 'cancel migrations',
        patience: { every: 5 * seconds, atMost: 1 * minutes },
        estimate: 1 * seconds,
        watches: [],
        risk: { undo: 'kvup workloads update', safeToLeave: 'always' },
        async check(cx) {
          const found = await running(cx)
          if (found.length === 0) return { is: 'done' }
          return {
            is: 'todo',
            change: `cancel ${found.map(({ namespace, vmi }) => `${namespace}/${vmi}`).join(', ')}`,
          }
        },
        async apply(cx) {
          for (const { name, namespace, uid } of await running(cx))
            await cx.writer
              .delete(VirtualMachineInstanceMigrations, { name, namespace }, { uid })
              .catch((error: unknown) => {
                if (!isNotFound(error)) throw error
              })
        },
      },
    ],
  }
}

async function ownMigrations({ reader }: ReadContext, since: number): Promise<readonly Migration[]> {
  const { ledger } = await readMigrations(reader)
  const second = Math.floor(since / seconds) * seconds
  return ledger.open.filter(
    ({ by, cancelled, createdAt = '' }) => by === 'kvup' && !cancelled && Date.parse(createdAt) >= second,
  )
}
