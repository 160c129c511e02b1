import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import { isNotFound } from '../../system/errors.ts'
import { isOfVm, type Machine, runStrategyOf } from '../outdated/behind.ts'
import { lostData } from '../outdated/lost-data.ts'
import { Machines } from '../outdated/machines.ts'
import { outlookOf } from '../outdated/outlook.ts'
import type { OutlookRules } from '../outdated/rules.ts'
import type { Candidate } from '../waves/candidate.ts'
import { candidateOf } from './candidate-of.ts'
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
}

/** What decides whether a VM can be moved now. */
export interface FleetRules extends OutlookRules {
  /** VMs whose disks are being copied or frozen, and by what: not now (night C5). */
  busy: ReadonlyMap<string, string>
}

/** Lists them page by page; of each less than 200 bytes stay. Throws ApiError. */
export async function readFleet(reader: Reader, wanted: UpdateWanted, rules: FleetRules): Promise<Fleet> {
  const { namespace, labels, node } = wanted.selection
  const selector = [
    outdatedLabel,
    ...(labels ? [labels] : []),
    ...(node ? [`kubevirt.io/nodeName=${node}`] : []),
  ]
  const sorted = new Sorted(wanted, rules)
  const machines = new Machines(reader)
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances, {
      namespace,
      labels: selector.join(),
    })) {
      const asked = items.filter((vmi) => isOfVm(vmi) && !sorted.migrates(vmi))
      const vms = await machines.behind(
        asked.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })),
      )
      for (const vmi of items) sorted.add(vmi, vms.get(vmOf(vmi)))
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return sorted
}

const vmOf = ({ metadata }: VirtualMachineInstance) => `${metadata.namespace}/${metadata.name}`

class Sorted implements Fleet {
  readonly candidates = new Map<string, Candidate>()
  readonly left = new Map<string, LeftVm>()
  readonly loses = new Map<string, readonly string[]>()
  readonly #wanted: UpdateWanted
  readonly #rules: FleetRules

  constructor(wanted: UpdateWanted, rules: FleetRules) {
    this.#wanted = wanted
    this.#rules = rules
  }

  migrates(vmi: VirtualMachineInstance): boolean {
    return outlookOf(vmi, undefined, this.#rules).fate === 'migrates'
  }

  add(vmi: VirtualMachineInstance, vm: Machine | undefined): void {
    const name = vmOf(vmi)
    const { fate, why, remedy } = outlookOf(vmi, vm, this.#rules)
    const [first = { id: 'unknown', text: 'it cannot be migrated' }] = why
    const busy = this.#busyWith(vmi)
    if (busy !== undefined) this.#leave(name, `${busy}: it is moved once that is over`, [])
    else if (fate === 'migrates' && first.id !== 'volumes-move') this.#take(vmi, 'migration')
    else if (notNow.has(first.id)) this.#leave(name, first.text, remedy)
    else this.#restart(vmi, vm, { why: first.text, remedy })
  }

  #busyWith(vmi: VirtualMachineInstance): string | undefined {
    const frozen = vmi.status?.fsFreezeStatus === 'frozen'
    return this.#rules.busy.get(vmOf(vmi)) ?? (frozen ? 'its file systems are frozen' : undefined)
  }

  #restart(vmi: VirtualMachineInstance, vm: Machine | undefined, { why, remedy }: Omit<LeftVm, 'vm'>): void {
    const name = vmOf(vmi)
    const refused = vm === undefined ? 'no VM is behind it, so that it would be lost' : whyNoRestart(vm)
    if (refused !== undefined) this.#leave(name, `${why}; ${refused}`, remedy)
    else if (!this.#wanted.restart) this.#leave(name, why, remedy)
    else {
      this.#take(vmi, 'restart')
      const lost = lostData(vmi)
      if (lost.length > 0) this.loses.set(name, lost)
    }
  }

  #take(vmi: VirtualMachineInstance, by: Candidate['by']): void {
    const candidate = candidateOf(vmi, by, this.#wanted)
    this.candidates.set(candidate.vm, candidate)
  }

  #leave(vm: string, why: string, remedy: readonly string[]): void {
    this.left.set(vm, { vm, why, remedy })
  }
}

/** Neither a migration nor a restart is to be begun. */
const notNow: ReadonlySet<string> = new Set(['not-running', 'current', 'volumes-move', 'external'])

/** KV:pkg/virt-api/rest, RestartVMRequestHandler: these are answered with 409 (night W3). */
function whyNoRestart(vm: Machine): string | undefined {
  const strategy = runStrategyOf(vm)
  return strategy === 'Halted' || strategy === 'Once'
    ? `runStrategy ${strategy} allows no restart`
    : undefined
}
