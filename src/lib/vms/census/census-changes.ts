import type { Reader } from '../../kube/cluster.ts'
import { ApiError } from '../../kube/errors.ts'
import { type Census, type InstanceMark, type MachineMark, type Mark, wantedBy } from './vm-census.ts'

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
export interface Seen {
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

interface Between extends Seen {
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
  const machines = [...before.instances].flatMap(([name, was]) => {
    const judged = judgeInstance(name, was, between)
    if (judged === undefined) return []
    const kind = before.machines.has(name) ? 'VirtualMachine' : 'VirtualMachineInstance'
    return [{ kind, ...placeOf(name), ...judged } as const]
  })
  return [...machines, ...stoppedOnes(between), ...(await volumeChanges(reader, between))]
}

/** VMs that did not run: all that can become of them is that they go. */
function stoppedOnes({ before, after }: Between): readonly Change[] {
  if (after.unread.includes('virtualmachines')) return []
  return [...before.machines].flatMap(([name, { uid }]): Change[] => {
    const now = after.machines.get(name)
    if (before.instances.has(name) || now?.uid === uid) return []
    const judged = now ? owners('replaced', replaced) : owners('deleted', 'the VM was deleted')
    return [{ kind: 'VirtualMachine', ...placeOf(name), ...judged }]
  })
}

const replaced = 'the VM was deleted and made again'

function judgeInstance(name: string, was: InstanceMark, between: Between): Judged | undefined {
  const { before, after } = between
  // Of what could not be read now nothing is known: the report says which kinds those are.
  if (after.unread.includes('virtualmachineinstances')) return undefined
  const is = after.instances.get(name)
  const vm = before.machines.get(name)
  if (is?.uid === was.uid) return samePlace(was, is, ownersDoing(name, vm, between))
  if ([...before.unread, ...after.unread].includes('virtualmachines'))
    return owners(
      is ? 'restarted' : 'stopped',
      'whether somebody asked for it is not known: VMs may not be read',
    )
  if (vm === undefined) return withoutMachine(name, was, between)
  return goneFrom(name, was, { vm, between })
}

/** The instance is the one that it was. */
function samePlace(was: InstanceMark, is: InstanceMark, why: string | undefined): Judged | undefined {
  if (is.phase === was.phase || was.phase !== 'Running') return undefined
  if (is.phase === 'Succeeded') return owners('shut-down', 'its guest shut down')
  if (is.phase !== 'Failed') return undefined
  return why === undefined
    ? lost('failed', 'it ran, and nobody is seen to have ended it')
    : owners('failed', why)
}

/** The VM's instance is gone, or another one. */
function goneFrom(
  name: string,
  was: InstanceMark,
  { vm, between }: { vm: MachineMark; between: Between },
): Judged {
  const { after } = between
  const now = after.machines.get(name)
  if (now === undefined) return owners('deleted', 'the VM was deleted')
  if (now.uid !== vm.uid) return owners('replaced', replaced)
  const what = after.instances.has(name) ? 'restarted' : 'stopped'
  const why = ownersDoing(name, vm, between)
  if (why !== undefined) return owners(what, why)
  const ended =
    endedOtherwise(was, between) ?? (isMadeBetween(after.instances.get(name), between) ? standing : undefined)
  if (ended !== undefined) return owners(what, ended)
  if (what === 'stopped' && endsByItself.has(vm.runStrategy))
    return owners('shut-down', `its guest shut down (runStrategy ${vm.runStrategy})`)
  return lost(what, 'its spec is unchanged, and nobody is seen to have asked for it')
}

const standing = 'while the upgrade stood between two steps and no kvup ran'

/** What else may end an instance whose VM is as it was, in words. */
function endedOtherwise(was: InstanceMark, { evicted, shutDown }: Between): string | undefined {
  if (was.phase !== 'Running') return `it did not run before (${was.phase || 'no phase'})`
  if (evicted === 'everybody' || (evicted === 'not-migratable' && !was.migratable))
    return 'evicted, as was accepted'
  if (evicted === 'drained' && was.drains) return 'its node was drained, and it asks for no migration'
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
function ownersDoing(
  name: string,
  vm: MachineMark | undefined,
  { after, asked }: Between,
): string | undefined {
  const now = after.machines.get(name)
  if (vm === undefined || now === undefined) return undefined
  if (now.isBeingDeleted) return 'the VM is being deleted'
  if (!isSpecUnchanged(vm, now))
    return `its spec was changed (generation ${vm.generation}, now ${now.generation})`
  return now.isAsked || asked.has(vm.uid) ? 'its stop or restart was asked for' : undefined
}

/** One generation further with the same spec but for the firmware is KubeVirt's own doing: since v1.5 it writes the guest's UUID down. */
function isSpecUnchanged(was: MachineMark, is: MachineMark): boolean {
  return is.generation === was.generation || (is.generation === was.generation + 1 && is.spec === was.spec)
}

/** Nobody but its owner, or the set that made it, deletes an instance that has no VM. */
function withoutMachine(name: string, was: InstanceMark, { before, after }: Between): Judged {
  const what = after.instances.has(name) ? 'replaced' : 'deleted'
  if (was.set === undefined) return owners(what, 'an instance without a VM was deleted')
  const set = before.sets.get(was.set)
  const now = after.sets.get(was.set)
  if (set === undefined || after.unread.includes('virtualmachineinstancereplicasets'))
    return owners(what, `whether ${was.set} was scaled in is not known: it may not be read`)
  if (now?.uid !== set.uid) return owners(what, `the set ${was.set} that made it was deleted`)
  if (now.generation !== set.generation)
    return owners(what, `the set ${was.set} that made it was scaled or changed`)
  if (was.phase !== 'Running') return owners(what, `it did not run before (${was.phase || 'no phase'})`)
  return lost('gone', `the set ${was.set} that made it is unchanged`)
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
    const isUnchanged = user !== undefined && isMachineUnchanged(user, between)
    const [word = '', path = ''] = name.split(' ')
    const kind = word === 'claim' ? 'PersistentVolumeClaim' : 'DataVolume'
    const why = isUnchanged
      ? `VM ${user} asks for it, and its spec is unchanged`
      : user === undefined
        ? 'no VM asks for it'
        : `VM ${user} was changed or made meanwhile`
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

const isMachineUnchanged = (name: string, { before, after }: Between): boolean => {
  const [was, is] = [before.machines.get(name), after.machines.get(name)]
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
