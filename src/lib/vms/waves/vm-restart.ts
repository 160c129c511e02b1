import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import type { ReadContext, StepContext } from '../../engine/step.ts'
import { ApiError } from '../../kube/errors.ts'
import type { Candidate } from './waves.ts'
import { placeOfVm, refusesThisVm } from '../vm.ts'
import type { Reader } from '../../kube/cluster.ts'
import { condition } from '../../kube/object.ts'
import { outdatedLabel } from '../../kubevirt/snapshot.ts'
import type { Entry } from '../../engine/journal.ts'
import { type HopFinding, blocker } from '../../releases/hop-findings.ts'
import { known } from '../../kube/known.ts'
import {
  type BoundVolume,
  Neighbours,
  placeFor,
  refusalsText,
  type Sharing,
  sharingOf,
  startDemandOf,
} from '../forecast/launcher-placement.ts'
import type { NodeTerm } from '../../kube/selectors.ts'
import { type Places, readPlaces } from '../forecast/cluster-room.ts'
import {
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
} from '../../kube/kinds/core-kinds.ts'

/** VMs under virt-api's own API. */
export const restartable = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }

/** `not-needed`: it is not to be restarted now, or not any more. `refused`: the server's answer to this VM. */
export type Begun = { is: 'begun' } | { is: 'not-needed'; why: string } | { is: 'refused'; why: string }

/** Why this VMI is not to be restarted now; undefined: it is. */
export type Against = (vmi: VirtualMachineInstance) => Promise<string | undefined>

/**
 * Asks virt-api to restart a VM, after a look at the instance that is to go. "Already underway" is waiting for that instance to go (night W3).
 * Throws ApiError for what is no answer about this VM.
 */
export async function askRestart(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  { vm, uid }: Candidate,
  against: Against,
): Promise<Begun> {
  const place = placeOfVm(vm)
  const found = await reader.get(VirtualMachineInstances, place)
  if (found.is !== 'object' || found.object.metadata.uid !== uid)
    return { is: 'not-needed', why: 'the old VMI is gone' }
  if (found.object.metadata.deletionTimestamp !== undefined)
    return { is: 'not-needed', why: 'it is already stopping' }
  const why = await against(found.object)
  if (why !== undefined) return { is: 'not-needed', why }
  try {
    await writer.subresource(restartable, place, { name: 'restart', method: 'PUT', body: {} })
    return { is: 'begun' }
  } catch (error) {
    return answerOf(error)
  }
}

function answerOf(error: unknown): Begun {
  if (!(error instanceof ApiError)) throw error
  const conflict = error.status === 409
  if (conflict && /already underway/iu.test(error.message)) return { is: 'begun' }
  if (conflict || refusesThisVm(error)) return { is: 'refused', why: error.message }
  throw error
}

/** A restart that was asked for: the journal remembers the instance that it was asked of (night W3). */
export interface Restart {
  vm: string
  /** Of the VMI that is to go. */
  uid: string
  /** The guest agent was connected: it has to be so again. */
  agent: boolean
  /** ms since the epoch. */
  at: number
  /** The server has taken it; otherwise a run was cut off just then. */
  taken: boolean
}

/** Where a restarted VM stands; `wellAt` in ms since the epoch. */
export type RestartState =
  | { is: 'back'; wellAt: number }
  | { is: 'under-way' }
  | { is: 'missing' }
  | { is: 'not-begun' }

/** Behind a colon stands why it was refused. */
const form =
  /^restart (?<vm>\S+\/\S+), whose (?:instance|VMI) is (?<uid>[^\s:]+)(?<agent> with its agent)?(?:$|: )/u

/** The intent of a restart, for the journal and for `restartsIn`. */
export function restartText({ vm, uid }: Pick<Candidate, 'vm' | 'uid'>, agent: boolean): string {
  return `restart ${vm}, whose VMI is ${uid}${agent ? ' with its agent' : ''}`
}

