import type { Reader } from '../../kube/cluster.ts'
import { type Condition, condition, type Kind, type KubeObject, keyOf } from '../../kube/object.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { type Clock, ticks } from '../../kube/clock.ts'
import { counted, shorten } from '../../kube/text.ts'
import type { Cause } from './pod-trouble.ts'
import { earliest, since } from '../../kube/timestamps.ts'
import { filled, itemsOf, type Known, known } from '../../kube/known.ts'
import { explainLaunchers, type LauncherTrouble } from './launcher-trouble.ts'
import {
  evacuationRemedy,
  leftBehindSentence,
  type MarkedVmi,
  openMigrations,
  type StuckMigration,
  stuckMigrations,
} from './stuck-migrations.ts'
import { Nodes } from '../../kube/kinds/core-kinds.ts'
import { knownOfVms } from './known-messages.ts'

/** VMs that should run and do not, and those that run and that KubeVirt cannot bring in line, by reason. */
export interface VmTroubles {
  /** VMs and VMIs without a VM that should run; of a large cluster not known. */
  shouldRun?: number
  /** How many of them have a trouble. */
  count: number
  /** The most frequent first; ten at most. */
  reasons: readonly VmReason[]
  /** Unfinished migrations that do not get on by themselves, ten at most; absent where there is none, and where migrations were not looked at. */
  stuck?: readonly StuckMigration[]
  /** Why it is not known which of the unfinished migrations do not get on; absent where it is, and where there is none. */
  stuckUnknown?: string
  /** Running VMs that are marked to leave a node that takes pods again, ten at most; absent where there is none. */
  leftBehind?: readonly LeftBehind[]
  /** What was left out of the look, in words. */
  partly?: string
}

/** The mark of a drain that is over: `status.evacuationNodeName` of a VMI. */
interface LeftBehind {
  namespace: string
  vm: string
  node: string
  sentence: string
  remedy: readonly string[]
}

export interface VmReason {
  /** KubeVirt's word: ErrorUnschedulable, Pending, CrashLoopBackOff. */
  status: string
  /** What KubeVirt or Kubernetes says, without the names of the VM; empty where nothing is said. */
  message: string
  count: number
  /** The first of them, `namespace/name`. */
  examples: readonly string[]
  /** The one that has had it for longest. RFC 3339. */
  since?: string
  /** Most VMs of the cluster, or of this node, have it, and not only those of one namespace among several. */
  mostOf?: 'cluster' | `node ${string}`
  /** What keeps the virt-launcher of the first example, by its pod and events. */
  cause?: string
  /** Commands that help, or show more. */
  remedy?: readonly string[]
  /** What is known of it in this release. */
  known?: string
}

/** A VMI on its way may take so long to start, ms. */
const startPatience = 5 * 60_000
/** A reason that most VMs have counts once one has had it for so long, ms: they all come up together behind an outage. */
const massPatience = 30_000
/** Fewer are no mass, but one tenant's mistake. */
const massFrom = 3
const reasonsAtMost = 10
const examplesAtMost = 5
/** Objects are megabytes by the thousand: of a cluster with more VMs or VMIs than this only what is not placed yet is read. */
const wholeAtMost = 1000
const firstPage = 250

interface Trouble {
  status: string
  message: string
  name: string
  since?: string | undefined
  node?: string | undefined
  /** Of the VMI, where there is one. */
  uid?: string | undefined
  /** It runs all the same. */
  runs?: true
}

/** What becomes of one VM: undefined where nobody wants it to run. */
type Judged = { is: 'runs' } | { is: 'starting' } | { is: 'troubled'; trouble: Trouble } | undefined

/** All that one look saw. */
export interface VmsSnapshot {
  troubles: VmTroubles
  /** `namespace/name` of those that run; of a large cluster none. */
  running: ReadonlySet<string>
  /** Of those that should run and do not, on their way or not. */
  idle: ReadonlySet<string>
  /** uids of VMIs that do not run, by `namespace/name`. */
  waiting: ReadonlyMap<string, string>
  /** VMIs that are marked to leave their node; of a large cluster none. */
  marked: readonly MarkedVmi[]
}

