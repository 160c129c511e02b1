import {
  type MigrationLedger,
  type ObservedMoves,
  triedAgainAt,
  type Unread,
} from '../migrations/migration-ledger.ts'
import { type Candidate, candidateOf } from './waves.ts'
import type { FailedVm, Traffic } from './pacing.ts'
import { vmOf } from '../migrations/migration.ts'
import type { Against, Restart, RestartState } from './vm-restart.ts'
import type { Reader } from '../../kube/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../kube/kinds/kubevirt-kinds.ts'
import { isNotFound } from '../../kube/errors.ts'
import { isOfVm, lostData, type Vm, type Vms, outdatedIn, runStrategyOf, vmName } from '../vm.ts'
import { pagesAllowed } from '../../kube/readable-pages.ts'
import { outlookOf } from '../vm-outlook.ts'
import type { OutlookRules } from '../workload-updater.ts'
import type { UpdateWanted } from './update-run.ts'

/** Everything that is decided by, read from the cluster at one time. Times in ms since the epoch. */
export interface UpdateSnapshot {
  now: number
  /** Outdated still. */
  fleet: Fleet
  ledger: MigrationLedger
  moves: ObservedMoves
  restarts: readonly (Restart & { state: RestartState })[]
  /** Of VMs that are kept apart from others: since when they are well after their migration. */
  wellAt: ReadonlyMap<string, number>
}

/** What is under way, and when who may be next. `known`: every VM that was seen since the update began. Pure. */
export function trafficOf(
  { ledger, moves, restarts, fleet, wellAt }: UpdateSnapshot,
  known: ReadonlyMap<string, Candidate>,
  earlier: number,
): Traffic {
  const open = ledger.open.map(vmOf)
  const restarting = restarts.filter(({ state }) => state.is === 'under-way').map(({ vm }) => vm)
  const moving = new Set([...open, ...restarting])
  const fromNode = new Map<string, number>()
  for (const migration of ledger.open) {
    const node = known.get(vmOf(migration))?.node ?? migration.from
    if (node !== undefined) fromNode.set(node, (fromNode.get(node) ?? 0) + 1)
  }
  const notBefore = new Map<string, number>()
  for (const vm of fleet.candidates.keys()) {
    const at = triedAgainAt(ledger.pastOf(vm).failures)
    if (at > 0) notBefore.set(vm, at)
  }
  return {
    moving,
    fromNode,
    notBefore,
    apart: apartOf({ moves, restarts, wellAt }, { known, moving, earlier }),
  }
}

/** What a run before this one moved is not known by its value: until the soak is over it may be any (night W4). */
function apartOf(
  { moves, restarts, wellAt }: Pick<UpdateSnapshot, 'moves' | 'restarts' | 'wellAt'>,
  {
    known,
    moving,
    earlier,
  }: { known: ReadonlyMap<string, Candidate>; moving: ReadonlySet<string>; earlier: number },
): ReadonlyMap<string, number> {
  const back = new Map(
    restarts.flatMap(({ vm, state }) => (state.is === 'back' ? [[vm, state.wellAt] as const] : [])),
  )
  const apart = new Map<string, number>()
  for (const { vm, apart: value } of known.values()) {
    if (value === undefined) continue
    const since = moving.has(vm)
      ? Infinity
      : Math.max(wellAt.get(vm) ?? moves.succeeded.get(vm) ?? 0, back.get(vm) ?? 0, earlier)
    apart.set(value, Math.max(apart.get(value) ?? 0, since))
  }
  return apart
}

/** VMs whose tries are over. Pure. */
export function failedIn({ fleet, ledger, moves }: UpdateSnapshot, retries: number): FailedVm[] {
  return [...fleet.candidates.keys()].flatMap((vm) => {
    const failures = moves.failures(ledger, vm)
    if (failures.length <= retries) return []
    return [{ vm, reason: failures[0]?.failureReason ?? 'KubeVirt does not say why' }]
  })
}

/** For how long nothing of ours that is under way has got any further, in ms; undefined: nothing is. Pure. */
export function stillFor(
  { ledger, restarts, now }: UpdateSnapshot,
  known: ReadonlyMap<string, Candidate>,
): number | undefined {
  const migrating = ledger.open
    .filter((migration) => known.has(vmOf(migration)))
    .map(({ since = '', createdAt = '' }) => Date.parse(since) || Date.parse(createdAt) || now)
  const times = [
    ...migrating,
    ...restarts.filter(({ state }) => state.is === 'under-way').map(({ at }) => at),
  ]
  return times.length === 0 ? undefined : now - Math.max(...times)
}

/** An outdated VM that stays where it is, and why. */
interface LeftVm {
  vm: string
  why: string
  /** Commands that help. */
  remedy: readonly string[]
}

/** The outdated VMs that were asked for. */
export interface Fleet {
  candidates: ReadonlyMap<string, Candidate>
  left: ReadonlyMap<string, LeftVm>
  /** Of those that would be restarted: VMs that lose what is on these volumes (night W2). */
  loses: ReadonlyMap<string, readonly string[]>
  /** What may not be read: which VMs are outdated there is not known. */
  unread: readonly Unread[]
}