/** The last restart of each VM that the journal tells of, since a time in ms; one that was refused is none (night W3). Pure. */
export function restartsIn(entries: readonly Entry[], since: number): readonly Restart[] {
  const last = new Map<string, Restart>()
  for (const { what, text, at } of entries) {
    const found = form.exec(text)?.groups
    const time = Date.parse(at)
    if (found === undefined || time < since) continue
    const { vm = '', uid = '', agent } = found
    if (what === 'failed') last.delete(vm)
    if (what !== 'intends' && what !== 'applied') continue
    last.set(vm, { vm, uid, agent: agent !== undefined, at: time, taken: what === 'applied' })
  }
  return [...last.values()]
}

/** Looks at its VMI now. `backWithin` in ms. Throws ApiError. */
export async function statusOf(
  reader: Reader,
  restart: Restart,
  { now, backWithin }: { now: number; backWithin: number },
): Promise<RestartState> {
  const found = await reader.get(VirtualMachineInstances, placeOfVm(restart.vm))
  const observed = found.is === 'object' ? restartState(found.object, restart) : undefined
  return observed ?? { is: now - restart.at > backWithin ? 'missing' : 'under-way' }
}

function restartState(vmi: VirtualMachineInstance, restart: Restart): RestartState | undefined {
  const { uid, deletionTimestamp } = vmi.metadata
  if (uid === restart.uid)
    return restart.taken || deletionTimestamp !== undefined ? undefined : { is: 'not-begun' }
  return isWell(vmi, restart) ? { is: 'back', wellAt: readySince(vmi) ?? restart.at } : undefined
}

/** Ready on the new launcher, with its agent where it had one before (night W3). */
function isWell(vmi: VirtualMachineInstance, { agent }: Restart): boolean {
  if (vmi.status?.phase !== 'Running' || condition(vmi, 'Ready')?.status !== 'True') return false
  return !Object.hasOwn(vmi.metadata.labels ?? {}, outdatedLabel) && (!agent || hasAgent(vmi))
}

function readySince(vmi: VirtualMachineInstance): number | undefined {
  return Date.parse(condition(vmi, 'Ready')?.lastTransitionTime ?? '') || undefined
}

const hasAgent = (vmi: VirtualMachineInstance): boolean => condition(vmi, 'AgentConnected')?.status === 'True'

/** Whether the guest agent of a VM is connected now. Throws ApiError. */
export async function readAgent(reader: Reader, vm: string): Promise<boolean> {
  const found = await reader.get(VirtualMachineInstances, placeOfVm(vm))
  return found.is === 'object' && hasAgent(found.object)
}

export type RestartWithState = Restart & { state: RestartState }

/** The restarts that kvup has asked for, and where each VM stands now. `began` and `backWithin` in ms. Throws ApiError. */
export async function readRestarts(
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
  { began, now, backWithin }: { began: number; now: number; backWithin: number },
): Promise<readonly RestartWithState[]> {
  const asked = restartsIn(await journal.entries(), began - backWithin)
  const withState = async (restart: Restart): Promise<RestartWithState> => {
    const state = await statusOf(reader, restart, { now, backWithin })
    return { ...restart, state }
  }
  return Promise.all(asked.map(withState))
}

/**
 * Restarts that lose what a guest wrote into its pod: accepted by name, never by --yes alone (night W2). `loses`: by VM, the volumes;
 * `otherwise`: the command that restarts none of these. Pure.
 */
export function dataLoss(
  loses: Iterable<readonly [vm: string, volumes: readonly string[]]>,
  otherwise: string,
): readonly HopFinding[] {
  const losing = [...loses].filter(([, volumes]) => volumes.length > 0)
  if (losing.length === 0) return []
  const who = losing.length === 1 ? '1 VM' : `${losing.length} VMs`
  return blocker({
    id: 'data-loss',
    summary: `a restart of ${who} loses the data on volumes in its pod`,
    objects: losing.slice(0, 20).map(([vm, volumes]) => `${vm} (${volumes.join(', ')})`),
    remedy: [otherwise],
  })
}

/** Where a VM could start again after its pod has ended: asked before each restart (night W2). What may not be read refuses nothing. */
export class ReturnRoom {
  readonly #sharing: Sharing
  readonly #places: Places | undefined
  readonly #neighbours: Neighbours
  readonly #volumes: LocalVolumes
  readonly #why: string | undefined