/**
 * One look at VMs and VMIs. Of a large cluster VMIs that no node has taken yet, by their label: what keeps them is what keeps VMs from starting, and
 * the rest is said to be left out. Throws ApiError.
 */
export async function seeVms(reader: Reader, at: Date): Promise<VmsSnapshot> {
  const [vms, vmis] = await Promise.all([
    allOf(reader, VirtualMachines),
    allOf(reader, VirtualMachineInstances),
  ])
  return vms && vmis ? judgeAll(vms, vmis, at) : judgeUnplaced(reader, at)
}

/** Undefined where there are too many. */
async function allOf<T extends KubeObject>(reader: Reader, kind: Kind<T>): Promise<T[] | undefined> {
  const all: T[] = []
  for await (const { items, remaining = 0 } of reader.pages(kind, { pageSize: firstPage })) {
    all.push(...items)
    if (all.length + remaining > wholeAtMost) return undefined
  }
  return all
}

/** KubeVirt sets it once a node has the VMI (facts 6). */
const unplaced = '!kubevirt.io/nodeName'

async function judgeUnplaced(reader: Reader, at: Date): Promise<VmsSnapshot> {
  const found: Trouble[] = []
  for await (const { items } of reader.pages(VirtualMachineInstances, { labels: unplaced }))
    for (const vmi of items) {
      const judged = judgeInstance(vmi, undefined, at)
      if (judged?.is === 'troubled') found.push(judged.trouble)
    }
  const partly = `there are more than ${wholeAtMost} VMs: kvup checked only VMIs without a node`
  const troubles = { ...groupedBy(found, {}), partly }
  return { troubles, running: new Set(), idle: new Set(), waiting: uidsOf(found), marked: [] }
}

const uidsOf = (found: readonly Trouble[]): ReadonlyMap<string, string> =>
  new Map(found.flatMap(({ name, uid }) => (uid === undefined ? [] : [[name, uid] as const])))

/** So many are told by name. */
const toldAtMost = 10
/** So many reasons are explained by a pod of theirs. */
const explainedAtMost = 3

/** `seeVms`, and what explains it. `version`: of KubeVirt. Throws ApiError. */
export const inspectVms = (reader: Reader, at: Date, version: string | undefined): Promise<VmsSnapshot> =>
  explainVms(reader, seeVms(reader, at), { at, version })

interface Explaining {
  at: Date
  /** Of KubeVirt. */
  version: string | undefined
}

/**
 * With what explains a look: the launcher pod of an example of the three most frequent reasons, unfinished migrations that do not get on, and marks of drains that are over. One list of
 * migrations; pods, events and nodes only where something is wrong. Throws ApiError, and what the look throws.
 */
export async function explainVms(
  reader: Reader,
  vmsSnapshot: VmsSnapshot | Promise<VmsSnapshot>,
  { at, version }: Explaining,
): Promise<VmsSnapshot> {
  const reading = openMigrations(reader).then((read) => [read])
  const [all, migrations] = await Promise.all([vmsSnapshot, known(reading)])
  const [{ open, unread } = { open: [], unread: undefined }] = itemsOf(migrations)
  const [reasons, stuck, leftBehind] = await Promise.all([
    explained(reader, all, { at, version }),
    known(stuckMigrations(reader, open, at)),
    leftBehindOf(reader, all.marked, version),
  ])
  const found = itemsOf(stuck)
  return {
    ...all,
    troubles: {
      ...all.troubles,
      reasons,
      ...(found.length > 0 && { stuck: found.slice(0, toldAtMost) }),
      ...filled({ stuckUnknown: stuck.known ? unread : stuck.why }),
      ...(leftBehind.length > 0 && { leftBehind: leftBehind.slice(0, toldAtMost) }),
    },
  }
}

