import { type MigrationLedger, type ObservedMoves, triedAgainAt } from '../migrations/migration-ledger.ts'
import { type Candidate, candidateOf, bornAt } from './waves.ts'
import type { FailedVm, Traffic } from './pacing.ts'
import { endOf, isFinished, migrationOf, vmOf } from '../migrations/migration.ts'
import { type Against, askRestart, type Begun, type Restart, type RestartState } from './vm-restart.ts'
import type { Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError, isNotFound } from '../../kube/errors.ts'
import {
  isOfVm,
  lostData,
  outdatedIn,
  placeOfVm,
  refusesThisVm,
  runStrategyOf,
  type Vm,
  vmName,
  type Vms,
} from '../vm.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { leftOutText } from '../../output/kvup-words.ts'
import { outlookOf } from '../vm-outlook.ts'
import type { OutlookRules } from '../workload-updater.ts'
import type { UpdateWanted } from './update-run.ts'
import { createHash } from 'node:crypto'
import { outdatedLabel } from '../../kubevirt/snapshot.ts'
import type { Entry } from '../../engine/journal.ts'
import type { ReadContext, StepContext } from '../../engine/step.ts'

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
  /** It failed as the canary of an earlier run. */
  failedBefore?: true
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
  /** Canaries of earlier runs that failed, and why: they are left out, unless `include` names them. */
  failedBefore: ReadonlyMap<string, string>
}