  constructor(reader: Reader, sharing: Sharing, places: { found?: Places; why?: string }) {
    this.#sharing = sharing
    this.#places = places.found
    this.#why = places.why
    this.#neighbours = new Neighbours(reader)
    this.#volumes = new LocalVolumes(reader)
  }

  /** Why no node would take it; undefined: one would, as far as that may be read. Throws ApiError but 403. */
  async refusal(vmi: VirtualMachineInstance): Promise<string | undefined> {
    const places = this.#places
    if (places === undefined) return undefined
    const demand = startDemandOf(vmi, this.#sharing, places)
    const asked = { ...demand, volumes: await this.#volumes.of(vmi) }
    const move = { from: vmi.status?.nodeName, again: true, uid: vmi.metadata.uid ?? '' }
    const found = await placeFor(asked, { places, neighbours: this.#neighbours }, move)
    return 'node' in found ? undefined : `no node can take it again: ${refusalsText(found.refusals)}`
  }

  /** What is not judged, and why. */
  get remarks(): readonly string[] {
    return [
      ...unjudged('whether a node takes the VM again', this.#why),
      ...unjudged('the room that is left on nodes', this.#places?.unread),
      ...unjudged('affinity to pods', this.#neighbours.unread),
      ...unjudged('on which nodes volumes can be used', this.#volumes.unread),
    ]
  }
}

const unjudged = (what: string, why: string | undefined): readonly string[] =>
  why === undefined ? [] : [`${what} is unknown: ${why}`]

/** Nodes are read now, pods and volumes where they are needed. Throws ApiError but 403 and 404. */
export async function readReturnRoom(reader: Reader, kubevirt: KubeVirt | undefined): Promise<ReturnRoom> {
  const read = await known(readPlaces(reader).then((places) => [places]))
  const [found] = read.known ? read.items : []
  const places = { ...(found && { found }), ...(!read.known && { why: read.why }) }
  return new ReturnRoom(reader, sharingOf(kubevirt), places)
}

/** Volumes that can be used on some nodes only, by what their PersistentVolume says; each is read once. */
class LocalVolumes {
  readonly #reader: Reader
  readonly #terms = new Map<string, Promise<readonly NodeTerm[]>>()
  #unread: string | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Why volumes are not judged; undefined where they could be. */
  get unread(): string | undefined {
    return this.#unread
  }

  /** Of a VMI; one that may be used anywhere is not in it. Throws ApiError but 403. */
  async of({ metadata, spec }: VirtualMachineInstance): Promise<readonly BoundVolume[]> {
    const bound: BoundVolume[] = []
    for (const volume of spec?.volumes ?? []) {
      const claim = claimOf(volume)
      if (claim === undefined || this.#unread !== undefined) continue
      const terms = await this.#termsOf(metadata.namespace ?? '', claim)
      if (terms.length > 0) bound.push({ claim, terms })
    }
    return bound
  }

  #termsOf(namespace: string, name: string): Promise<readonly NodeTerm[]> {
    const key = `${namespace}/${name}`
    const remembered = this.#terms.get(key) ?? this.#read(namespace, name)
    this.#terms.set(key, remembered)
    return remembered
  }

  async #read(namespace: string, name: string): Promise<readonly NodeTerm[]> {
    try {
      const claim = await this.#reader.get(PersistentVolumeClaims, { namespace, name })
      return claim.is === 'object' ? await this.#termsIn(claim.object) : []
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      this.#unread = error.message
      return []
    }
  }

  async #termsIn({ spec }: PersistentVolumeClaim): Promise<readonly NodeTerm[]> {
    if (spec?.volumeName === undefined) return []
    const volume = await this.#reader.get(PersistentVolumes, { name: spec.volumeName })
    if (volume.is !== 'object') return []
    return volume.object.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
  }
}

/** A DataVolume fills a claim of its own name. */
function claimOf(volume: Record<string, unknown>): string | undefined {
  const { persistentVolumeClaim, dataVolume } = volume as {
    persistentVolumeClaim?: { claimName?: string }
    dataVolume?: { name?: string }
  }
  return persistentVolumeClaim?.claimName ?? dataVolume?.name
}