async function explained(
  reader: Reader,
  { troubles: { reasons }, waiting }: VmsSnapshot,
  { at, version }: Explaining,
): Promise<readonly VmReason[]> {
  const examples = reasons.slice(0, explainedAtMost).flatMap(({ examples: [name = ''] }) => {
    const [namespace = '', vmi = ''] = name.split('/')
    const uid = waiting.get(name)
    return uid === undefined ? [] : [{ namespace, name: vmi, uid }]
  })
  if (examples.length === 0) return reasons
  const troubles = itemsOf(await known(explainLaunchers(reader, examples, at).then((found) => [...found])))
  const byName = new Map<string, LauncherTrouble>(troubles)
  return reasons.map((reason) => {
    const trouble = byName.get(reason.examples[0] ?? '')
    const isKnown = knownOfVms(reason, version)
    return {
      ...reason,
      ...(trouble && { cause: trouble.message, remedy: trouble.remedy }),
      ...(isKnown !== undefined && { known: isKnown }),
    }
  })
}

/** Nodes are asked for one by one, five at most: a cluster may have thousands. */
async function leftBehindOf(
  reader: Reader,
  marked: readonly MarkedVmi[],
  version: string | undefined,
): Promise<readonly LeftBehind[]> {
  const names = [...new Set(marked.map(({ node }) => node))].slice(0, 5)
  const nodes = await Promise.all(
    names.map(async (name) => known(reader.get(Nodes, { name }).then((found) => [found]))),
  )
  const open = new Set(
    nodes.flatMap((node) =>
      itemsOf(node).flatMap((found) =>
        found.is === 'object' && found.object.spec?.unschedulable !== true ? found.object.metadata.name : [],
      ),
    ),
  )
  return marked
    .filter(({ node }) => open.has(node))
    .map((one) => ({
      namespace: one.namespace,
      vm: one.name,
      node: one.node,
      sentence: leftBehindSentence(one.node),
      remedy: evacuationRemedy(one, version),
    }))
}

function judgeAll(
  vms: readonly VirtualMachine[],
  vmis: readonly VirtualMachineInstance[],
  at: Date,
): VmsSnapshot {
  const instances = new Map(vmis.map((vmi) => [keyOf(vmi), vmi]))
  const named = new Set(vms.map(keyOf))
  const judged = [
    ...vms.map((vm) => [keyOf(vm), judgeVm(vm, instances.get(keyOf(vm)), at)] as const),
    ...vmis
      .filter((vmi) => !named.has(keyOf(vmi)))
      .map((vmi) => [keyOf(vmi), judgeInstance(vmi, undefined, at)] as const),
  ]
  const wanted = judged.flatMap(([name, one]) => (one === undefined ? [] : [{ name, ...one }]))
  const found = wanted.flatMap((one) => (one.is === 'troubled' ? [one.trouble] : []))
  const namesOf = (fits: (one: (typeof wanted)[number]) => boolean) =>
    new Set(wanted.filter(fits).map(({ name }) => name))
  const namespaces = new Set(wanted.map(({ name }) => namespaceOf(name)))
  const nodes: Record<string, number> = {}
  for (const { status } of vmis)
    if (status?.nodeName !== undefined) nodes[status.nodeName] = (nodes[status.nodeName] ?? 0) + 1
  return {
    troubles: {
      shouldRun: wanted.length,
      ...groupedBy(found, { shouldRun: wanted.length, nodes, namespaces }),
    },
    running: namesOf((one) => one.is === 'runs'),
    idle: namesOf((one) => one.is === 'starting' || (one.is === 'troubled' && !one.trouble.runs)),
    waiting: uidsOf(found.filter(({ runs }) => !runs)),
    marked: vmis.flatMap(({ metadata: { namespace = '', name }, status }) =>
      status?.evacuationNodeName ? [{ namespace, name, node: status.evacuationNodeName }] : [],
    ),
  }
}

