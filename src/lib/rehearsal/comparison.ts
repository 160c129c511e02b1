import type { RunEvent } from '../engine/step.ts'
import { setsIn, withStages } from '../upgrade/step-traits.ts'
import type { ComparedStage, RehearsalComparison, VmComparison } from '../upgrade/upgrade-report.ts'
import { takesAlike } from '../kube/duration.ts'
import { usageError } from '../kube/errors.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Known, known } from '../kube/known.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../kube/kinds/kubevirt-kinds.ts'
import { isRecord } from '../kube/object.ts'
import { shellWord } from '../kube/shell-line.ts'
import type { World } from '../kube/world.ts'
import { isAutomatic, migrationOf, vmOf } from '../vms/migrations/migration.ts'
import { vmName } from '../vms/vm.ts'
import { ObservedStages } from './observed-stages.ts'
import type { RehearsedStage, RehearsedVm } from './rehearsal.ts'

/** What is compared of a rehearsal that was saved by `kvup rehearse --to-file`. */
export interface SavedRehearsal {
  product: string
  from: string
  to: string
  seed: number
  outcome: string
  stages: readonly RehearsedStage[]
  vms: readonly RehearsedVm[]
}

/** Reads what `kvup rehearse --to-file` or `-o json` has written. Throws `usage` (exit 2) for any other file. */
export async function readRehearsal(world: World, file: string): Promise<SavedRehearsal> {
  const text = await world.readText(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('no-such-file', `cannot read the rehearsal ${file}: ${why}`, {
      remedy: `kvup rehearse --to-file ${shellWord(file)} --help     shows how it is made`,
      cause,
    })
  })
  const saved = parsed(text)
  if (isRehearsal(saved)) return saved
  throw usageError('not-a-rehearsal', `${JSON.stringify(file)} has no rehearsal`, {
    remedy: 'kvup rehearse --help     shows how one is saved, with --to-file',
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRehearsal(saved: unknown): saved is SavedRehearsal {
  if (!isRecord(saved) || saved['kind'] !== 'Rehearsal') return false
  const { product, from, to, seed, outcome, stages, vms } = saved
  const hasTexts = [product, from, to, outcome].every((one) => typeof one === 'string')
  return hasTexts && typeof seed === 'number' && areAll(stages, isStage) && areAll(vms, isVm)
}

const areAll = (list: unknown, is: (one: unknown) => boolean): boolean =>
  Array.isArray(list) && list.every(is)

const isStage = (one: unknown): boolean =>
  isRecord(one) && typeof one['name'] === 'string' && Number.isFinite(one['begins'])

const isVm = (one: unknown): boolean =>
  isRecord(one) &&
  typeof one['namespace'] === 'string' &&
  typeof one['name'] === 'string' &&
  ['migrate', 'evict', 'nothing'].includes(String(one['tries']))

/** Of an upgrade that is planned; by OLM it goes from one release of HyperConverged to another. */
interface PlannedVersions {
  from?: string | undefined
  to: { text: string }
  isRest: boolean
  olm?: { from: string; to: string } | undefined
}

/**
 * For an upgrade that is about to be carried out. Throws `usage` (exit 2) for a rehearsal of another upgrade; the rest of an upgrade begins elsewhere.
 */
export function comparedRun(
  rehearsal: SavedRehearsal,
  { from, to, isRest, olm }: PlannedVersions,
): ComparedRun {
  // Beneath an operator, KubeVirt may have been rehearsed by its own version.
  const [product, begins, ends] =
    olm && rehearsal.product !== 'KubeVirt'
      ? ['HyperConverged', olm.from, olm.to]
      : ['KubeVirt', from ?? 'an unfinished installation', to.text]
  // Of an upgrade path the rest may begin at any of its minors.
  const isFirst = rehearsal.from === begins
  const isLater = isRest || (!isFirst && rehearsal.stages.some(({ hop }) => hop === begins))
  if (rehearsal.to === ends && (isLater || isFirst)) return new ComparedRun(rehearsal, isLater)
  throw usageError(
    'other-rehearsal',
    `the rehearsal is of ${rehearsal.product} ${rehearsal.from} → ${rehearsal.to}, the upgrade of ${product} ${begins} → ${ends}`,
    { remedy: `kvup rehearse --to ${shellWord(ends)}     makes one of this upgrade` },
  )
}

type Tries = RehearsedVm['tries']

/** Follows an upgrade, and compares it with its rehearsal at the end. */
export class ComparedRun {
  readonly #rehearsal: SavedRehearsal
  /** It continues an earlier run. */
  #isRest: boolean
  readonly #stages = new ObservedStages()
  /** The first stage at which it was at work. */
  #started: string | undefined

  constructor(rehearsal: SavedRehearsal, isRest: boolean) {
    this.#rehearsal = rehearsal
    this.#isRest = isRest
  }

  hear(event: RunEvent): void {
    if (event.kind === 'step-done' && !event.changed && setsIn(event.step.id, 'version')) {
      // An earlier run has set the version: this one came into the middle of what rolls then.
      this.#isRest = true
      this.#started = undefined
    }
    if (event.kind === 'step-started') this.#started ??= this.#stages.nameOf(event.step)
    this.#stages.hear(withStages(event))
  }

  async compare(reader: Reader): Promise<RehearsalComparison> {
    const { seed, vms } = this.#rehearsal
    const { began } = this.#stages
    const compared = began === undefined ? undefined : await compareVms(reader, vms, new Date(began))
    return { seed, ...this.#compareStages(), ...(compared && { vms: compared }) }
  }

  #compareStages(): Pick<RehearsalComparison, 'stages' | 'sameOrder'> {
    return compareStages(this.#rehearsal.stages, this.#measured())
  }

  /** Of a run that continues another one what that one did is not measured, nor is the stage in whose middle it began. */
  #measured(): RehearsedStage[] {
    const stages = this.#stages.stages()
    if (!this.#isRest) return stages
    const first = stages.findIndex((stage) => nameOf(stage) === this.#started)
    return first < 0 ? [] : stages.slice(first + 1)
  }
}

const nameOf = ({ name }: { name: string }): string => name

/** Compares stage by stage, by their names. Pure. */
function compareStages(
  rehearsed: readonly RehearsedStage[],
  real: readonly RehearsedStage[],
): Pick<RehearsalComparison, 'stages' | 'sameOrder'> {
  const before = firstByName(rehearsed)
  const now = firstByName(real)
  const names = [...new Set([...before.keys(), ...now.keys()])]
  const common = [...before.keys()].filter((name) => now.has(name))
  const order = [...now.keys()].filter((name) => before.has(name))
  return {
    stages: names.map((name) => comparedStage(name, before.get(name)?.takes, now.get(name)?.takes)),
    sameOrder: common.every((name, i) => name === order[i]),
  }
}

function comparedStage(name: string, rehearsed: number | undefined, took: number | undefined): ComparedStage {
  if (rehearsed === undefined) return { name, ...(took !== undefined && { took }) }
  if (took === undefined) return { name, rehearsed }
  return { name, rehearsed, took, agrees: takesAlike(rehearsed * 1000, took * 1000) }
}

/** A stage that is gone back to is one. */
function firstByName(stages: readonly RehearsedStage[]): ReadonlyMap<string, RehearsedStage> {
  const found = new Map<string, RehearsedStage>()
  for (const stage of stages) {
    const { name } = stage
    const before = found.get(name)
    if (before === undefined) found.set(name, stage)
    else if (before.takes !== undefined && stage.takes !== undefined)
      found.set(name, { ...before, takes: before.takes + stage.takes })
  }
  return found
}

/** What KubeVirt has tried with these VMs by itself since then; undefined where it cannot be read. */
export async function compareVms(
  reader: Reader,
  rehearsed: readonly RehearsedVm[],
  since: Date,
): Promise<VmComparison | undefined> {
  const [instances, migrations] = await Promise.all([
    known(reader.list(VirtualMachineInstances)),
    known(reader.list(VirtualMachineInstanceMigrations)),
  ])
  const tried = triedSince(instances, migrations, since)
  if (tried === undefined) return undefined
  const judged = rehearsed.map((vm) => {
    const { namespace, name, tries } = vm
    return { namespace, name, rehearsed: tries, tried: tried(vm) }
  })
  const open = judged.filter(isOpen).length
  const items = judged.filter((one) => !isOpen(one) && !isAsRehearsed(one))
  return { total: judged.length, agreed: judged.length - open - items.length, open, items }
}

interface Judged {
  rehearsed: Tries
  tried: Tries | 'ended'
}

const isOpen = ({ rehearsed, tried }: Judged): boolean => tried === 'nothing' && rehearsed !== 'nothing'

/** One that is evicted may start again elsewhere, or not. */
const isAsRehearsed = ({ rehearsed, tried }: Judged): boolean =>
  tried === rehearsed || (tried === 'ended' && rehearsed === 'evict')

type Tried = (vm: RehearsedVm) => Tries | 'ended'

function triedSince(
  instances: Known<VirtualMachineInstance>,
  migrations: Known<VirtualMachineInstanceMigration>,
  since: Date,
): Tried | undefined {
  if (!instances.known || !migrations.known) return undefined
  const byPlace = new Map(instances.items.map((vmi) => [vmName(vmi), vmi]))
  const moved = new Set(
    migrations.items
      .map(migrationOf)
      .filter((one) => isAutomatic(one) && isSince(one.createdAt, since))
      .map(vmOf),
  )
  return ({ namespace, name, uid, launcher }) => {
    const place = `${namespace}/${name}`
    if (moved.has(place)) return 'migrate'
    const vmi = byPlace.get(place)
    if (vmi === undefined || isOver(vmi)) return 'ended'
    const isAnother =
      uid === undefined ? isSince(vmi.metadata.creationTimestamp, since) : vmi.metadata.uid !== uid
    if (isAnother) return 'evict'
    // KubeVirt keeps no more than the last few migrations of a VM.
    const image = vmi.status?.launcherContainerImageVersion
    return launcher !== undefined && image !== undefined && image !== launcher ? 'migrate' : 'nothing'
  }
}

const isOver = ({ status }: VirtualMachineInstance): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Times of objects have whole seconds. */
const isSince = (time: string | undefined, since: Date): boolean =>
  Date.parse(time ?? '') >= Math.floor(since.getTime() / 1000) * 1000
