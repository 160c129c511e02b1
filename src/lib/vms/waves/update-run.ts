import type { Unread } from '../../kube/readable-pages.ts'
import { type Candidate, otherCanaryLine, type WaveRunWanted } from './waves.ts'
import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { openDataJobs } from '../../kubevirt/cluster-activity.ts'
import { notOne } from '../../kubevirt/installation.ts'
import { itemsOf, known as asKnown } from '../../kube/known.ts'
import type { ReadContext, StepContext } from '../../engine/step.ts'
import type { Releases } from '../../releases/releases.ts'
import { ApiError, blocked, type KvupError } from '../../kube/errors.ts'
import { type MigrationLedger, ObservedMoves, readMigrations } from '../migrations/migration-ledger.ts'
import { type Migration, migrationLimits } from '../migrations/migration.ts'
import { placeOfVm, Vms, vmNameOf } from '../vm.ts'
import { readAround, rulesFrom } from '../workload-updater.ts'
import type { FailedVm, Pacing, Stop } from './pacing.ts'
import { type Begun, readRestarts, readReturnRoom, type RestartState, type ReturnRoom } from './vm-restart.ts'
import {
  begin,
  failedCanaries,
  failedIn,
  type Fleet,
  type FleetRules,
  readFleet,
  trafficOf,
  stillFor,
  type UpdateSnapshot,
} from './update-fleet.ts'
import { LauncherWatch, movedIn } from '../update-guard.ts'
import { MigrationWatch } from '../migrations/migration-watch.ts'
import type { Reader } from '../../kube/cluster.ts'
import { condition } from '../../kube/object.ts'
import { narrowedLine } from '../../output/kvup-words.ts'
import { shellWord, wordsOf } from '../../kube/shell-line.ts'
import { counted, someOf } from '../../kube/text.ts'
import { resumeLine } from '../../engine/change.ts'
import type { WaveAlerts } from './wave-alerts.ts'
import type { WaveRun, WaveSnapshot } from './wave-step.ts'

/** What was asked of an update. Times in ms. */
export interface UpdateWanted extends WaveRunWanted {
  /** VMs that cannot be migrated are restarted. */
  restart: boolean
  /** VMs that are taken along although they failed as the canary before, `namespace/name` each. */
  include: ReadonlySet<string>
  /** So often a VM is tried again that failed. */
  retries: number
  /** Nothing that is under way gets any further: a stall. */
  stillAtMost: number
}

/** Fewer are listed anew with every look, more of them once a minute. */
const fewCandidates = 500
const listEvery = 60_000
/** What decides over VMs in general changes seldom. */
const rulesEvery = 60_000
const readAgainAfter = 15_000

/**
 * One run of an update. Where it stands is read from the cluster with every look; what is kept here is what this process has seen, for its
 * report and so that not all is read every time.
 */
export class UpdateRun implements WaveRun {
  readonly wanted: UpdateWanted
  /** ms since the epoch: failures before are history. */
  readonly began: number
  /** Every VM that was to be moved, as it was seen first. */
  readonly known = new Map<string, Candidate>()
  /** Ids of waves that are through. */
  readonly through = new Set<string>()
  readonly launchers = new LauncherWatch()
  alerts: WaveAlerts | undefined
  /** Workload updates have been held in this run. */
  held = false
  /** What a webhook refused, and why. */
  readonly #refused = new Map<string, string>()
  /** VMs that needed no move when it was their turn, and when they are looked at again; ms since the epoch. */
  readonly #notYet = new Map<string, number>()
  readonly #releases: Releases
  readonly #remarks = new Set<string>()
  readonly #soaks: SoakWatch
  #rules: Decided | undefined
  /** Canaries that failed before this run, and why. */
  #failedBefore: ReadonlyMap<string, string> | undefined
  #fleet: { at: number; fleet: Fleet } | undefined
  /** When the last run before this one ended to move VMs; 0: never. */
  #earlier = 0
  readonly #once: boolean
  #snapshot: Promise<UpdateSnapshot> | undefined
  #followed: MigrationWatch | undefined

