import { updaterAnnotation } from '../migrations/migration.ts'
import { PersistentVolumeClaims } from '../../kube/kinds/core-kinds.ts'
import { createHash } from 'node:crypto'
import type { Reader } from '../../kube/cluster.ts'
import { condition, type Kind, type KubeObject, keyOf } from '../../kube/object.ts'
import {
  type DataJob,
  DataVolumes,
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
export interface VmMark {
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
  vms: ReadonlyMap<string, VmMark>
  /** Read only where an instance is of one. */
  sets: ReadonlyMap<string, SetMark>
  restartRequired: ReadonlySet<string>
  /** By `claim namespace/name` and `DataVolume namespace/name`. */
  volumes: ReadonlyMap<string, Mark>
  /** By a mark of the uid; without those of KubeVirt's workload updater, which it repeats by itself. */
  migrations: ReadonlyMap<string, { vmi: string; phase: string }>
  unread: readonly string[]
}

/** Reads VMIs, VMs, DataVolumes and claims page by page and keeps only the marks. */
export async function takeCensus(reader: Reader): Promise<Census> {
  const instances = new Map<string, InstanceMark>()
  const vms = new Map<string, VmMark>()
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
    fold(VirtualMachineInstances, (vmi) => instances.set(keyOf(vmi), instanceMark(vmi))),
    fold(VirtualMachines, (vm) => {
      vms.set(keyOf(vm), vmMark(vm))
      if (condition(vm, 'RestartRequired')?.status === 'True') restartRequired.add(keyOf(vm))
    }),
    fold(VirtualMachineInstanceMigrations, ({ metadata, spec, status }) => {
      if (metadata.annotations?.[updaterAnnotation] !== undefined) return
      const vmi = `${metadata.namespace}/${spec?.vmiName}`
      migrations.set(shortMark(metadata.uid ?? ''), { vmi, phase: status?.phase ?? '' })
    }),
    fold(PersistentVolumeClaims, (claim) => volumes.set(`claim ${keyOf(claim)}`, volumeMark(claim))),
    fold(DataVolumes, (volume) => volumes.set(`DataVolume ${keyOf(volume)}`, volumeMark(volume))),
  ])
  if ([...instances.values()].some(({ set }) => set !== undefined))
    await fold(InstanceReplicaSets, (set) => sets.set(keyOf(set), generationMark(set)))
  return { instances, vms, sets, restartRequired, volumes, migrations, unread }
}