/** Somebody wants it to run: its strategy, or whoever started it; not one that was stopped, ends, or whose guest shut itself down. */
function judgeVm(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined, at: Date): Judged {
  const printable = vm.status?.printableStatus ?? ''
  const strategy = vm.spec?.runStrategy ?? (vm.spec?.running === true ? 'Always' : 'Halted')
  if (vm.metadata.deletionTimestamp !== undefined || isStopping(vm) || strategy === 'Halted') return undefined
  if (isError(printable)) return { is: 'troubled', trouble: troubleOf(printable, vm, vmi) }
  if (vmi !== undefined) return judgeInstance(vmi, vm, at)
  return strategy === 'Always' && !waits.has(printable) ? judgeWithout(vm, at) : undefined
}

/** It has no VMI, and should. */
function judgeWithout(vm: VirtualMachine, at: Date): Judged {
  const from = condition(vm, 'Ready')?.lastTransitionTime ?? vm.metadata.creationTimestamp
  const late = (since(from, at) ?? 0) >= startPatience
  if (condition(vm, 'Failure')?.status !== 'True' && !late) return { is: 'starting' }
  const trouble = troubleOf('Stopped', vm, undefined)
  const message = trouble.message || 'it should run, but has no VMI'
  return { is: 'troubled', trouble: { ...trouble, message } }
}

/** It is on its way: a disk is imported or bound, another cluster sends it. */
const waits: ReadonlySet<string> = new Set([
  'Provisioning',
  'WaitingForVolumeBinding',
  'WaitingForReceiver',
  'Stopping',
  'Terminating',
])

/** Whether a printable status is a failure (facts 6); a word that a later release adds is told by how it is made. */
const isError = (printable: string): boolean =>
  /^Err|Error$|BackOff$|Unschedulable$|NotFound$/u.test(printable)

function isStopping({ status }: VirtualMachine): boolean {
  const { stateChangeRequests } = { ...status } as { stateChangeRequests?: { action?: string }[] | null }
  return stateChangeRequests?.[0]?.action === 'Stop'
}

function judgeInstance(vmi: VirtualMachineInstance, vm: VirtualMachine | undefined, at: Date): Judged {
  const phase = vmi.status?.phase ?? 'Pending'
  if (vmi.metadata.deletionTimestamp !== undefined || phase === 'Succeeded') return undefined
  if (phase === 'Failed') return { is: 'troubled', trouble: troubleOf(phase, vm, vmi) }
  const outOfSync = condition(vmi, 'Synchronized')?.status === 'False'
  if (phase === 'Running')
    return outOfSync
      ? { is: 'troubled', trouble: { ...troubleOf('Running, not synchronized', vm, vmi), runs: true } }
      : { is: 'runs' }
  const late = (since(idleSince(vmi), at) ?? 0) >= startPatience
  return outOfSync || late ? { is: 'troubled', trouble: troubleOf(phase, vm, vmi) } : { is: 'starting' }
}

/** Since when it does not run: when it ceased to be ready, or came to its phase. It may be older than that, and an older condition may not say since when. */
function idleSince(vmi: VirtualMachineInstance): string | undefined {
  const { phase, phaseTransitionTimestamps = [] } = vmi.status ?? {}
  const reached = phaseTransitionTimestamps.findLast((one) => one.phase === phase)
  return notReadySince(vmi) ?? reached?.phaseTransitionTimestamp ?? vmi.metadata.creationTimestamp
}

function notReadySince(object: VirtualMachine | VirtualMachineInstance): string | undefined {
  const ready = condition(object, 'Ready')
  return ready?.status === 'False' ? ready.lastTransitionTime : undefined
}

/** Since when there is the trouble, where what says it does not tell: of one that runs, that is not known then. */
function troubledSince(
  vm: VirtualMachine | undefined,
  vmi: VirtualMachineInstance | undefined,
): string | undefined {
  if (vmi?.status?.phase === 'Running') return notReadySince(vmi)
  if (vmi) return idleSince(vmi)
  return vm && (notReadySince(vm) ?? vm.metadata.creationTimestamp)
}