  readonly watched = {
    kind: VirtualMachineInstanceMigrations,
    labels: 'app.kubernetes.io/managed-by=kvup',
  }
  readonly risk = {
    undo: 'none: a VM on the new virt-launcher cannot be migrated back',
    safeToLeave: 'always: VMs that migrate now continue by themselves, and so does the same command',
  }
  /** The command line: what goes on is the same line, with all its flags. */
  readonly typed: string
  readonly words = { done: 'moved', failed: 'failed', awaited: 'to finish' }

  /** `once`: the first look serves all that are asked for, as for a dry run. */
  constructor(
    wanted: UpdateWanted,
    {
      began,
      releases,
      once = false,
      typed = narrowedLine('kvup workloads update', wanted.selection),
    }: { began: number; releases: Releases; once?: boolean; typed?: string },
  ) {
    this.wanted = wanted
    this.typed = typed
    this.began = began
    this.#releases = releases
    this.#once = once
    this.#soaks = new SoakWatch(wanted.pacing.soak)
  }

  /** The virt-launcher of new pods, as far as it was read. */
  get launcher(): string | undefined {
    return this.#rules?.launcher
  }

  /** How many VMs KubeVirt's own updater has moved to that virt-launcher, and moves now. */
  movesByKubeVirt({ moves, ledger }: Pick<UpdateSnapshot, 'moves' | 'ledger'>): {
    moved: number
    moving: number
  } {
    const since = Date.parse(this.#rules?.launcherSince ?? '')
    return {
      moved: [...moves.byKubeVirt.values()].filter((at) => at >= since).length,
      moving: ledger.open.filter(({ by }) => by === 'workload-update').length,
    }
  }

  /** KubeVirt is on its way to another version, as far as it was read: VMs are called outdated once it is there. */
  get isUpdating(): boolean {
    return this.#rules?.isUpdating ?? false
  }

  /** What is not judged or not counted, because it may not be read. */
  get remarks(): readonly string[] {
    return [...this.#remarks, ...(this.#rules?.room?.remarks ?? [])]
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

  /** From now on migrations are followed, and listed with a look only where that is not possible. Ends with `unfollow`. */
  follow({ reader, clock }: Pick<ReadContext, 'reader' | 'clock'>, namespace?: string): void {
    this.unfollow()
    this.#followed = new MigrationWatch({ reader, clock, namespace, since: this.began })
  }

  /** Every look lists them again. */
  unfollow(): void {
    this.#followed?.close()
    this.#followed = undefined
  }

  async read(cx: ReadContext): Promise<UpdateSnapshot> {
    if (!this.#once) return this.#read(cx)
    this.#snapshot ??= this.#read(cx)
    return this.#snapshot
  }

  async #read(cx: ReadContext): Promise<UpdateSnapshot> {
    const now = cx.clock.now().getTime()
    const { ledger, moves } = (await this.#followed?.read()) ?? (await this.#migrations(cx))
    for (const at of moves.ended.values()) if (at < this.began) this.#earlier = Math.max(this.#earlier, at)
    const { restart, backWithin } = this.wanted
    const restarts = restart ? await readRestarts(cx, { began: this.began, now, backWithin }) : []
    const fleet = await this.#outdated(cx, now, ledger)
    const wellAt = await this.#soaks.read(cx.reader, moves, { known: this.known, now })
    return { now, fleet, ledger, moves, restarts, wellAt }
  }

  /** Those whose tries are over, or that a webhook refused. */
  failed(snapshot: UpdateSnapshot): FailedVm[] {
    const refused = [...this.#refused].filter(([vm]) => snapshot.fleet.candidates.has(vm))
    return [...failedIn(snapshot, this.wanted.retries), ...refused.map(([vm, reason]) => ({ vm, reason }))]
  }

  /** Outdated still, without those that failed for good. */
  left(snapshot: UpdateSnapshot): ReadonlyMap<string, Candidate> {
    const over = new Set(this.failed(snapshot).map(({ vm }) => vm))
    return new Map([...snapshot.fleet.candidates].filter(([vm]) => !over.has(vm)))
  }

  async readWave(cx: ReadContext): Promise<WaveSnapshot> {
    const snapshot = await this.read(cx)
    const { now, restarts, moves } = snapshot
    const launchers = await this.launchers.read(cx.reader, movedIn(snapshot, this.known), now)
    const traffic = trafficOf(snapshot, this.known, this.#earlier)
    return {
      now,
      candidates: this.left(snapshot),
      failed: this.failed(snapshot),
      // Whose turn was for nothing waits a moment, lest it be its turn without end.
      traffic: { ...traffic, notBefore: new Map([...this.#notYet, ...traffic.notBefore]) },
      restarts,
      ...launchers,
      still: stillFor(snapshot, this.known),
      stillAtMost: this.wanted.stillAtMost,
      ended: moves.ended,
      succeeded: moves.succeeded,
    }
  }

  remedy(stop: Stop, snapshot: Parameters<WaveRun['remedy']>[1]): readonly string[] {
    return stopRemedy(stop, snapshot, this)
  }

  async begin(cx: StepContext, one: Candidate, canary: boolean): Promise<Begun> {
    const against = async (vmi: VirtualMachineInstance) =>
      (await readReturnRoom(cx.reader, this.#rules?.kubevirt)).refusal(vmi)
    const made = this.#followed?.made.bind(this.#followed)
    this.#followed?.expect()
    const begun = await begin(cx, one, { launcher: this.launcher, canary, since: this.began, against, made })
    if (begun.is === 'refused') this.#refused.set(one.vm, begun.why)
    if (begun.is === 'begun') this.launchers.forget(one.vm)
    else this.#notYet.set(one.vm, cx.clock.now().getTime() + readAgainAfter)
    if (begun.is !== 'begun' && one.by === 'restart') this.#rules = undefined
    this.#fleet = undefined
    return begun
  }

  /** Of all namespaces, for the limits are of the cluster; of its own where no other may be read. */
  async #migrations({ reader, clock }: ReadContext): Promise<Pick<UpdateSnapshot, 'ledger' | 'moves'>> {
    const moves = new ObservedMoves(this.began)
    const each = (migration: Migration) => moves.add(migration)
    const { namespace } = this.wanted.selection
    try {
      return { moves, ledger: (await readMigrations(reader, { each })).ledger }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403 || namespace === undefined) throw error
      this.#remarks.add(`migrations of other namespaces are not counted: ${error.message}`)
      if (this.#followed) this.follow({ reader, clock }, namespace)
      return { moves, ledger: (await readMigrations(reader, { namespace, each })).ledger }
    }
  }

  async #outdated(cx: ReadContext, now: number, ledger: MigrationLedger): Promise<Fleet> {
    const listed = this.#fleet
    if (listed && listed.fleet.candidates.size > fewCandidates && now - listed.at < listEvery)
      return listed.fleet
    const { rules, vmCache, launcher } = await this.#decides(cx, now)
    this.#failedBefore ??=
      this.wanted.waves.canaries > 0
        ? await failedCanaries(cx, launcher, { ledger, before: this.began })
        : new Map()
    const failedBefore = this.#failedBefore
    const fleet = await readFleet(cx.reader, this.wanted, { ...rules, failedBefore }, vmCache)
    this.#fleet = { at: now, fleet }
    for (const one of fleet.candidates.values()) if (!this.known.has(one.vm)) this.known.set(one.vm, one)
    return fleet
  }

  async #decides({ reader, clock }: ReadContext, now: number): Promise<Decided> {
    if (this.#rules && now - this.#rules.at < rulesEvery) return this.#rules
    const at = new Date(now)
    const { restart } = this.wanted
    const [around, jobs] = await Promise.all([
      readAround(reader, clock, { moving: Promise.resolve([]) }),
      asKnown(openDataJobs(reader)),
    ])
    const { kubevirt, launcher, launcherSince, updating } = around
    const rules = rulesFrom(around, { releases: this.#releases, at })
    if (kubevirt === undefined || rules === undefined)
      throw notOne({ is: 'unknown', why: around.unread[0]?.why ?? '' })
    const { migrating: _, updating: __, ...others } = rules
    const busy = new Map(
      itemsOf(jobs).flatMap(({ kind, name, phase, vm }) =>
        vm === undefined ? [] : [[vm, `${kind} ${name} is ${phase}`] as const],
      ),
    )
    const room = restart ? await readReturnRoom(reader, kubevirt) : undefined
    const stranded = async (vmi: VirtualMachineInstance) => room?.refusal(vmi)
    this.#rules = {
      at: now,
      kubevirt,
      launcher,
      launcherSince,
      isUpdating: updating,
      vmCache: new Vms(reader),
      ...(room && { room }),
      rules: { ...others, methods: ['LiveMigrate'], busy, stranded },
    }
    return this.#rules
  }
}

/** The line that was typed, with these VMs taken along. */
function includingLine(typed: string, vms: readonly string[]): string {
  const line = [typed, ...vms.map((vm) => `--include ${shellWord(vm)}`)].join(' ')
  return resumeLine({ commandLine: line }, `tries ${someOf(vms)} again, after the others`)
}

/** Commands that show what stopped an update, and how it goes on. */
function stopRemedy(
  { reason }: Stop,
  { split, failed, candidates }: Parameters<WaveRun['remedy']>[1],
  { typed, known, wanted: { selection } }: Pick<UpdateRun, 'typed' | 'known' | 'wanted'>,
): readonly string[] {
  const [first] = split
  if (reason === 'two-launchers' && first !== undefined) {
    const { namespace, name } = placeOfVm(first)
    return [
      `kubectl -n ${shellWord(namespace)} get pods -l vm.kubevirt.io/name=${shellWord(name)} -o wide`,
      'stop the launcher without the guest and check its disks, before anything else moves (kubevirt issue 18670)',
    ]
  }
  const shows = `${narrowedLine('kvup workloads migrations', selection)}     shows what runs, waits and fails`
  if (reason !== 'canary-failed')
    return [shows, resumeLine({ commandLine: typed }, 'continues with the VMs that are still outdated')]
  const other = otherCanaryLine(typed, {
    failed: failed.map(({ vm }) => vm),
    left: [...candidates.values()],
    known: [...known.values()],
  })
  return other === undefined ? [shows] : [shows, other]
}

/** What was read of all that decides over VMs in general. */
interface Decided {
  at: number
  rules: Omit<FleetRules, 'failedBefore'>
  kubevirt: KubeVirt
  launcher: string | undefined
  /** RFC 3339: since when new pods get it. */
  launcherSince: string | undefined
  isUpdating: boolean
  /** VMs that were looked at already. */
  vmCache: Vms
  room?: ReturnRoom
}

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
  async read(
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
  const found = await reader.get(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return 0
  const ready = condition(found.object, 'Ready')
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : Infinity
}

/** What became of one VM in this run. */
export interface UpdatedVm {
  namespace: string
  name: string
  /** `replaced`: it runs anew, and not by this run. `waiting`: its turn did not come. */
  outcome: 'migrated' | 'restarted' | 'moving' | 'failed' | 'left' | 'waiting' | 'replaced' | 'gone'
  by?: Candidate['by']
  wave?: string
  /** Migrations of it that failed in this run. */
  failures?: number
  why?: string
  remedy?: readonly string[]
  /** It failed as the canary of an earlier run, and is left out for that. */
  failedBefore?: true
}

export type UpdateTotals = Record<UpdatedVm['outcome'], number> & { total: number }

interface UpdateOutcome {
  totals: UpdateTotals
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
  items: readonly UpdatedVm[]
}

/** From a fresh look at the cluster: what this run has moved, and what is outdated still. Throws ApiError. */
export async function outcomeOf(
  cx: ReadContext,
  run: Pick<UpdateRun, 'read' | 'known' | 'failed'>,
): Promise<UpdateOutcome> {
  const snapshot = await run.read(cx)
  const ended = endedBy(snapshot, run)
  const items = await Promise.all([...run.known.values()].map((one) => become(cx, one, ended)))
  for (const { vm, ...left } of snapshot.fleet.left.values())
    if (!run.known.has(vm)) items.push({ ...placeOfVm(vm), outcome: 'left', ...left })
  items.sort(
    (a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || (vmNameOf(a) < vmNameOf(b) ? -1 : 1),
  )
  const { unread } = snapshot.fleet
  return { totals: totalsOf(items), items, ...(unread.length > 0 && { unread }) }
}

const order: readonly UpdatedVm['outcome'][] = [
  'failed',
  'gone',
  'moving',
  'waiting',
  'left',
  'replaced',
  'restarted',
  'migrated',
]

/** By VM, for there may be many. */
interface Ended {
  snapshot: UpdateSnapshot
  moving: ReadonlyMap<string, unknown>
  failed: ReadonlyMap<string, string>
  restarts: ReadonlyMap<string, RestartState['is']>
}

/** Of several reasons the first counts. */
function endedBy(snapshot: UpdateSnapshot, run: Pick<UpdateRun, 'failed'>): Ended {
  const failed = run.failed(snapshot).toReversed()
  return {
    snapshot,
    moving: snapshot.ledger.openByVm,
    failed: new Map(failed.map(({ vm, reason }) => [vm, reason])),
    restarts: new Map(snapshot.restarts.map(({ vm, state }) => [vm, state.is])),
  }
}

async function become(cx: ReadContext, one: Candidate, ended: Ended): Promise<UpdatedVm> {
  const { vm, by, wave } = one
  const { snapshot } = ended
  const failures = snapshot.moves.failures(snapshot.ledger, vm).length
  const end = await endOfVm(cx, one, ended)
  return {
    ...placeOfVm(vm),
    by,
    ...(wave !== '' && { wave }),
    ...(failures > 0 && { failures }),
    ...end,
  }
}

type End = Pick<UpdatedVm, 'outcome' | 'why' | 'remedy'>

async function endOfVm(cx: ReadContext, one: Candidate, ended: Ended): Promise<End> {
  const { vm, uid } = one
  const observed = endOfRestart(vm, ended) ?? outdatedStill(vm, ended)
  if (observed !== undefined) return observed
  if (ended.snapshot.moves.succeeded.has(vm)) return { outcome: 'migrated' }
  const found = await cx.reader.get(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return { outcome: 'gone', why: 'it is no longer running' }
  return found.object.metadata.uid === uid
    ? { outcome: 'left', why: 'it is no longer outdated' }
    : { outcome: 'replaced', why: 'it was restarted, but not by this run' }
}

function endOfRestart(vm: string, { restarts }: Ended): End | undefined {
  const is = restarts.get(vm)
  if (is === 'missing') return { outcome: 'failed', why: 'it did not start again after the restart' }
  if (is === 'back') return { outcome: 'restarted' }
  return is === 'under-way' ? { outcome: 'moving' } : undefined
}

function outdatedStill(vm: string, { snapshot, moving, failed }: Ended): End | undefined {
  if (moving.has(vm)) return { outcome: 'moving' }
  const why = failed.get(vm)
  if (why !== undefined) return { outcome: 'failed', why }
  if (snapshot.fleet.candidates.has(vm)) return { outcome: 'waiting', why: waitingFor(vm, snapshot) }
  const left = snapshot.fleet.left.get(vm)
  return left && { outcome: 'left', why: left.why, remedy: left.remedy }
}

function waitingFor(vm: string, { ledger, moves }: UpdateSnapshot): string {
  const [last, ...more] = moves.failures(ledger, vm)
  if (last === undefined) return 'waits for its turn'
  const times = more.length === 0 ? 'once' : `${more.length + 1} times`
  return `failed ${times}, kvup retries it: ${last.failureReason ?? 'KubeVirt does not say why'}`
}

/** `2 of 5 VMs failed`: what a run did not reach that went on to its end; undefined where none failed. Pure. */
export function shortfallOf(
  items: readonly Pick<UpdatedVm, 'outcome' | 'failedBefore'>[],
): string | undefined {
  const failed = items.filter(({ outcome }) => outcome === 'failed').length
  if (failed > 0) return `${failed} of ${counted(items.length, 'VM')} failed`
  const before = items.filter(({ failedBefore }) => failedBefore).length
  if (before === 0) return undefined
  return `${before} of ${counted(items.length, 'VM')} failed before and ${before === 1 ? 'is' : 'are'} left out`
}

/**
 * The end of a run in which VMs failed although it went on, or are left out because they failed before; undefined where there are none. `isPage`: a table has shown each with its reason.
 */
export function failureOf(
  items: readonly UpdatedVm[],
  typed: string,
  { isPage }: { isPage: boolean },
): KvupError | undefined {
  const shortfall = shortfallOf(items)
  if (shortfall === undefined) return undefined
  const before = items.filter(({ failedBefore }) => failedBefore)
  const failed = items.filter(({ outcome }) => outcome === 'failed')
  const told = failed.length > 0 ? failed : before
  return blocked('vms-failed', shortfall, {
    notes: isPage ? [] : reasonsOf(told),
    remedy:
      failed.length > 0
        ? againLines(typed, failed.map(vmNameOf))
        : includingLine(typed, before.map(vmNameOf)),
  })
}

const fewFailures = 3

const reasonsOf = (vms: readonly UpdatedVm[]): readonly string[] => [
  ...vms.slice(0, fewFailures).map((vm) => `${vmNameOf(vm)}: ${vm.why ?? 'KubeVirt does not say why'}`),
  ...(vms.length > fewFailures ? [`and ${vms.length - fewFailures} more`] : []),
]

/** The typed words, but for what takes one of these VMs along. */
function withoutIncluded(typed: string, vms: readonly string[]): readonly string[] {
  const words = wordsOf(typed)
  const isTaken = (word: string | undefined) => word !== undefined && vms.some((vm) => word === shellWord(vm))
  return words.filter(
    (word, at) =>
      !(word === '--include' && isTaken(words[at + 1])) &&
      !(words[at - 1] === '--include' && isTaken(word)) &&
      !(word.startsWith('--include=') && isTaken(word.slice('--include='.length))),
  )
}

/** With those that failed, and without them where they are few. */
function againLines(typed: string, failed: readonly string[]): readonly string[] {
  const again = resumeLine({ commandLine: typed }, 'tries the VMs that are still outdated again')
  if (failed.length > fewFailures) return [again]
  const without = [
    ...withoutIncluded(typed, failed),
    ...failed.map((vm) => `--exclude ${shellWord(vm)}`),
  ].join(' ')
  return [
    again,
    resumeLine(
      { commandLine: without },
      `leaves ${failed.join(', ')} as ${failed.length === 1 ? 'it is' : 'they are'}`,
    ),
  ]
}

function totalsOf(items: readonly UpdatedVm[]): UpdateTotals {
  const totals = { total: items.length } as UpdateTotals
  for (const outcome of order) totals[outcome] = items.filter((item) => item.outcome === outcome).length
  return totals
}