/** Which of these volumes a VM of today still asks for: the VM `namespace/name` by the volume. Reads all VMs once. */
async function wantedBy(reader: Reader, volumes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (volumes.size === 0) return found
  for await (const page of reader.pages(VirtualMachines))
    for (const vm of page.items)
      for (const volume of volumesOf(vm)) if (volumes.has(volume)) found.set(volume, keyOf(vm))
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

const volumeMark = ({ metadata, status }: Pick<DataJob, 'metadata' | 'status'>): Mark => ({
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

function vmMark(vm: VirtualMachine): VmMark {
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

/** What became of a VM, or of a volume, since a run began, and whether an owner is seen to have done it. */
export interface Change {
  kind: 'VirtualMachine' | 'VirtualMachineInstance' | 'PersistentVolumeClaim' | 'DataVolume'
  namespace: string
  name: string
  what: 'deleted' | 'replaced' | 'restarted' | 'stopped' | 'failed' | 'shut-down' | 'gone'
  /** No owner is seen to have done it: exit code 9. */
  lost: boolean
  /** The evidence, in words: `its spec was changed (generation 3, now 5)`. */
  why: string
}

/** What was seen beside the two censuses. */
export interface CensusCircumstances {
  /** Uids of VMs whose stop or restart was asked for while somebody watched. */
  asked: ReadonlySet<string>
  /** Uids of instances that were seen to end as Succeeded: their guests shut down. */
  shutDown: ReadonlySet<string>
  /** Whom KubeVirt may evict, as was accepted by name; or whom a drain of their node ends, where nodes are drained. */
  evicted: 'nobody' | 'not-migratable' | 'drained' | 'everybody'
}

/** Of time, in ms since 1970. */
export interface Span {
  from: number
  to: number
}

interface Between extends CensusCircumstances {
  before: Census
  after: Census
  /** Times in which an upgrade stood between two steps: nobody saw who asked for a restart then, and no component rolled. */
  between?: readonly Span[]
}

/** A verdict without the object that it is about. */
type Judged = Pick<Change, 'what' | 'lost' | 'why'>

const lost = (what: Change['what'], why: string): Judged => ({ what, lost: true, why })
const owners = (what: Change['what'], why: string): Judged => ({ what, lost: false, why })

/**
 * What became of the VMs that ran, and of the volumes that were there. Lost is what no owner is seen to have done: the VM is there, its spec is
 * as it was and nobody asked, and its instance is gone, failed or another one. A live migration keeps the instance's uid; a reboot
 * inside a guest is not seen. Reads the VMs once more where a volume is gone, to see who still asks for it.
 */
export async function changesBetween(reader: Reader, between: Between): Promise<readonly Change[]> {
  const { before } = between
  const vms = [...before.instances].flatMap(([name, was]) => {
    const judged = judgeInstance(name, was, between)
    if (judged === undefined) return []
    const kind = before.vms.has(name) ? 'VirtualMachine' : 'VirtualMachineInstance'
    return [{ kind, ...placeOf(name), ...judged } as const]
  })
  return [...vms, ...stoppedOnes(between), ...(await volumeChanges(reader, between))]
}

/** VMs that did not run: all that can become of them is that they go. */
function stoppedOnes({ before, after }: Between): readonly Change[] {
  if (after.unread.includes('virtualmachines')) return []
  return [...before.vms].flatMap(([name, { uid }]): Change[] => {
    const now = after.vms.get(name)
    if (before.instances.has(name) || now?.uid === uid) return []
    const judged = now ? owners('replaced', replaced) : owners('deleted', 'the VM was deleted')
    return [{ kind: 'VirtualMachine', ...placeOf(name), ...judged }]
  })
}

const replaced = 'the VM was deleted and created again'

function judgeInstance(name: string, was: InstanceMark, between: Between): Judged | undefined {
  const { before, after } = between
  // Of what could not be read now nothing is known: the report says which kinds those are.
  if (after.unread.includes('virtualmachineinstances')) return undefined
  const is = after.instances.get(name)
  const vm = before.vms.get(name)
  if (is?.uid === was.uid) return samePlace(was, is, ownersDoing(name, vm, between))
  if ([...before.unread, ...after.unread].includes('virtualmachines'))
    return owners(is ? 'restarted' : 'stopped', 'kvup may not read VMs: someone may have requested it')
  if (vm === undefined) return withoutVm(name, was, between)
  return goneFrom(name, was, { vm, between })
}

/** The instance is the one that it was. */
function samePlace(was: InstanceMark, is: InstanceMark, why: string | undefined): Judged | undefined {
  if (is.phase === was.phase || was.phase !== 'Running') return undefined
  if (is.phase === 'Succeeded') return owners('shut-down', 'its guest shut down')
  if (is.phase !== 'Failed') return undefined
  return why === undefined
    ? lost('failed', 'it ran, and kvup does not see who stopped it')
    : owners('failed', why)
}

/** The VM's instance is gone, or another one. */
function goneFrom(
  name: string,
  was: InstanceMark,
  { vm, between }: { vm: VmMark; between: Between },
): Judged {
  const { after } = between
  const now = after.vms.get(name)
  if (now === undefined) return owners('deleted', 'the VM was deleted')
  if (now.uid !== vm.uid) return owners('replaced', replaced)
  const what = after.instances.has(name) ? 'restarted' : 'stopped'
  const why = ownersDoing(name, vm, between)
  if (why !== undefined) return owners(what, why)
  const ended =
    endedOtherwise(was, between) ?? (isMadeBetween(after.instances.get(name), between) ? state : undefined)
  if (ended !== undefined) return owners(what, ended)
  if (what === 'stopped' && endsByItself.has(vm.runStrategy))
    return owners('shut-down', `its guest shut down (runStrategy ${vm.runStrategy})`)
  return lost(what, 'its spec is unchanged, and kvup does not see who requested it')
}

const state = 'between two steps of the upgrade, while no kvup was running'

/** What else may end an instance whose VM is as it was, in words. */
function endedOtherwise(was: InstanceMark, { evicted, shutDown }: Between): string | undefined {
  if (was.phase !== 'Running') return `it was not running before (${was.phase || 'no phase'})`
  if (evicted === 'everybody' || (evicted === 'not-migratable' && !was.migratable))
    return 'evicted, which was accepted'
  if (evicted === 'drained' && was.drains)
    return 'its node was drained, and its evictionStrategy is no migration'
  return shutDown.has(was.uid) ? 'its guest shut down' : undefined
}

function isMadeBetween(is: InstanceMark | undefined, { between = [] }: Between): boolean {
  // The API server notes whole seconds.
  const made = Date.parse(is?.made ?? '') + 999
  return between.some(({ from, to }) => made >= from && made < to)
}

/** KubeVirt starts these again after a failure and not after an orderly end, so one that stays away has ended in order. */
const endsByItself: ReadonlySet<string> = new Set(['RerunOnFailure', 'Once'])

/** What the owner of a VM is seen to have done, in words. */
function ownersDoing(name: string, vm: VmMark | undefined, { after, asked }: Between): string | undefined {
  const now = after.vms.get(name)
  if (vm === undefined || now === undefined) return undefined
  if (now.isBeingDeleted) return 'the VM is being deleted'
  if (!isSpecUnchanged(vm, now))
    return `its spec was changed (generation ${vm.generation}, now ${now.generation})`
  return now.isAsked || asked.has(vm.uid) ? 'its stop or restart was requested' : undefined
}

/** One generation further with the same spec but for the firmware is KubeVirt's own doing: since v1.5 it writes the guest's UUID down. */
function isSpecUnchanged(was: VmMark, is: VmMark): boolean {
  return is.generation === was.generation || (is.generation === was.generation + 1 && is.spec === was.spec)
}

/** Nobody but its owner, or the set that made it, deletes an instance that has no VM. */
function withoutVm(name: string, was: InstanceMark, { before, after }: Between): Judged {
  const what = after.instances.has(name) ? 'replaced' : 'deleted'
  if (was.set === undefined) return owners(what, 'a VMI without a VM was deleted')
  const set = before.sets.get(was.set)
  const now = after.sets.get(was.set)
  if (set === undefined || after.unread.includes('virtualmachineinstancereplicasets'))
    return owners(what, `whether ${was.set} was scaled in is unknown: kvup may not read it`)
  if (now?.uid !== set.uid) return owners(what, `the set ${was.set} that created it was deleted`)
  if (now.generation !== set.generation)
    return owners(what, `the set ${was.set} that created it was scaled or changed`)
  if (was.phase !== 'Running') return owners(what, `it was not running before (${was.phase || 'no phase'})`)
  return lost('gone', `the set ${was.set} that created it is unchanged`)
}

/**
 * A volume that is gone, another one, or Lost. Who deletes a claim or DataVolume cannot be told afterwards. A VM that was there before, has the
 * spec that it had and still asks for it is the evidence that nobody meant to: who wants a disk gone changes or deletes its VM.
 */
async function volumeChanges(reader: Reader, between: Between): Promise<readonly Change[]> {
  const { before, after } = between
  const suspects = new Map(
    [...before.volumes].flatMap(([name, was]) => {
      const what = volumeChange(was, after.volumes.get(name))
      return what === undefined || !isRead(name, after) ? [] : [[name, what] as const]
    }),
  )
  const users = await stillWanted(reader, suspects)
  return [...suspects].flatMap(([name, what]): Change[] => {
    if (isGarbageOf(name, suspects, after)) return []
    const user = users.get(name)
    const isUnchanged = user !== undefined && isVmUnchanged(user, between)
    const [word = '', path = ''] = name.split(' ')
    const kind = word === 'claim' ? 'PersistentVolumeClaim' : 'DataVolume'
    const why = isUnchanged
      ? `VM ${user} uses it, and its spec is unchanged`
      : user === undefined
        ? 'no VM uses it'
        : `VM ${user} was changed or created meanwhile`
    return [{ kind, ...placeOf(path), what, lost: isUnchanged, why }]
  })
}

function volumeChange(was: Mark, is: Mark | undefined): Change['what'] | undefined {
  if (is === undefined) return 'gone'
  if (is.uid !== was.uid) return 'replaced'
  return is.phase === 'Lost' && was.phase !== 'Lost' ? 'failed' : undefined
}

const isRead = (name: string, { unread }: Census): boolean =>
  !unread.includes(name.startsWith('claim ') ? 'persistentvolumeclaims' : 'datavolumes')

/** CDI deletes a DataVolume some time after it was filled; its claim, of the same name, is the disk. */
function isGarbageOf(name: string, suspects: ReadonlyMap<string, string>, { volumes }: Census): boolean {
  const claim = name.replace('DataVolume ', 'claim ')
  return name.startsWith('DataVolume ') && volumes.has(claim) && !suspects.has(claim)
}

const isVmUnchanged = (name: string, { before, after }: Between): boolean => {
  const [was, is] = [before.vms.get(name), after.vms.get(name)]
  return was !== undefined && is !== undefined && was.uid === is.uid && isSpecUnchanged(was, is)
}

/** Where the VMs may not be read, nobody is known to want it. */
async function stillWanted(
  reader: Reader,
  suspects: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  try {
    return await wantedBy(reader, new Set(suspects.keys()))
  } catch (error) {
    if (error instanceof ApiError) return new Map()
    throw error
  }
}

function placeOf(path: string): { namespace: string; name: string } {
  const slash = path.indexOf('/')
  return { namespace: path.slice(0, slash), name: path.slice(slash + 1) }
}