/** What is said, by whom is nearest to the cause. */
function troubleOf(
  status: string,
  vm: VirtualMachine | undefined,
  vmi: VirtualMachineInstance | undefined,
): Trouble {
  const metadata = (vmi ?? vm)?.metadata ?? { name: '' }
  const said = words(vm, vmi).find((one) => one && textOf(one) !== '')
  return {
    status,
    message: withoutNames(said ? textOf(said) : '', metadata),
    name: keyOf({ metadata }),
    since: said?.lastTransitionTime ?? troubledSince(vm, vmi),
    node: vmi?.status?.nodeName,
    uid: vmi?.metadata.uid,
  }
}

const words = (vm: VirtualMachine | undefined, vmi: VirtualMachineInstance | undefined) => [
  vmi && saidOf(vmi, 'Synchronized'),
  vmi && saidOf(vmi, 'PodScheduled'),
  vm && saidOf(vm, 'Failure', 'True'),
  vmi && saidOf(vmi, 'Ready'),
  vm && saidOf(vm, 'Ready'),
]

const textOf = ({ message, reason = '' }: Condition): string => message || reason

function saidOf(
  object: VirtualMachine | VirtualMachineInstance,
  type: string,
  when = 'False',
): Condition | undefined {
  const found = condition(object, type)
  return found?.status === when ? found : undefined
}

/** So that one reason reads the same of all VMs: on one line, without what is of this VM alone. Whoever makes a VM writes into it: it is cut. */
function withoutNames(message: string, { name, namespace }: KubeObject['metadata']): string {
  const line = shorten(message.replaceAll(/\s+/gu, ' ').trim())
  const pods = line
    .replaceAll(/virt-launcher-[a-z0-9.-]+/gu, 'its virt-launcher')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gu, 'UID')
  let text = pods
  for (const word of [name, namespace ?? '']) if (word.length > 2) text = text.replaceAll(word, '…')
  return text
}

const namespaceOf = (name: string): string => name.split('/')[0] ?? ''

/** What a group of troubles is compared with. */
interface AllVms {
  shouldRun?: number
  /** VMIs by node. */
  nodes?: Readonly<Record<string, number>>
  /** Of VMs that should run. */
  namespaces?: ReadonlySet<string>
}

function groupedBy(found: readonly Trouble[], all: AllVms): Pick<VmTroubles, 'count' | 'reasons'> {
  const byReason = reasonsOf(found, all)
  const reasons = byReason.some(({ mostOf: where }) => where === 'cluster')
    ? byReason
    : (asOneReason(found, all) ?? byReason)
  reasons.sort((a, b) => b.count - a.count || (a.status < b.status ? -1 : 1))
  return { count: found.length, reasons: reasons.slice(0, reasonsAtMost) }
}

function reasonsOf(found: readonly Trouble[], all: AllVms): VmReason[] {
  const groups = Map.groupBy(found, ({ status, message }) => JSON.stringify([status, message]))
  return [...groups.values()].map((group) => reasonOf(group, all))
}

const ofTheirOwn = 'reasons differ; the first:'

/** Where most VMs of the cluster do not run and each says something of its own, as where each names its own lost disk. */
function asOneReason(found: readonly Trouble[], all: AllVms): VmReason[] | undefined {
  const [idle, running] = [found.filter(({ runs }) => !runs), found.filter(({ runs }) => runs)]
  if (mostOf(idle, all) !== 'cluster') return undefined
  const [{ message } = { message: '' }] = idle
  const statuses = [...new Set(idle.map(({ status }) => status))]
  const one = {
    ...reasonOf(idle, all),
    status: statuses.slice(0, 3).join(' or '),
    message: `${ofTheirOwn} ${message}`,
  }
  return [one, ...reasonsOf(running, all)]
}

function reasonOf(group: readonly Trouble[], all: AllVms): VmReason {
  const [{ status, message } = { status: '', message: '' }] = group
  const from = earliest(group.map((one) => one.since))
  const most = mostOf(group, all)
  return {
    status,
    message,
    count: group.length,
    examples: group.slice(0, examplesAtMost).map(({ name }) => name),
    ...(from !== undefined && { since: from }),
    ...(most !== undefined && { mostOf: most }),
  }
}

