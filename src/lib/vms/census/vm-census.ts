import { createHash } from 'node:crypto'
import type { Reader } from '../../kube/cluster.ts'
import { condition, type Kind, type KubeObject } from '../../kube/object.ts'
import {
  InstanceReplicaSets,
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../kube/errors.ts'

/** What has to be the same after an upgrade (night U6). */
export interface Mark {
  uid: string
  phase: string
}

/** A VirtualMachineInstance. */
export interface InstanceMark extends Mark {
  ready: boolean
  /** LiveMigratable is True: KubeVirt moves it and never evicts it, where it may do both. */
  migratable: boolean
  /** The drain of its node ends it: nothing in it asks to be migrated instead. */
  drains: boolean
  /** RFC 3339, when it was created; not kept, for only that of the end is asked for. */
  made?: string
  /** The VirtualMachineInstanceReplicaSet, `namespace/name`, that made it. */
  set?: string
}

/** What its owner decides of a VirtualMachine. */
export interface MachineMark {
  uid: string
  /** Moves with the spec alone. */
  generation: number
  /** Of the spec without what KubeVirt itself writes into it: the firmware's UUID, since v1.5. */
  spec: string
  /** `Always` where `running: true` says it in the old way. */
  runStrategy: string
  isBeingDeleted?: true
  /** A stop or restart that was asked for and is not carried out yet. */
  isAsked?: true
}

/** A VirtualMachineInstanceReplicaSet; its generation moves when somebody scales it. */
export interface SetMark {
  uid: string
  generation: number
}

/** By `namespace/name`. Known parts only: a kind that could not be read is named in `unread`, and nothing is claimed of it. */
export interface Census {
  instances: ReadonlyMap<string, InstanceMark>
  machines: ReadonlyMap<string, MachineMark>
  /** Read only where an instance is of one. */
  sets: ReadonlyMap<string, SetMark>
  restartRequired: ReadonlySet<string>
  /** By `claim namespace/name` and `DataVolume namespace/name`. */
  volumes: ReadonlyMap<string, Mark>
  /** By a mark of the uid; without those of KubeVirt's workload updater, which it repeats by itself. */
  migrations: ReadonlyMap<string, { vmi: string; phase: string }>
  unread: readonly string[]
}

interface Claim extends KubeObject {
  status?: { phase?: string }
}

const PersistentVolumeClaims: Kind<Claim> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}
const DataVolumes: Kind<Claim> = {
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  plural: 'datavolumes',
  namespaced: true,
}

/** On the migrations that KubeVirt's workload updater makes (facts 3.3). */
const updaterAnnotation = 'kubevirt.io/workloadUpdateMigration'

/** Reads VMIs, VMs, DataVolumes and claims page by page and keeps only the marks. */
export async function takeCensus(reader: Reader): Promise<Census> {
  const instances = new Map<string, InstanceMark>()
  const machines = new Map<string, MachineMark>()
  const sets = new Map<string, SetMark>()
  const restartRequired = new Set<string>()
  const volumes = new Map<string, Mark>()
  const migrations = new Map<string, { vmi: string; phase: string }>()
  const unread: string[] = []
  const fold = async <T extends KubeObject>(kind: Kind<T>, keep: (object: T) => void) => {
    try {
      for await (const page of reader.pages(kind)) for (const object of page.items) keep(object)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status !== 404) unread.push(kind.plural)
    }
  }
  await Promise.all([
    fold(VirtualMachineInstances, (vmi) => instances.set(nameOf(vmi), instanceMark(vmi))),
    fold(VirtualMachines, (vm) => {
      machines.set(nameOf(vm), machineMark(vm))
      if (condition(vm, 'RestartRequired')?.status === 'True') restartRequired.add(nameOf(vm))
    }),
    fold(VirtualMachineInstanceMigrations, ({ metadata, spec, status }) => {
      if (metadata.annotations?.[updaterAnnotation] !== undefined) return
      const vmi = `${metadata.namespace}/${spec?.vmiName}`
      migrations.set(shortMark(metadata.uid ?? ''), { vmi, phase: status?.phase ?? '' })
    }),
    fold(PersistentVolumeClaims, (claim) => volumes.set(`claim ${nameOf(claim)}`, volumeMark(claim))),
    fold(DataVolumes, (volume) => volumes.set(`DataVolume ${nameOf(volume)}`, volumeMark(volume))),
  ])
  if ([...instances.values()].some(({ set }) => set !== undefined))
    await fold(InstanceReplicaSets, (set) => sets.set(nameOf(set), generationMark(set)))
  return { instances, machines, sets, restartRequired, volumes, migrations, unread }
}

/** Which of these volumes a VM of today still asks for: the VM `namespace/name` by the volume. Reads all VMs once. */
export async function wantedBy(
  reader: Reader,
  volumes: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (volumes.size === 0) return found
  for await (const page of reader.pages(VirtualMachines))
    for (const vm of page.items)
      for (const volume of volumesOf(vm)) if (volumes.has(volume)) found.set(volume, nameOf(vm))
  return found
}

