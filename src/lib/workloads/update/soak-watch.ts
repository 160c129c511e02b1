import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import type { Candidate } from '../waves/candidate.ts'
import type { ObservedMoves } from './observed-moves.ts'
import { placeOfVm } from '../vm-name.ts'

/** Since when VMs that are kept apart from others are well again after their migration: Ready, and not only moved (night W4). */
export class SoakWatch {
  readonly #soak: number
  /** Whose soak is over is not asked again. */
  readonly #over = new Set<string>()

  /** `soak` in ms. */
  constructor(soak: number) {
    this.#soak = soak
  }

  /** By VM, ms since the epoch; Infinity for one that is not Ready. Throws ApiError. */
  async look(
    reader: Reader,
    { succeeded }: ObservedMoves,
    { known, now }: { known: ReadonlyMap<string, Candidate>; now: number },
  ): Promise<ReadonlyMap<string, number>> {
    const asked = [...succeeded].filter(([vm]) => known.get(vm)?.apart !== undefined && !this.#over.has(vm))
    const found = await Promise.all(
      asked.map(async ([vm, movedAt]) => [vm, Math.max(movedAt, await readySince(reader, vm))] as const),
    )
    for (const [vm, wellAt] of found) if (wellAt + this.#soak <= now) this.#over.add(vm)
    return new Map(found)
  }
}

/** One that is gone keeps nobody waiting. */
async function readySince(reader: Reader, vm: string): Promise<number> {
  const found = await reader.find(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return 0
  const ready = condition(found.object, 'Ready')
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : Infinity
}
