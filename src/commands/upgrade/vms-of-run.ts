import type { Reader } from '../../lib/cluster/cluster.ts'
import { seeVms, type SeenVms, vmCauses } from '../../lib/facts/health/vm-troubles.ts'
import { itemsOf, type Known, known } from '../../lib/facts/known.ts'
import { type Clock, ticks } from '../../lib/system/clock.ts'
import { blocked, KvupError } from '../../lib/system/errors.ts'
import type { UpgradeReport } from '../../lib/upgrade/report.ts'

/** For how long VMs that ran are waited for behind the end of a run, ms: KubeVirt may be moving them just now. */
const patience = 60_000
const lookEvery = 5000
const namedAtMost = 10

/** What the report says of VMs that should run, and the failure that it ends with; `unread`: they could not be looked at. */
export type JudgedVms = Pick<UpgradeReport, 'vms' | 'degraded' | 'unread'>

/** VMs that should run, before a run and behind it. Another tenant's VM that never ran changes nothing; one that ran when the run began does. */
export class VmsOfRun {
  readonly #reader: Reader
  readonly #clock: Clock
  readonly #told: (line: string) => void
  #before: SeenVms | undefined

  constructor(reader: Reader, clock: Clock, told: (line: string) => void) {
    this.#reader = reader
    this.#clock = clock
    this.#told = told
  }

  /** Throws what the Reader throws but for what may not be read. */
  async before(): Promise<void> {
    this.#before = itemsOf(await this.#look())[0]
  }

  /** Waits for those that ran and do not, for a minute at most. What was done is done: VMs that cannot be read are told as that, whatever the reason. */
  async after(signal: AbortSignal): Promise<JudgedVms> {
    let seen = await this.#tryLook()
    if (seen === undefined) return { unread: ['VMs that should run'] }
    const ran = this.#before?.running ?? new Set<string>()
    let stuck = this.#stuck(seen, ran)
    const began = ticks(this.#clock)
    if (stuck.length > 0) this.#told(`waiting for ${named(stuck)} to run again, for 1 m at most`)
    while (stuck.length > 0 && this.#passed(began) < patience) {
      await this.#clock.sleep(lookEvery, signal)
      const next = await this.#tryLook()
      // A server that was away for one look may answer the next.
      if (next === undefined) continue
      seen = next
      stuck = this.#stuck(seen, new Set(stuck))
    }
    const { troubles } = seen
    const degraded = [
      ...(stuck.length > 0
        ? [`${stuck.length} of ${ran.size} VMs that ran when the run began do not run: ${named(stuck)}`]
        : []),
      ...vmCauses(troubles, this.#clock.now()).map(({ sentence }) => sentence),
    ]
    return {
      ...(troubles.count > 0 && { vms: troubles }),
      ...(degraded.length > 0 && { degraded }),
    }
  }

  #look(): Promise<Known<SeenVms>> {
    return known(seeVms(this.#reader, this.#clock.now()).then((seen) => [seen]))
  }

  /** Undefined where the cluster does not answer, or does not let us. */
  async #tryLook(): Promise<SeenVms | undefined> {
    try {
      return itemsOf(await this.#look())[0]
    } catch (error) {
      if (error instanceof KvupError) return undefined
      throw error
    }
  }

  /** Also one that was edited meanwhile: KubeVirt itself edits VMs, and one that is down is never passed over. */
  #stuck(now: SeenVms, among: ReadonlySet<string>): readonly string[] {
    return [...now.idle].filter((name) => among.has(name)).toSorted()
  }

  #passed(began: number): number {
    return ticks(this.#clock) - began
  }
}

const named = (names: readonly string[]): string =>
  `${names.slice(0, namedAtMost).join(', ')}${names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : ''}`

/** A run that did its work and leaves VMs behind that do not run is no success: exit 3. */
export function degradedAfter({ degraded, vms }: JudgedVms, to: string): KvupError | undefined {
  if (degraded === undefined) return undefined
  const [first = ''] = vms?.reasons[0]?.examples ?? []
  const [namespace, name] = first.split('/')
  return blocked('degraded', `KubeVirt is at ${to} and Degraded: ${degraded.join('; ')}`, {
    remedy: [...(name === undefined ? [] : [`kubectl -n ${namespace} describe vmi ${name}`]), 'kvup status'],
  })
}
