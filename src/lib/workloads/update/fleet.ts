import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { isOfVm, type Machine, runStrategyOf } from '../outdated/behind.ts'
import { lostData } from '../outdated/lost-data.ts'
import type { Machines } from '../outdated/machines.ts'
import type { Unread } from '../migrations/ledger.ts'
import { pagesAllowed } from '../outdated/pages-allowed.ts'
import { outlookOf } from '../outdated/outlook.ts'
import type { OutlookRules } from '../outdated/rules.ts'
import { outdatedIn } from '../outdated/selection.ts'
import type { Candidate } from '../waves/candidate.ts'
import type { Against } from '../restarts/ask-restart.ts'
import { vmName } from '../vm-name.ts'
import { candidateOf } from '../waves/candidate-of.ts'
import type { UpdateWanted } from './wanted.ts'

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
  machines: Machines,
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

  async addAll(vmis: readonly VirtualMachineInstance[], machines: Machines): Promise<void> {
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
    return outlookOf(vmi, undefined, this.#rules).fate === 'migrates'
  }

  async #add(vmi: VirtualMachineInstance, { vm, unread }: Behind): Promise<void> {
    const name = vmName(vmi)
    const { fate, why, remedy } = outlookOf(vmi, vm, this.#rules)
    const [first = { id: 'unknown', text: 'it cannot be migrated' }] = why
    const busy = this.#busyWith(vmi)
    if (busy !== undefined) this.#leave(name, `${busy}: it is moved once that is over`, [])
    else if (fate === 'migrates' && first.id !== 'volumes-move') this.#take(vmi, 'migration')
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
    vm: Machine | undefined,
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

  #take(vmi: VirtualMachineInstance, by: Candidate['by'], vm?: Machine): void {
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
  vm: Machine | undefined
  unread: string | undefined
}

const seeNodes = ['kubectl get nodes -L kubevirt.io/schedulable']

/** Neither a migration nor a restart is to be begun. */
const notNow: ReadonlySet<string> = new Set(['not-running', 'current', 'volumes-move', 'external'])

/** KV:pkg/virt-api/rest, RestartVMRequestHandler: these are answered with 409 (night W3). */
function whyNoRestart(vm: Machine): string | undefined {
  const strategy = runStrategyOf(vm)
  return strategy === 'Halted' || strategy === 'Once'
    ? `runStrategy ${strategy} allows no restart`
    : undefined
}
