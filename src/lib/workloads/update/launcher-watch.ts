import type { Reader } from '../../cluster/cluster.ts'
import { ApiError } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import { readLaunchers } from '../migrations/launchers.ts'
import { placeOfVm } from '../vm-name.ts'

/** How long the launcher that a VM has left may take to end. */
const endsWithin = 1 * minutes
/** It takes a few seconds mostly: after that nothing else is begun until it is known. */
const usual = 10 * seconds

interface LaunchersSeen {
  /** VMs with two launchers, which may be the one that is about to end. */
  doubtful: ReadonlySet<string>
  /** Of those, the ones for which it takes longer than usual. */
  slow: readonly string[]
  /** And the ones for which it is taken for certain. */
  split: readonly string[]
}

/**
 * Finds VMs with more than one launcher alive although nothing moves them: the guest may run twice and destroy its disks (facts 8). Each VM
 * is asked of after its move, until one launcher is left.
 */
export class LauncherWatch {
  readonly #clean = new Set<string>()
  /** ms since the epoch: when two were seen first. */
  readonly #twiceSince = new Map<string, number>()

  /** A VM that begins to move has to be looked at again. */
  forget(vm: string): void {
    this.#clean.delete(vm)
  }

  /** `uids` of the VMIs by VM. Throws ApiError. */
  async look(reader: Reader, uids: ReadonlyMap<string, string>, now: number): Promise<LaunchersSeen> {
    const asked = [...uids].filter(([vm]) => !this.#clean.has(vm))
    const living = await livingPods(reader, asked, new Date(now))
    const doubtful = new Set<string>()
    for (const [vm, uid] of asked) {
      if ((living.get(uid) ?? 0) > 1) {
        doubtful.add(vm)
        this.#twiceSince.set(vm, this.#twiceSince.get(vm) ?? now)
      } else {
        this.#clean.add(vm)
        this.#twiceSince.delete(vm)
      }
    }
    const twiceFor = (vm: string) => now - (this.#twiceSince.get(vm) ?? now)
    return {
      doubtful,
      slow: [...doubtful].filter((vm) => twiceFor(vm) >= usual),
      split: [...doubtful].filter((vm) => twiceFor(vm) >= endsWithin),
    }
  }
}

/** Of all namespaces at once, or of each where that may not be read. */
async function livingPods(
  reader: Reader,
  asked: readonly (readonly [vm: string, uid: string])[],
  at: Date,
): Promise<ReadonlyMap<string, number>> {
  const vmis = asked.map(([vm, uid]) => ({ uid, namespace: placeOfVm(vm).namespace }))
  try {
    return (await readLaunchers(reader, vmis, { at })).living
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    const living = new Map<string, number>()
    for (const [namespace, those] of Map.groupBy(vmis, (vmi) => vmi.namespace)) {
      const found = await readLaunchers(reader, those, { namespace, at })
      for (const [uid, pods] of found.living) living.set(uid, pods)
    }
    return living
  }
}