function mostOf(
  group: readonly Trouble[],
  { shouldRun, nodes = {}, namespaces }: AllVms,
): VmReason['mostOf'] {
  if (group.length < massFrom) return undefined
  // Of one tenant among several it is that tenant's mistake, however many they are.
  const owners = new Set(group.map(({ name }) => namespaceOf(name)))
  if (owners.size === 1 && (namespaces?.size ?? 1) > 1) return undefined
  if (shouldRun !== undefined && group.length * 2 > shouldRun) return 'cluster'
  for (const [node, here] of Map.groupBy(group, (one) => one.node ?? ''))
    if (node !== '' && here.length >= massFrom && here.length * 2 > (nodes[node] ?? Infinity))
      return `node ${node}`
  return undefined
}

/** Those that most VMs have: what KubeVirt is for does not work. The rest is somebody's VM, and changes no verdict. */
export function vmCauses({ reasons, shouldRun }: VmTroubles, at: Date): readonly Cause[] {
  return reasons.flatMap((reason) => {
    const { mostOf: where, since: from } = reason
    if (where === undefined || (since(from, at) ?? massPatience) < massPatience) return []
    return [massCause(reason, where, shouldRun)]
  })
}

function massCause(
  reason: VmReason,
  where: NonNullable<VmReason['mostOf']>,
  shouldRun: number | undefined,
): Cause {
  const { status, count, examples, since: from, cause, remedy = [], known: isKnown } = reason
  const message = cause ?? reason.message
  const [first = ''] = examples
  const [namespace = '', name = ''] = first.split('/')
  const of = where === 'cluster' ? `${count} of ${shouldRun} VMs` : `${count} VMs, most on ${where},`
  const shared = message.startsWith(ofTheirOwn) ? '' : ', for one reason'
  const says = `${of} that should run are not running${shared}: ${status}${message === '' ? '' : `: ${message}`}`
  const named = `${examples.join(', ')}${count > examples.length ? ' …' : ''}`
  return {
    kind: 'vms',
    component: 'VMs',
    reason: status,
    terminal: true,
    namespace,
    pods: [],
    nodes: where === 'cluster' ? [] : [where.slice('node '.length)],
    ...(message !== '' && { message }),
    ...(from !== undefined && { since: from }),
    sentence: `${says} (${named})${isKnown === undefined ? '' : `; ${isKnown}`}`,
    commands: [
      ...remedy,
      `kubectl -n ${namespace} describe vm ${name}`,
      `kubectl -n ${namespace} describe vmi ${name}`,
    ],
  }
}

/** What is said of VMs beside a verdict over KubeVirt, in a few words: `3 VMs are not running as they should`. Nothing where nothing is wrong. */
export function vmProblems({
  count,
  stuck = [],
  leftBehind = [],
}: Partial<VmTroubles> = {}): readonly string[] {
  const idle = count === 1 ? 'is not running as it should' : 'are not running as they should'
  return [
    ...(count ? [`${counted(count, 'VM')} ${idle}`] : []),
    ...(stuck.length > 0 ? [`${counted(stuck.length, 'migration')} stuck`] : []),
    ...(leftBehind.length > 0 ? [`${counted(leftBehind.length, 'VM')} still marked to leave a node`] : []),
  ]
}

/** Looks at VMs at most every 15 s, however often what else changes is told. */
export class VmSnapshot {
  #at = -Infinity
  #last: Promise<Known<VmsSnapshot>> | undefined

  /** What may not be read is unknown. Throws any other ApiError. */
  async now(reader: Reader, clock: Clock, version: string | undefined): Promise<Known<VmsSnapshot>> {
    const now = ticks(clock)
    if (this.#last === undefined || now - this.#at >= readEvery) {
      this.#at = now
      this.#last = known(inspectVms(reader, clock.now(), version).then((vmsSnapshot) => [vmsSnapshot]))
    }
    return this.#last
  }
}

const readEvery = 15_000
