import { type Kind, type KubeObject, type OwnerReference, parseLabels } from '../kube/object.ts'
import type { Reader, Where } from '../kube/cluster.ts'
import { outdatedLabel, outdatedOnes, type ReadCluster } from '../kubevirt/snapshot.ts'
import {
  type KubeVirt,
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../kube/kinds/kubevirt-kinds.ts'
import { whyUnknown } from '../kube/known.ts'
import { ApiError, blocked, exitCode, isNotFound, type KvupError, usageError } from '../kube/errors.ts'
import { Namespaces, Nodes } from '../kube/kinds/core-kinds.ts'
import { shellWord } from '../kube/shell-line.ts'
import { NotSavedError } from '../kube/saved/saved-cluster.ts'

/** Where a VM or its VMI is. */
interface VmPlace {
  namespace: string
  name: string
}

/** `namespace/name`: what a VM and its VMI are called in maps, messages and the journal. */
export const vmName = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`

export const vmNameOf = ({ namespace, name }: VmPlace): string => `${namespace}/${name}`

/** The way back from `vmName`. */
export function placeOfVm(vm: string): VmPlace {
  const slash = vm.indexOf('/')
  return { namespace: vm.slice(0, slash), name: vm.slice(slash + 1) }
}

export interface Selection {
  namespace?: string | undefined
  /** A label selector, besides the one of outdated VMIs. */
  labels?: string | undefined
  node?: string | undefined
}

/** Its outdated VMIs, narrowed by the server. */
export function outdatedIn({ namespace, labels, node }: Selection): Where {
  const selector = [
    outdatedLabel,
    ...(labels ? [labels] : []),
    ...(node ? [`kubevirt.io/nodeName=${node}`] : []),
  ]
  return { ...outdatedOnes, namespace, labels: selector.join() }
}

/** What has to be known of the VM behind a VMI. */
export type Vm = Pick<VirtualMachine, 'spec'>

/** `running: true` counts as Always (night W1), and neither as Halted. */
export function runStrategyOf({ spec }: Vm): string {
  return spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted')
}

/** A VirtualMachine, a replica set or a pool; undefined: a bare VMI. */
export function controllerOf({ metadata }: VirtualMachineInstance): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/** Where the VM behind it is: a VMI has the name of its VM. */
export function placeBehind(vmi: VirtualMachineInstance): VmPlace {
  const { name, namespace = '' } = vmi.metadata
  return { name: controllerOf(vmi)?.name ?? name, namespace }
}

export const isOfVm = (vmi: VirtualMachineInstance): boolean => controllerOf(vmi)?.kind === 'VirtualMachine'

type Place = { name: string; namespace: string }

/** More of one namespace are listed, fewer are read one by one. */
const oneByOne = 10
/** Namespaces that are asked for at the same time. */
const atOnce = 8

/** The VMs behind VMIs, of which only the runStrategy is kept: read when they are asked for, and once. */
export class Vms {
  readonly #reader: Reader
  /** By `namespace/name`: those that were read one by one. */
  readonly #found = new Map<string, string>()
  readonly #listed = new Map<string, ReadonlyMap<string, string>>()
  readonly #unread = new Map<string, string>()

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Namespaces whose VMs may not be read, and why. */
  get unread(): ReadonlyMap<string, string> {
    return this.#unread
  }

  /** By `namespace/name`; what is not in it does not exist, or its namespace is in `unread`. Throws ApiError but 403 and 404. */
  async behind(places: readonly Place[]): Promise<ReadonlyMap<string, Vm>> {
    const found = new Map<string, Vm>()
    const left = [...byNamespace(places)]
    const worker = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [namespace, names] = next
        for (const [name, runStrategy] of await this.#of(namespace, names))
          found.set(`${namespace}/${name}`, { spec: { runStrategy } })
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return found
  }

  async #of(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const known = this.#listed.get(namespace)
    if (known || this.#unread.has(namespace)) return known ?? new Map()
    try {
      if (names.length <= oneByOne) return await this.#each(namespace, names)
      const listed = await this.#all(namespace)
      this.#listed.set(namespace, listed)
      return listed
    } catch (error) {
      if (isNotFound(error)) return new Map()
      const why = whyUnknown(error)
      if (why === undefined) throw error
      this.#unread.set(namespace, why)
      return new Map()
    }
  }

  async #each(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const strategies = await Promise.all(
      names.map(async (name) => [name, await this.#one({ name, namespace })] as const),
    )
    return new Map(
      strategies.flatMap(([name, strategy]) => (strategy === undefined ? [] : [[name, strategy]])),
    )
  }

  async #one(place: Place): Promise<string | undefined> {
    const key = `${place.namespace}/${place.name}`
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const found = await this.#reader.get(VirtualMachines, place)
    if (found.is !== 'object') return undefined
    const strategy = runStrategyOf(found.object)
    this.#found.set(key, strategy)
    return strategy
  }

  async #all(namespace: string): Promise<ReadonlyMap<string, string>> {
    const strategies = new Map<string, string>()
    for await (const { items } of this.#reader.pages(VirtualMachines, { namespace }))
      for (const vm of items) strategies.set(vm.metadata.name, runStrategyOf(vm))
    return strategies
  }
}

function byNamespace(places: readonly Place[]): ReadonlyMap<string, string[]> {
  const grouped = new Map<string, string[]>()
  for (const { name, namespace } of places) {
    const names = grouped.get(namespace) ?? []
    grouped.set(namespace, names)
    names.push(name)
  }
  return grouped
}

/** Volumes that live in the launcher's pod: what the guest wrote to them goes with it (night W2). */
const inThePod = ['containerDisk', 'ephemeral', 'emptyDisk'] as const

/** `containerDisk root`: what a VMI loses when its pod ends. A migration takes all of it along. */
export function lostData({ spec }: VirtualMachineInstance): readonly string[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    const source = inThePod.find((kind) => volume[kind] !== undefined)
    return source === undefined ? [] : [`${source} ${String(volume['name'])}`]
  })
}

/** What a restart by hand is typed as, and what it does; without `lost` nobody has looked at its volumes. */
export function restartLine({ namespace, name }: VmPlace, lost?: readonly string[]): string {
  const what = lost === undefined ? 'data on container and ephemeral disks' : lost.join(', ')
  const loses = what === '' ? '' : `; ${what} ${lost !== undefined && lost.length > 1 ? 'are' : 'is'} lost`
  return `virtctl restart ${shellWord(name)} -n ${shellWord(namespace)}     restarts the guest${loses}`
}

/** `configuration.evictionStrategy`: what holds for VMIs that were created without one of their own (facts 1.3). */
export function clusterEvictionOf({ spec }: KubeVirt): string | undefined {
  const strategy = spec?.configuration?.['evictionStrategy']
  return typeof strategy === 'string' ? strategy : undefined
}

/** A quota's, a policy's or a webhook's no, and a VM that is gone: of this VM, and no reason to end. No right to do it at all is none of these. */
export function refusesThisVm({ status, message }: ApiError): boolean {
  if (status === 404 || status === 422) return true
  return /admission webhook|denied (?:the )?request|exceeded quota|is being terminated/iu.test(message)
}

/** Which VMs were asked for. */
export interface SelectedVms {
  namespace?: string
  labels?: string
  node?: string
}

interface Typed {
  allNamespaces?: boolean
  selector?: string
  node?: string
}

const nodeName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u

/** The namespace of `-n`, undefined for all of them. */
export const namespaceOf = (
  namespace: string | undefined,
  { allNamespaces }: Pick<Typed, 'allNamespaces'> = {},
): string | undefined => (allNamespaces ? undefined : namespace)

/** Throws `usage` for a selector that no server would take and for a name that no node could have. `-A` wins over `-n`, as for kubectl. */
export function selectionOf(typed: Typed, namespace: string | undefined): SelectedVms {
  const { selector, node } = typed
  const within = namespaceOf(namespace, typed)
  if (selector?.trim() === '')
    throw usageError('label-selector', '-l is blank: it would select all VMs', {
      remedy: 'leave -l out for all VMs, or name labels: -l app=db',
    })
  parseLabels(selector, (why) =>
    usageError('label-selector', why, { remedy: '-l app=db,tier!=test selects by two labels' }),
  )
  if (node !== undefined && !nodeName.test(node))
    throw usageError('node-name', `${JSON.stringify(node)} cannot be the name of a node`, {
      remedy: 'kubectl get nodes -o name',
    })
  return {
    ...(within !== undefined && { namespace: within }),
    ...(selector && { labels: selector }),
    ...(node !== undefined && { node }),
  }
}

/**
 * Where nothing was found: remarks that there is no such namespace or node, so that a name that was mistyped does not look like success.
 * Silent where that may not be read; of a saved cluster namespaces are not known.
 */
async function noSuchPlace(
  snapshot: Pick<ReadCluster, 'cluster'> & { saved?: boolean },
  { namespace, node }: Pick<Selection, 'namespace' | 'node'>,
): Promise<readonly string[]> {
  const remarks = await Promise.all([
    snapshot.saved ? [] : missing(snapshot, { kind: Namespaces, word: 'namespace', name: namespace }),
    missing(snapshot, { kind: Nodes, word: 'node', name: node }),
  ])
  return remarks.flat()
}

/** Throws `usage` for a namespace or node that is not there: what does not concern VMs alone would answer as if `-n` had been right. Silent where that may not be read. */
export async function ensurePlace(
  snapshot: Pick<ReadCluster, 'cluster'> & { saved?: boolean },
  place: Pick<Selection, 'namespace' | 'node'>,
): Promise<void> {
  const [remark] = await noSuchPlace(snapshot, place)
  if (remark !== undefined) throw noPlace(remark)
}

const noPlace = (remark: string): KvupError =>
  usageError('no-such-place', remark, {
    remedy: `kubectl get ${remark.includes('no node') ? 'nodes' : 'namespaces'}     lists them`,
  })

/** Where nothing was found of what was asked for. */
interface NotThere {
  remarks: readonly string[]
  /** What it ends with; absent where all that was named is there. */
  failure?: KvupError
}

/**
 * Where nothing was found: which namespace, node or labels are not there. A script that asks by `--exit-code` (`isScript`) must not be green for a name that was
 * mistyped, so that labels are looked for as well: 2 for a place, 3 for labels that no VM has. A program that reads the answer (`output`) sees no remark: a place that is not there is an
 * error to it without `--exit-code` too, and never a count of 0.
 */
export async function notThere(
  snapshot: Pick<ReadCluster, 'cluster'> & { saved?: boolean },
  selection: Selection,
  { isScript, running, output = 'table' }: { isScript: boolean; running: boolean; output?: string },
): Promise<NotThere> {
  const places = await noSuchPlace(snapshot, selection)
  const [remark] = places
  const isRead = !['table', 'wide'].includes(output)
  if (remark !== undefined)
    return isScript || isRead ? { remarks: [], failure: noPlace(remark) } : { remarks: places }
  const kind = running ? VirtualMachineInstances : VirtualMachines
  if (!isScript || !(await selectsNothing(snapshot.cluster, selection, new Set(), kind)))
    return { remarks: [] }
  const within = selection.namespace === undefined ? '-A' : `-n ${shellWord(selection.namespace)}`
  return {
    remarks: [],
    failure: blocked(
      'no-such-labels',
      `no ${running ? 'running VM' : 'VM'} has the labels ${selection.labels ?? ''}`,
      {
        remedy: `kubectl get ${running ? 'vmi' : 'vm'} ${within} --show-labels     lists those that there are`,
      },
    ),
  }
}

/** Before VMs are changed, where none was found: throws `usage` for a place that is not there; that no VM has the labels is a remark, as kubectl says that it found nothing. */
export async function remarkNothingFound(
  cluster: Pick<ReadCluster, 'cluster'>,
  selection: Selection,
  { running, warn }: { running: boolean; warn: (line: string) => void },
): Promise<void> {
  const { failure } = await notThere(cluster, selection, { isScript: true, running })
  if (failure?.exitCode === exitCode.usage) throw failure
  if (failure) warn(failure.message)
}

/** Whether no running VM at all but those that are left out has the labels that were asked for: a selector that was mistyped looks like success. */
export async function selectsNothing(
  { reader }: { reader: Reader },
  { namespace, labels }: Pick<Selection, 'namespace' | 'labels'>,
  without: ReadonlySet<string> = new Set(),
  kind: Kind = VirtualMachineInstances,
): Promise<boolean> {
  if (labels === undefined) return false
  const where = { labels, ...(namespace !== undefined && { namespace }) }
  for await (const { items } of reader.pages(kind, where))
    if (items.some((one) => !without.has(vmName(one)))) return false
  return true
}

async function missing(
  { cluster: { reader } }: Pick<ReadCluster, 'cluster'>,
  { kind, word, name }: { kind: Kind; word: string; name: string | undefined },
): Promise<readonly string[]> {
  if (name === undefined) return []
  try {
    const { is } = await reader.get(kind, { name })
    return is === 'object' ? [] : [`there is no ${word} ${name}`]
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof NotSavedError)) throw error
    return []
  }
}