/** What decides whether a VM can be moved now. */
export interface FleetRules extends OutlookRules {
  /** VMs whose disks are being copied or frozen, and by what: not now (night C5). */
  busy: ReadonlyMap<string, string>
  /** Why a VM would not come back from a restart (night W2). */
  stranded: Against
}

/** Lists them page by page; of each less than 200 bytes stay. Throws ApiError, a refusal where nothing of it may be read. */
export async function readFleet(
  reader: Reader,
  wanted: UpdateWanted,
  rules: FleetRules,
  machines: Vms,
): Promise<Fleet> {
  const sorted = new Sorted(wanted, rules)
  try {
    for await (const page of pagesAllowed(reader, VirtualMachineInstances, outdatedIn(wanted.selection)))
      if ('unread' in page) sorted.unread.push(refusedIn(page.unread, page.why.message))
      else await sorted.addAll(page.items, machines)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  for (const [place, why] of machines.unread)
    sorted.unread.push({ namespace: place, what: 'virtualmachines', why })
  return sorted
}

const refusedIn = (namespace: string, why: string): Unread => ({
  namespace,
  what: VirtualMachineInstances.plural,
  why,
})

class Sorted implements Fleet {
  readonly candidates = new Map<string, Candidate>()
  readonly left = new Map<string, LeftVm>()
  readonly loses = new Map<string, readonly string[]>()
  readonly unread: Unread[] = []
  readonly #wanted: UpdateWanted
  readonly #rules: FleetRules

  constructor(wanted: UpdateWanted, rules: FleetRules) {
    this.#wanted = wanted
    this.#rules = rules
  }

  async addAll(vmis: readonly VirtualMachineInstance[], machines: Vms): Promise<void> {
    const asked = vmis.filter((vmi) => isOfVm(vmi) && !this.#migrates(vmi))
    const vms = await machines.behind(
      asked.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })),
    )
    for (const vmi of vmis) {
      const unread = isOfVm(vmi) ? machines.unread.get(vmi.metadata.namespace ?? '') : undefined
      await this.#add(vmi, { vm: vms.get(vmName(vmi)), unread })
    }
  }

  #migrates(vmi: VirtualMachineInstance): boolean {
    return outlookOf(vmi, undefined, this.#rules).outcome === 'migrates'
  }

  async #add(vmi: VirtualMachineInstance, { vm, unread }: Behind): Promise<void> {
    const name = vmName(vmi)
    const { outcome, why, remedy } = outlookOf(vmi, vm, this.#rules)
    const [first = { id: 'unknown', text: 'it cannot be migrated' }] = why
    const busy = this.#busyWith(vmi)
    if (busy !== undefined) this.#leave(name, `${busy}: it is moved once that is over`, [])
    else if (outcome === 'migrates' && first.id !== 'volumes-move') this.#take(vmi, 'migration')
    else if (notNow.has(first.id)) this.#leave(name, first.text, remedy)
    else if (unread !== undefined)
      this.#leave(name, `${first.text}; its VM may not be read: ${unread}`, remedy)
    else await this.#restart(vmi, vm, { why: first.text, remedy })
  }

  #busyWith(vmi: VirtualMachineInstance): string | undefined {
    const frozen = vmi.status?.fsFreezeStatus === 'frozen'
    return this.#rules.busy.get(vmName(vmi)) ?? (frozen ? 'its file systems are frozen' : undefined)
  }

  async #restart(
    vmi: VirtualMachineInstance,
    vm: Vm | undefined,
    { why, remedy }: Omit<LeftVm, 'vm'>,
  ): Promise<void> {
    const name = vmName(vmi)
    const refused = vm === undefined ? 'no VM is behind it, so that it would be lost' : whyNoRestart(vm)
    if (refused !== undefined) return this.#leave(name, `${why}; ${refused}`, remedy)
    if (!this.#wanted.restart) return this.#leave(name, why, remedy)
    const stranded = await this.#rules.stranded(vmi)
    if (stranded !== undefined) return this.#leave(name, `${why}; ${stranded}`, seeNodes)
    this.#take(vmi, 'restart', vm)
    const lost = lostData(vmi)
    if (lost.length > 0) this.loses.set(name, lost)
  }

  #take(vmi: VirtualMachineInstance, by: Candidate['by'], vm?: Vm): void {
    const candidate = candidateOf(vmi, by, this.#wanted)
    const onlyOnce = vm !== undefined && runStrategyOf(vm) !== 'Always'
    this.candidates.set(candidate.vm, { ...candidate, ...(onlyOnce && { onlyOnce }) })
  }

  #leave(vm: string, why: string, remedy: readonly string[]): void {
    this.left.set(vm, { vm, why, remedy })
  }
}

/** The VM behind a VMI, or why it may not be read. */
interface Behind {
  vm: Vm | undefined
  unread: string | undefined
}

const seeNodes = ['kubectl get nodes -L kubevirt.io/schedulable']

/** Neither a migration nor a restart is to be begun. */
const notNow: ReadonlySet<string> = new Set(['not-running', 'current', 'volumes-move', 'external'])

/** KV:pkg/virt-api/rest, RestartVMRequestHandler: these are answered with 409 (night W3). */
function whyNoRestart(vm: Vm): string | undefined {
  const strategy = runStrategyOf(vm)
  return strategy === 'Halted' || strategy === 'Once'
    ? `runStrategy ${strategy} allows no restart`
    : undefined
}
