import type { Reader } from '../kube/cluster.ts'
import { type MigrationLedger, ObservedMoves, readMigrations } from './migrations/migration-ledger.ts'
import type { Candidate } from './waves/waves.ts'
import { valueAt } from '../kube/server-side-apply.ts'
import { VirtualMachineInstanceMigrations, VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import { clusterEvictionOf, placeOfVm, type Selection } from './vm.ts'
import type { UpdateSnapshot } from './waves/update-fleet.ts'
import { ApiError } from '../kube/errors.ts'
import { vmOf } from './migrations/migration.ts'
import { minutes, seconds } from '../kube/clock.ts'
import { readLaunchers } from './migrations/migration-snapshot.ts'
import type { Override } from '../engine/journal.ts'
import type {
  JournalReader,
  Procedure,
  ReadContext,
  Step,
  StepContext,
  StepState,
  Blocked,
} from '../engine/step.ts'
import { methodsIn, readOwner, type SettingsOwner } from './strategy/settings-owner.ts'
import { countMoving } from './forecast/vm-forecast.ts'
import {
  heldLines,
  methodsOf,
  openOverride,
  overrideOn,
  type Owner,
  resumeUpdatesLine,
} from './update-methods.ts'
import type { UpdateRun } from './waves/update-run.ts'
import { pauseWorkloadUpdates } from './pause-updates.ts'
import { narrowedLine } from '../output/kvup-words.ts'

/** What moving VMs did to them (night W5). */
interface Harm {
  reason: 'two-launchers' | 'too-many-failures'
  text: string
}

/** How VMs have moved since somebody began to look. */
interface MigrationMoves {
  /** ms since the epoch. */
  now: number
  ledger: MigrationLedger
  moves: Pick<ObservedMoves, 'succeeded' | 'failures'>
  /** VMs that were restarted instead. */
  restarts: readonly { vm: string }[]
  /** `namespace/name` of those that are outdated still. */
  outdated: Iterable<string>
  /** Every VM that was seen to be outdated. */
  known: ReadonlyMap<string, Pick<Candidate, 'uid'>>
}

interface ObservedHarm {
  harm?: Harm
  /** VMs of which a second launcher has not ended: it is about to, or it is harm. */
  doubtful: number
}

/** VMs that run twice, for a minute at least, and as many VMs as `maxFailures` that failed for one reason. Throws ApiError. */
async function readHarm(
  reader: Reader,
  migrationMoves: MigrationMoves,
  { launchers, maxFailures }: { launchers: Pick<LauncherWatch, 'read'>; maxFailures: number },
): Promise<ObservedHarm> {
  const { split, doubtful } = await launchers.read(
    reader,
    movedIn(migrationMoves, migrationMoves.known),
    migrationMoves.now,
  )
  const harm =
    split.length > 0 ? await twice(reader, split) : await failures(reader, migrationMoves, maxFailures)
  return { doubtful: doubtful.size, ...(harm && { harm }) }
}

async function twice(reader: Reader, split: readonly string[]): Promise<Harm> {
  const alike = await whatTheyShare(reader, split)
  return {
    reason: 'two-launchers',
    text: `two launchers run for ${split.join(', ')}, which can destroy its data (${alike.join('; ')}; kubevirt issue 18670)`,
  }
}

async function failures(
  reader: Reader,
  { outdated, moves, ledger }: MigrationMoves,
  maxFailures: number,
): Promise<Harm | undefined> {
  const failing = [...outdated].flatMap((vm) => {
    const [last] = moves.failures(ledger, vm)
    return last === undefined ? [] : [{ vm, reason: last.failureReason ?? 'no reason given' }]
  })
  const [worst] = [...Map.groupBy(failing, ({ reason }) => reason)].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  if (worst === undefined || worst[1].length < maxFailures) return undefined
  const [reason, vms] = worst
  const alike = await whatTheyShare(
    reader,
    vms.map(({ vm }) => vm),
  )
  return {
    reason: 'too-many-failures',
    text: `${vms.length} VMs failed for one reason: ${reason} (${alike.join('; ')}${upstream(reason)})`,
  }
}

const upstream = (reason: string): string =>
  /load of migration failed: Operation not permitted/u.test(reason)
    ? '; kubevirt issue 16386'
    : /extra features/u.test(reason)
      ? '; harvester issue 11615'
      : ''

const most = 50

/** VMs that fail mostly have something in common: `2 on worker-1 with machine q35 and CPU host-model` (night W5). Throws ApiError. */
export async function whatTheyShare(reader: Reader, vms: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(vms.slice(0, most).map((vm) => likenessOf(reader, vm)))
  const groups = [...Map.groupBy(found, (text) => text)].sort(([, a], [, b]) => b.length - a.length)
  return groups.map(([text, alike]) => `${alike.length} ${text}`)
}

async function likenessOf(reader: Reader, vm: string): Promise<string> {
  const found = await reader.get(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return 'gone meanwhile'
  const { spec, status } = found.object
  const word = (path: string[], otherwise: string) => {
    const value = valueAt(spec?.domain, path)
    return typeof value === 'string' ? value : otherwise
  }
  const oneVm = word(['machine', 'type'], 'of the default type')
  return `on ${status?.nodeName ?? 'no node'} with machine ${oneVm} and CPU ${word(['cpu', 'model'], 'of the default model')}`
}

interface Moved extends Pick<UpdateSnapshot, 'ledger'> {
  moves: Pick<ObservedMoves, 'succeeded'>
  restarts: readonly { vm: string }[]
}

/** uids of the VMIs that migrated since the update began and move no more, by VM: their launchers are looked at. Pure. */
export function movedIn(
  { moves, ledger, restarts }: Moved,
  known: ReadonlyMap<string, Pick<Candidate, 'uid'>>,
): ReadonlyMap<string, string> {
  const moving = ledger.openByVm
  const restarted = new Set(restarts.map(({ vm }) => vm))
  return new Map(
    [...moves.succeeded.keys()].flatMap((vm) => {
      const uid = known.get(vm)?.uid
      return uid === undefined || moving.has(vm) || restarted.has(vm) ? [] : [[vm, uid] as const]
    }),
  )
}

/** So many VMs that fail for one reason are no accident. */
export const failuresTaken = 3

interface Watched {
  harm?: Harm
  /** VMs that were outdated and whose migration has not ended. */
  open: number
  /** Those whose former launcher has not ended. */
  doubtful: number
}

/**
 * What becomes of VMs that KubeVirt moves. Failures count from the first look, for the roll of virt-handler kills migrations; who runs twice is looked for
 * among all that moved `since`, ms since the epoch. Of a VM less than 200 bytes stay.
 */
export class MovesWatch {
  readonly #since: number
  readonly #launchers = new LauncherWatch()
  readonly #known = new Map<string, { uid: string }>()
  /** ms since the epoch. */
  #began: number | undefined
  /** Pods may not be read: whether a VM runs twice is not judged. */
  #isBlind = false

  constructor(since: number) {
    this.#since = since
  }

  /** `outdated`: uid of the VMIs that are to be moved, by `namespace/name`. Throws ApiError, but for launchers that may not be read. */
  async read(reader: Reader, outdated: ReadonlyMap<string, string>, now: number): Promise<Watched> {
    const isFirst = this.#began === undefined
    this.#began ??= now
    for (const [vm, uid] of outdated) this.#known.set(vm, { uid })
    const moved = new ObservedMoves(this.#since)
    const { ledger } = await readMigrations(reader, { each: (migration) => moved.add(migration) })
    if (isFirst) await this.#learn(reader, moved.succeeded)
    const failed = new ObservedMoves(this.#began)
    const moves = { succeeded: moved.succeeded, failures: failed.failures.bind(failed) }
    const open = ledger.open.filter((migration) => this.#known.has(vmOf(migration))).length
    const observed = { now, ledger, moves, restarts: [], outdated: outdated.keys(), known: this.#known }
    const launchers = { read: this.#readLaunchers.bind(this) }
    return { open, ...(await readHarm(reader, observed, { launchers, maxFailures: failuresTaken })) }
  }

  /** VMs that were through before the first look. */
  async #learn(reader: Reader, succeeded: ReadonlyMap<string, number>): Promise<void> {
    if ([...succeeded.keys()].every((vm) => this.#known.has(vm))) return
    for await (const { items } of reader.pages(VirtualMachineInstances, {}))
      for (const { metadata } of items) {
        const vm = `${metadata.namespace}/${metadata.name}`
        if (succeeded.has(vm)) this.#known.set(vm, { uid: metadata.uid ?? '' })
      }
  }

  async #readLaunchers(...asked: Parameters<LauncherWatch['read']>): ReturnType<LauncherWatch['read']> {
    const nothing = { doubtful: new Set<string>(), slow: [], split: [] }
    if (this.#isBlind) return nothing
    try {
      return await this.#launchers.read(...asked)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      this.#isBlind = true
      return nothing
    }
  }
}

/** How long the launcher that a VM has left may take to end. */
const endsWithin = 1 * minutes
/** It takes a few seconds mostly: after that nothing else is begun until it is known. */
const usual = 10 * seconds

interface ObservedLaunchers {
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
  async read(reader: Reader, uids: ReadonlyMap<string, string>, now: number): Promise<ObservedLaunchers> {
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

interface Guarding {
  owner: SettingsOwner
  run: UpdateRun
  who: string
  /** ms. */
  timeoutMs: number
}

/**
 * Follows KubeVirt's own updater until it has moved what it moves; two launchers for one VMI, or as many VMs as are taken failing for one
 * reason: automatic VM updates are paused again (night W5). Holds nothing before (night W6).
 */
export function guardProcedure(guarding: Guarding): Procedure {
  const step = guardStep(guarding)
  return {
    name: guardName,
    overrides: [],
    reached: async (cx) => (await step.check(cx)).is === 'done',
    steps: async () => [step],
  }
}

function guardStep({ owner, run, who, timeoutMs }: Guarding): Step {
  const again = pauseAgain(owner, who)
  return {
    id: 'kubevirt-updates',
    title: "wait for KubeVirt's own updates",
    doing: 'following the VM updates of KubeVirt',
    patience: { every: 5 * seconds, atMost: timeoutMs },
    estimate: 600 * seconds,
    watches: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    guards: true,
    goesOn: true,
    risk: { undo: resumeUpdatesLine, safeToLeave: 'always: KubeVirt continues by itself' },
    async check(cx) {
      const holds = methodsIn(await readOwner(cx.reader, owner), owner).length === 0
      if (holds)
        return (
          again.tripped ?? nobodyMoves(overrideOn(owner, await cx.journal.overrides()), run.wanted.selection)
        )
      const snapshot = await run.read(cx)
      const observed = { ...snapshot, outdated: snapshot.fleet.candidates.keys(), known: run.known }
      const { launchers, wanted } = run
      const { harm, doubtful } = await readHarm(cx.reader, observed, {
        launchers,
        maxFailures: wanted.maxFailures,
      })
      return harm === undefined ? movingOn(cx, { owner, run, snapshot, doubtful }) : again.trip(harm)
    },
    apply: (cx) => again.apply(cx),
  }
}

/** Methods that are borrowed cannot be set. */
const nobodyMoves = (override: Override | undefined, selection: Selection): StepState => ({
  is: 'blocked',
  reason: 'nobody-moves',
  by: 'automatic VM updates are off, so KubeVirt moves nothing',
  remedy: [
    `${narrowedLine('kvup workloads update', selection)}     moves the VMs`,
    ...(override === undefined
      ? ['kvup workloads strategy set --methods LiveMigrate']
      : heldLines(override, '     resumes automatic VM updates')),
  ],
})

interface MovingOn extends Pick<Guarding, 'owner' | 'run'> {
  snapshot: UpdateSnapshot
  doubtful: number
}

async function movingOn(
  { reader }: ReadContext,
  { owner, run, snapshot, doubtful }: MovingOn,
): Promise<StepState> {
  const kubevirt = await readOwner(reader, owner.kubevirt)
  const rules = {
    methods: methodsOf(kubevirt),
    clusterEviction: clusterEvictionOf(kubevirt),
    installs: kubevirt.status?.observedKubeVirtVersion,
  }
  const { moving, staying } = await countMoving(reader, rules)
  const total = Math.max(run.known.size, moving.size)
  const on = toEnd({ outdated: moving.size, open: snapshot.ledger.open.length, doubtful })
  if (on === undefined) return { is: 'done', ...(staying > 0 && { note: `${staying} remain outdated` }) }
  return { is: 'waiting', on, progress: { done: total - moving.size, total, of: 'VMs' } }
}

/** In the journal: a hold that the guard opened stays open until a person has looked. */
const guardName = 'watch workload updates'

/** Whether the guard took it: nobody but `kvup workloads resume-updates` resumes them. */
export const isGuards = ({ procedure }: Override): boolean => procedure === guardName

/** What a guard does with harm: it holds workload updates again, journal first, and says why it ends (night W5). */
export interface PauseAgain {
  /** Why it was held; undefined: it was not, by this one. */
  readonly tripped: Blocked | undefined
  /** There is harm: what is to be done now. */
  trip(harm: Harm): StepState
  apply(cx: StepContext): Promise<void>
}

export function pauseAgain(owner: SettingsOwner, who: string): PauseAgain {
  const hold = pauseWorkloadUpdates(owner, { who, procedure: guardName })
  let tripped: Blocked | undefined
  return {
    get tripped() {
      return tripped
    },
    trip(harm) {
      tripped = stoppedBy(harm, 'automatic VM updates are paused again', resumeHints)
      return { is: 'todo', change: `pause automatic VM updates: ${harm.text}` }
    },
    apply: async (cx) => {
      await hold.apply?.(cx)
    },
  }
}

export const stoppedBy = (
  { reason, text }: Harm,
  consequence: string,
  remedy: readonly string[],
): Blocked => ({ is: 'blocked', reason, by: `${text}; ${consequence}`, remedy })

/** By hand, or by KubeVirt again: both, and what to look at before. */
export const resumeHints: readonly string[] = [
  'kvup workloads migrations --history     shows what failed, and of what',
  'kvup workloads update --canary 1     continues by hand, with one VM first',
  'kvup workloads resume-updates     lets KubeVirt continue',
]

interface NotEnded {
  /** VMs that are to move. */
  outdated: number
  /** Migrations that have not ended. */
  open: number
  /** VMs whose former launcher has not ended. */
  doubtful: number
}

/** What is waited for while KubeVirt moves VMs; undefined: nothing any more. Pure. */
export function toEnd({ outdated, open, doubtful }: NotEnded): string | undefined {
  if (outdated > 0) return `${outdated} outdated ${outdated === 1 ? 'VM' : 'VMs'} to move`
  if (open > 0) return `${open} ${open === 1 ? 'migration' : 'migrations'} to end`
  if (doubtful === 0) return undefined
  return `the virt-launchers that ${doubtful} ${doubtful === 1 ? 'VM has' : 'VMs have'} left to end`
}

/** The hold that a guard took because VMs came to harm (night W5), while it is open. */
export async function guardsOverride(
  journal: JournalReader,
  { uid }: Pick<SettingsOwner, 'uid'>,
): Promise<Override | undefined> {
  const override = openOverride(await journal.overrides(), uid)
  return override && isGuards(override) ? override : undefined
}

/** Gives back, but not into the trouble that made a guard hold: that stays until a person has looked. `holder`: whose the settings are. */
export function unlessLeftPaused(
  restore: Step,
  owner: Owner,
  holder: Pick<SettingsOwner, 'uid'> = owner,
): Step {
  return {
    ...restore,
    async check(cx): Promise<StepState> {
      const override = await guardsOverride(cx.journal, holder)
      const isHeld = override && methodsOf(await readOwner(cx.reader, owner)).length === 0
      return isHeld ? { is: 'done', note: leftPausedText(override) } : restore.check(cx)
    },
  }
}

/** `stay paused: VMs came to harm … `, for a step and for the plan. */
export const leftPausedText = ({ at, by }: Pick<Override, 'at' | 'by'>): string =>
  `automatic VM updates stay paused: VMs came to harm when KubeVirt moved them (${by}, ${at}); kvup workloads resume-updates resumes them`

/** Nobody moves them now, and waiting does not mend it. */
export function pausedForHarm({ at, by }: Override, outdated: number): StepState {
  const vms = outdated === 1 ? '1 outdated VM' : `${outdated} outdated VMs`
  return {
    is: 'blocked',
    reason: 'paused-for-harm',
    by: `${vms} to move, and automatic VM updates were paused again at ${at} by ${by}, because VMs came to harm when KubeVirt moved them`,
    remedy: ['kvup history     shows what happened', ...resumeHints],
  }
}
