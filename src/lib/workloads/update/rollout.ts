import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { openDataJobs } from '../../facts/data-jobs.ts'
import { itemsOf, known as asKnown } from '../../facts/known.ts'
import type { ReadContext, StepContext } from '../../procedure/step.ts'
import type { Releases } from '../../releases/releases.ts'
import { readMigrations } from '../migrations/ledger.ts'
import { migrationLimits } from '../migrations/limits.ts'
import { rulesFrom } from '../outdated/rules-from.ts'
import { readSurroundings } from '../outdated/surroundings.ts'
import type { Candidate } from '../waves/candidate.ts'
import type { Pacing } from '../waves/pacing.ts'
import type { FailedVm } from '../waves/stop-rules.ts'
import { begin } from './begin.ts'
import { type Fleet, type FleetRules, readFleet } from './fleet.ts'
import { LauncherWatch } from './launcher-watch.ts'
import { failedIn, type UpdateLook } from './look.ts'
import { ObservedMoves } from './observed-moves.ts'
import { restartsIn, standingOf } from './restarts.ts'
import type { UpdateWanted } from './wanted.ts'

/** Fewer are listed anew with every look, more of them once a minute. */
const fewCandidates = 500
const listEvery = 60_000
/** What decides over VMs in general changes seldom. */
const rulesEvery = 60_000
const lookAgainAfter = 15_000

/**
 * One run of an update. Where it stands is read from the cluster with every look; what is kept here is what this process has seen, for its
 * report and so that not all is read every time.
 */
export class Rollout {
  readonly wanted: UpdateWanted
  /** ms since the epoch: failures before are history. */
  readonly began: number
  /** Every VM that was to be moved, as it was seen first. */
  readonly known = new Map<string, Candidate>()
  /** Ids of waves that are through. */
  readonly through = new Set<string>()
  readonly launchers = new LauncherWatch()
  /** What a webhook refused, and why. */
  readonly #refused = new Map<string, string>()
  /** VMs that needed no move when it was their turn, and when they are looked at again; ms since the epoch. */
  readonly #notYet = new Map<string, number>()
  readonly #releases: Releases
  #rules: { at: number; rules: FleetRules; kubevirt: KubeVirt; launcher: string | undefined } | undefined
  #fleet: { at: number; fleet: Fleet } | undefined
  /** When the last run before this one ended to move VMs; 0: never. */
  #earlier = 0

  constructor(wanted: UpdateWanted, { began, releases }: { began: number; releases: Releases }) {
    this.wanted = wanted
    this.began = began
    this.#releases = releases
  }

  get earlier(): number {
    return this.#earlier
  }

  /** The virt-launcher of new pods, as far as it was read. */
  get launcher(): string | undefined {
    return this.#rules?.launcher
  }

  /** Within the limits of the cluster: what is more would only wait in KubeVirt (facts 3.3). */
  get pacing(): Pacing {
    const limits = this.#rules && migrationLimits(this.#rules.kubevirt)
    const { pacing } = this.wanted
    return {
      ...pacing,
      parallel: Math.min(pacing.parallel, limits?.perCluster ?? Infinity),
      perNode: limits?.perNode ?? Infinity,
    }
  }

  async look(cx: ReadContext): Promise<UpdateLook> {
    const now = cx.clock.now().getTime()
    const moves = new ObservedMoves(this.began)
    const { ledger } = await readMigrations(cx.reader, { each: (migration) => moves.add(migration) })
    for (const at of moves.ended.values()) if (at < this.began) this.#earlier = Math.max(this.#earlier, at)
    const restarts = await this.#restarts(cx, now)
    const fleet = await this.#outdated(cx, now)
    return { now, fleet, ledger, moves, restarts }
  }

  /** Those whose tries are over, or that a webhook refused. */
  failed(look: UpdateLook): FailedVm[] {
    const refused = [...this.#refused].filter(([vm]) => look.fleet.candidates.has(vm))
    return [...failedIn(look, this.wanted.retries), ...refused.map(([vm, reason]) => ({ vm, reason }))]
  }

  /** Whose turn was for nothing waits a moment, lest it be its turn without end. */
  get notYet(): ReadonlyMap<string, number> {
    return this.#notYet
  }

  /** Begins one move; a refusal is remembered as a failure of this VM. */
  async begin(cx: StepContext, one: Candidate, canary: boolean): Promise<void> {
    const begun = await begin(cx, one, { launcher: this.launcher, canary })
    if (begun.is === 'refused') this.#refused.set(one.vm, begun.why)
    if (begun.is === 'begun') this.launchers.forget(one.vm)
    else this.#notYet.set(one.vm, cx.clock.now().getTime() + lookAgainAfter)
    this.#fleet = undefined
  }

  async #restarts({ reader, journal }: ReadContext, now: number): Promise<UpdateLook['restarts']> {
    if (!this.wanted.restart) return []
    const { backWithin } = this.wanted
    const asked = restartsIn(await journal.entries(), this.began - backWithin)
    const states = await Promise.all(asked.map((restart) => standingOf(reader, restart, { now, backWithin })))
    return asked.flatMap((restart, index) => {
      const state = states[index]
      return state === undefined ? [] : [{ ...restart, state }]
    })
  }

  async #outdated(cx: ReadContext, now: number): Promise<Fleet> {
    const listed = this.#fleet
    if (listed && listed.fleet.candidates.size > fewCandidates && now - listed.at < listEvery)
      return listed.fleet
    const fleet = await readFleet(cx.reader, this.wanted, await this.#decides(cx, now))
    this.#fleet = { at: now, fleet }
    for (const one of fleet.candidates.values()) if (!this.known.has(one.vm)) this.known.set(one.vm, one)
    return fleet
  }

  async #decides({ reader }: ReadContext, now: number): Promise<FleetRules> {
    if (this.#rules && now - this.#rules.at < rulesEvery) return this.#rules.rules
    const at = new Date(now)
    const [around, jobs] = await Promise.all([
      readSurroundings(reader, at, this.wanted.selection.namespace),
      asKnown(openDataJobs(reader)),
    ])
    const { kubevirt, launcher } = around
    const rules = rulesFrom(around, { held: false, releases: this.#releases, at })
    if (kubevirt === undefined || rules === undefined) throw new TypeError('an update without a KubeVirt')
    const { migrating: _, updating: __, ...others } = rules
    const busy = new Map(
      itemsOf(jobs).flatMap(({ kind, name, phase, vm }) =>
        vm === undefined ? [] : [[vm, `${kind} ${name} is ${phase}`] as const],
      ),
    )
    this.#rules = { at: now, kubevirt, launcher, rules: { ...others, methods: ['LiveMigrate'], busy } }
    return this.#rules.rules
  }
}