/** Lists them page by page; of each less than 200 bytes stay. Throws ApiError, a refusal where nothing of it may be read. */
export async function readFleet(
  reader: Reader,
  wanted: UpdateWanted,
  rules: FleetRules,
  vmCache: Vms,
): Promise<Fleet> {
  const sorted = new Sorted(wanted, rules)
  try {
    for await (const page of pagesAllowed(reader, VirtualMachineInstances, outdatedIn(wanted.selection)))
      if ('unread' in page) sorted.unread.push(page.unread)
      else await sorted.addAll(page.items, vmCache)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  for (const [place, why] of vmCache.unread)
    sorted.unread.push({ namespace: place, what: 'virtualmachines', why })
  return sorted
}

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

  async addAll(vmis: readonly VirtualMachineInstance[], vmCache: Vms): Promise<void> {
    const asked = vmis.filter((vmi) => isOfVm(vmi) && !this.#migrates(vmi))
    const vms = await vmCache.behind(
      asked.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })),
    )
    for (const vmi of vmis) {
      const unread = isOfVm(vmi) ? vmCache.unread.get(vmi.metadata.namespace ?? '') : undefined
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
    const failed = this.#wanted.include.has(name) ? undefined : this.#rules.failedBefore.get(name)
    if (this.#wanted.exclude.has(name)) this.#leave(name, leftOutText, [])
    else if (failed !== undefined)
      this.left.set(name, {
        vm: name,
        why: `left out, as it failed as the canary before (${failed}); --include ${shellWord(name)} takes it along`,
        remedy: [],
        failedBefore: true,
      })
    else if (busy !== undefined) this.#leave(name, `${busy}: it is moved after that`, [])
    else if (outcome === 'migrates' && first.id !== 'volumes-move') this.#take(vmi, 'migration')
    else if (notNow.has(first.id)) this.#leave(name, first.text, remedy)
    else if (unread !== undefined)
      this.#leave(name, `${first.text}; kvup may not read its VM: ${unread}`, remedy)
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
    const refused = vm === undefined ? 'it has no VM, and would be lost' : whyNoRestart(vm)
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

/** On migrations of the canary: how many have passed is read from them. */
const canaryLabel = 'kvup.io/canary'
/** The virt-launcher that a canary was moved to: the next upgrade needs canaries of its own. */
const launcherAnnotation = 'kvup.io/launcher'

interface Beginning {
  /** The virt-launcher of new pods, where it is known. */
  launcher: string | undefined
  canary: boolean
  /** ms since the epoch: when the update began. */
  since: number
  /** Of a restart. */
  against: Against
  /** Is told of the migration that was made. */
  made?: ((migration: VirtualMachineInstanceMigration) => void) | undefined
}

/**
 * Begins one migration or restart, after a look at the VM itself: never a second one where one is active. The name of a migration follows
 * from what was looked at, so that of two who saw the same only one can make it. Throws ApiError for what is no answer about this VM.
 */
export async function begin(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  one: Candidate,
  beginning: Beginning,
): Promise<Begun> {
  const ref = placeOfVm(one.vm)
  const found = await reader.get(VirtualMachineInstances, ref)
  if (found.is !== 'object' || !isDue(found.object, one))
    return { is: 'not-needed', why: 'it no longer needs a new virt-launcher' }
  const migrations = await migrationsOf(reader, ref)
  if (!migrations.every((migration) => isFinished(migrationOf(migration)))) return onItsWay
  if (one.by === 'restart') return askRestart({ reader, writer }, one, beginning.against)
  if (wasForNothing(found.object, migrations, beginning)) return forNothing
  try {
    const migration = newMigration(one, ref, { ...beginning, migrations })
    const made = await writer.create(VirtualMachineInstanceMigrations, migration)
    beginning.made?.(made)
    return { is: 'begun' }
  } catch (error) {
    return refusal(error)
  }
}

const forNothing: Begun = {
  is: 'refused',
  why: 'it was migrated, but KubeVirt still calls it outdated: its new pod has another image than KubeVirt requested, as if something rewrites images',
}

/** KubeVirt compares the images of pods as text (facts 3.1): where they are rewritten every move is followed by another, without end. */
function wasForNothing(
  { metadata }: VirtualMachineInstance,
  migrations: readonly VirtualMachineInstanceMigration[],
  { launcher, since }: Pick<Beginning, 'launcher' | 'since'>,
): boolean {
  const [last] = migrations
    .filter(({ status }) => status?.phase === 'Succeeded')
    .sort((a, b) => endOf(migrationOf(b)) - endOf(migrationOf(a)))
  if (last === undefined || endOf(migrationOf(last)) < bornAt({ metadata })) return false
  if (launcherOf(last) !== (launcher ?? '')) return false
  return launcher !== undefined || bornAt(last) >= since
}

const onItsWay: Begun = { is: 'not-needed', why: 'its migration is running' }

/** Its status is not asked for a migration: one that was cancelled may stay in it as if it ran. */
function isDue({ metadata, status }: VirtualMachineInstance, { uid }: Candidate): boolean {
  if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return false
  return status?.phase === 'Running' && Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
}

/** virt-api labels each migration with the name of its VMI (facts 3.7); until it is asked for by that, it is named here. */
async function migrationsOf(
  reader: Reader,
  { name, namespace }: { name: string; namespace: string },
): Promise<VirtualMachineInstanceMigration[]> {
  const found = await reader.list(VirtualMachineInstanceMigrations, {
    namespace,
    labels: `kubevirt.io/vmi-name=${name}`,
  })
  return found.filter(({ spec }) => spec?.vmiName === name)
}

function newMigration(
  { uid }: Candidate,
  { name, namespace }: { name: string; namespace: string },
  {
    launcher = '',
    canary,
    migrations,
  }: Pick<Beginning, 'launcher' | 'canary'> & { migrations: readonly VirtualMachineInstanceMigration[] },
): VirtualMachineInstanceMigration {
  const [last] = migrations.map(migrationOf).sort((a, b) => endOf(b) - endOf(a))
  const observed = createHash('sha256')
    .update([uid, launcher, last?.uid ?? ''].join())
    .digest('hex')
  return {
    apiVersion: VirtualMachineInstanceMigrations.apiVersion,
    kind: VirtualMachineInstanceMigrations.kind,
    metadata: {
      name: `kvup-update-${observed.slice(0, 12)}`,
      namespace,
      labels: {
        'app.kubernetes.io/managed-by': 'kvup',
        'kubevirt.io/vmi-name': name,
        ...(canary && { [canaryLabel]: 'true' }),
      },
      annotations: { [launcherAnnotation]: launcher },
    },
    spec: { vmiName: name },
  }
}

function refusal(error: unknown): Begun {
  if (!(error instanceof ApiError)) throw error
  if (/in-flight migration|already exists/iu.test(error.message)) return onItsWay
  if (refusesThisVm(error)) return { is: 'refused', why: error.message }
  throw error
}

/** What a canary's turn does, for the journal and for `canariesBegun`: all of them by name, and the launcher. */
export const canaryText = (vms: readonly string[], launcher: string | undefined): string =>
  `migrate ${vms.join(', ')} to ${launcher ?? unknownLauncher}`

const unknownLauncher = 'the new virt-launcher'
const canaryForm = /^migrate (?<vms>\S+\/\S+(?:, \S+\/\S+)*) to (?<launcher>.+)$/u

/** The VMs that kvup itself has chosen as canaries of this launcher, by its journal. */
function chosenByKvup(entries: readonly Entry[], launcher: string | undefined): ReadonlySet<string> {
  const chosen = new Set<string>()
  for (const { step, what, text } of entries) {
    const isTurn = step.startsWith('canary#') && what === 'intends'
    const found = isTurn ? canaryForm.exec(text)?.groups : undefined
    if (found?.['launcher'] !== (launcher ?? unknownLauncher)) continue
    for (const vm of (found['vms'] ?? '').split(', ')) chosen.add(vm)
  }
  return chosen
}

/**
 * VMs that failed as the canary of this launcher, and why. The journal only says which VM was the canary: that its last migration failed, and `before` this run (ms since the epoch), the
 * cluster shows. Throws ApiError.
 */
export async function failedCanaries(
  { journal }: Pick<ReadContext, 'journal'>,
  launcher: string | undefined,
  { ledger, before }: { ledger: MigrationLedger; before: number },
): Promise<ReadonlyMap<string, string>> {
  const failed = ledger.failing.flatMap((vm) => {
    const [last] = ledger.pastOf(vm).failures
    return last !== undefined && endOf(last) < before ? [[vm, last] as const] : []
  })
  if (failed.length === 0) return new Map()
  const chosen = chosenByKvup(await journal.entries(), launcher)
  const canaries = failed.filter(([vm]) => chosen.has(vm))
  return new Map(
    canaries.map(([vm, { failureReason }]) => [vm, failureReason ?? 'KubeVirt does not say why']),
  )
}

/**
 * VMs that were canaries of this launcher, as far as that may be read: those that passed, and the others. A migration's label and annotation only find them, for whoever
 * may migrate a VM can write both: kvup's journal has to tell that the VM was chosen, and one that passed is outdated no more. Throws ApiError.
 */
export async function canariesBegun(
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
  launcher: string | undefined,
  { namespace, isOutdated }: { namespace: string | undefined; isOutdated: (vm: string) => boolean },
): Promise<{ passed: ReadonlySet<string>; chosen: ReadonlySet<string> }> {
  const begun: VirtualMachineInstanceMigration[] = []
  const where = { namespace, labels: canaryLabel }
  for await (const page of pagesAllowed(reader, VirtualMachineInstanceMigrations, where))
    if (!('unread' in page)) begun.push(...page.items.filter((one) => launcherOf(one) === (launcher ?? '')))
  if (begun.length === 0) return { passed: new Set(), chosen: new Set() }
  const byKvup = chosenByKvup(await journal.entries(), launcher)
  const succeeded = begun.filter(({ status }) => status?.phase === 'Succeeded').map(movedVm)
  const passed = new Set(succeeded.filter((vm) => byKvup.has(vm) && !isOutdated(vm)))
  const others = begun.map(movedVm).filter((vm) => byKvup.has(vm) && !passed.has(vm))
  return { passed, chosen: new Set(others) }
}

const movedVm = (migration: VirtualMachineInstanceMigration) => vmOf(migrationOf(migration))

const launcherOf = ({ metadata }: VirtualMachineInstanceMigration) =>
  metadata.annotations?.[launcherAnnotation]