/** CDI makes a claim of a DataVolume's name, and may take the DataVolume away when it is filled: both are asked for. */
function* volumesOf({ metadata: { namespace }, spec }: VirtualMachine): Generator<string> {
  for (const volume of spec?.template?.spec?.volumes ?? []) {
    const claim = textAt(volume['persistentVolumeClaim'], 'claimName')
    const data = textAt(volume['dataVolume'], 'name')
    if (claim !== undefined) yield `claim ${namespace}/${claim}`
    if (data === undefined) continue
    yield `claim ${namespace}/${data}`
    yield `DataVolume ${namespace}/${data}`
  }
}

function textAt(of: unknown, key: string): string | undefined {
  const value: unknown = typeof of === 'object' && of !== null ? Reflect.get(of, key) : undefined
  return typeof value === 'string' ? value : undefined
}

const nameOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`

const volumeMark = ({ metadata, status }: Claim): Mark => ({
  uid: metadata.uid ?? '',
  phase: status?.phase ?? '',
})

/** Strategies under which an eviction is refused until the instance has moved (facts 1.3). */
const blocksDrains: ReadonlySet<string> = new Set(['LiveMigrate', 'External'])

function instanceMark(vmi: VirtualMachineInstance): InstanceMark {
  const owner = vmi.metadata.ownerReferences?.find(({ controller }) => controller === true)
  const set = owner?.kind === InstanceReplicaSets.kind ? `${vmi.metadata.namespace}/${owner.name}` : undefined
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  const strategy = vmi.spec?.evictionStrategy ?? 'None'
  return {
    uid: vmi.metadata.uid ?? '',
    phase: vmi.status?.phase ?? '',
    ready: condition(vmi, 'Ready')?.status === 'True',
    migratable,
    drains: strategy === 'LiveMigrateIfPossible' ? !migratable : !blocksDrains.has(strategy),
    ...(vmi.metadata.creationTimestamp !== undefined && { made: vmi.metadata.creationTimestamp }),
    ...(set !== undefined && { set }),
  }
}

function machineMark(vm: VirtualMachine): MachineMark {
  const { metadata, spec } = vm
  return {
    ...generationMark(vm),
    spec: shortMark(JSON.stringify(spec, withoutFirmware) ?? ''),
    runStrategy: spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted'),
    ...(metadata.deletionTimestamp !== undefined && { isBeingDeleted: true }),
    ...(isAsked(vm) && { isAsked: true }),
  }
}

/** Somebody asked for its stop or restart, and virt-controller has not carried it out yet. */
export function isAsked({ status }: VirtualMachine): boolean {
  return (status?.stateChangeRequests ?? []).some(({ action }) => action === 'Stop')
}

const generationMark = ({ metadata }: KubeObject): SetMark => ({
  uid: metadata.uid ?? '',
  generation: metadata.generation ?? 0,
})

const withoutFirmware = (key: string, value: unknown): unknown => (key === 'firmware' ? undefined : value)

/** 48 bits: enough to say that it is another one. */
const shortMark = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8)

/** Names, `namespace/name`. Empty lists are good news. */
export interface Differences {
  vanished: string[]
  failed: string[]
  restarted: string[]
  notReady: string[]
  restartRequired: string[]
  volumes: string[]
  /** VMIs whose migration began meanwhile and failed (night U1). */
  failedMigrations: string[]
}

/** What an upgrade must not have changed. Pure. */
export function compareCensus(before: Census, after: Census): Differences {
  const found: Differences = {
    vanished: [],
    failed: [],
    restarted: [],
    notReady: [],
    restartRequired: [],
    volumes: [],
    failedMigrations: [],
  }
  for (const name of before.instances.keys()) {
    const list = instanceDifference(before, after, name)
    if (list) found[list].push(name)
  }
  found.restartRequired.push(
    ...[...after.restartRequired].filter((name) => !before.restartRequired.has(name)),
  )
  found.volumes.push(...[...before.volumes.keys()].flatMap((name) => volumeDifference(before, after, name)))
  found.failedMigrations.push(...failedSince(before, after))
  return found
}

/** Migrations that began between the two, and how many of them failed (night U1). */
export function newMigrations(before: Census, after: Census): { began: number; failed: number } {
  const began = begunSince(before, after)
  return { began: began.length, failed: began.filter(({ phase }) => phase === 'Failed').length }
}

function failedSince(before: Census, after: Census): string[] {
  const failed = begunSince(before, after).filter(({ phase }) => phase === 'Failed')
  return [...new Set(failed.map(({ vmi }) => vmi))]
}

function begunSince(before: Census, after: Census): { vmi: string; phase: string }[] {
  return [...after.migrations].flatMap(([uid, migration]) => (before.migrations.has(uid) ? [] : [migration]))
}

function instanceDifference(before: Census, after: Census, name: string): keyof Differences | undefined {
  const was = before.instances.get(name)
  const is = after.instances.get(name)
  if (!is) return 'vanished'
  if (is.phase === 'Failed' && was?.phase !== 'Failed') return 'failed'
  if (is.uid !== was?.uid) return 'restarted'
  return was.ready && !is.ready ? 'notReady' : undefined
}

function volumeDifference(before: Census, after: Census, name: string): string[] {
  const was = before.volumes.get(name)
  const is = after.volumes.get(name)
  if (!is) return [`${name} vanished`]
  if (is.uid !== was?.uid) return [`${name} was created again`]
  return is.phase === was.phase
    ? []
    : [`${name}: ${was.phase || 'no phase'} before, ${is.phase || 'no phase'} now`]
}
