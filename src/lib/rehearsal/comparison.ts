import type { RunEvent } from '../engine/step.ts'
import { setsIn, withStages } from '../upgrade/step-traits.ts'
import type { ComparedStage, RehearsalComparison } from '../upgrade/upgrade-report.ts'
import { takesAlike } from '../kube/duration.ts'
import { cannotRead, usageError } from '../kube/errors.ts'
import type { Reader } from '../kube/cluster.ts'
import type { Known } from '../kube/known.ts'
import { parseJson } from '../kube/object.ts'
import { fits } from '../kube/shape.ts'
import { shellWord } from '../kube/shell-line.ts'
import type { World } from '../kube/world.ts'
import { ensureSameCluster } from '../upgrade/plan/plan-document.ts'
import { compareVms } from './compared-vms.ts'
import { ObservedStages } from './observed-stages.ts'
import type { Rehearsal, RehearsedStage } from './rehearsal.ts'
import shape from './rehearsal-shape.json' with { type: 'json' }

/** What is compared of a rehearsal that was saved by `kvup rehearse --to-file`. */
export interface SavedRehearsal extends Pick<
  Rehearsal,
  'clusterUid' | 'from' | 'to' | 'seed' | 'stages' | 'vms'
> {
  file: string
  product: string
  outcome: RehearsalComparison['outcome']
}

/** Reads what `kvup rehearse --to-file` or `-o json` has written. Throws `usage` (exit 2) for any other file, and for a rehearsal that tells nothing of an upgrade. */
export async function readRehearsal(world: World, file: string): Promise<SavedRehearsal> {
  const made = `kvup rehearse --to-file ${shellWord(file)} --help     shows how it is made`
  const text = await world.readText(file).catch(cannotRead('no-such-file', `the rehearsal ${file}`, made))
  const saved = parseJson(text)
  if (!isRehearsal(saved))
    throw usageError('not-a-rehearsal', `${JSON.stringify(file)} has no rehearsal`, {
      remedy: 'kvup rehearse --help     shows how one is saved, with --to-file',
    })
  const { to, outcome } = saved
  if (outcome === 'blocked')
    throw notComparable(file, to, 'it was blocked before its first step, so it has nothing to compare with')
  return { ...saved, outcome, file }
}

const notComparable = (file: string, to: string, why: string): Error =>
  usageError('rehearsal-not-comparable', `${file} cannot be compared with an upgrade: ${why}`, {
    remedy: `kvup rehearse --to ${shellWord(to)} --to-file ${shellWord(file)}     makes one of this upgrade`,
  })

interface Filed extends Omit<SavedRehearsal, 'file' | 'outcome'> {
  outcome: 'through' | 'stalls' | 'blocked'
}

const isRehearsal = (saved: unknown): saved is Filed => fits(saved, shape)

interface PlannedVersions {
  from?: string | undefined
  to: { text: string }
  isRest: boolean
  olm?: { from: string; to: string } | undefined
}

/** The cluster that is upgraded: the uid of its namespace kube-system. */
interface Here {
  clusterUid: Known<string>
  warn: (line: string) => void
}

/** Throws `usage` for a rehearsal of another cluster; where nobody knows of which one it is, `warn` is told. */
export function ensureOfCluster(
  { file, clusterUid }: SavedRehearsal,
  { clusterUid: here, warn }: Here,
): void {
  const [is] = here.known ? here.items : []
  if (clusterUid === undefined)
    warn(`${file} does not say of which cluster it is: make sure that it is of this one`)
  else if (is === undefined)
    warn(`kvup cannot see whether ${file} is of this cluster: it may not read namespace kube-system`)
  else ensureSameCluster(file, clusterUid, is)
}

/**
 * For an upgrade that is about to be carried out. Throws `usage` (exit 2) for a rehearsal of another upgrade; the rest of an upgrade begins elsewhere.
 */
export function comparedRun(
  rehearsal: SavedRehearsal,
  { from, to, isRest, olm }: PlannedVersions,
): ComparedRun {
  if (olm) throw usageError('other-rehearsal', 'an upgrade by OLM has no rehearsal to compare with')
  const [begins, ends] = [from ?? 'an unfinished installation', to.text]
  // Of an upgrade path the rest may begin at any of its minors.
  const isFirst = rehearsal.from === begins
  const isLater = isRest || (!isFirst && rehearsal.stages.some(({ hop }) => hop === begins))
  if (rehearsal.to === ends && (isLater || isFirst)) return new ComparedRun(rehearsal, isLater)
  throw usageError(
    'other-rehearsal',
    `the rehearsal is of ${rehearsal.product} ${rehearsal.from} → ${rehearsal.to}, the upgrade of KubeVirt ${begins} → ${ends}`,
    { remedy: `kvup rehearse --to ${shellWord(ends)}     makes one of this upgrade` },
  )
}

/** Follows an upgrade, and compares it with its rehearsal at the end. */
export class ComparedRun {
  readonly #rehearsal: SavedRehearsal
  #isRest: boolean
  readonly #stages = new ObservedStages()
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

  /** `vmsAreDone`: the run has waited for them, so nothing more comes. */
  async compare(reader: Reader, { vmsAreDone }: { vmsAreDone: boolean }): Promise<RehearsalComparison> {
    const { began } = this.#stages
    const since = new Date(began ?? 0)
    const areDone = vmsAreDone
    const compared = began && (await compareVms(reader, this.#rehearsal.vms, { since, areDone }))
    return { ...this.soFar(), ...(compared && { vms: compared }) }
  }

  /** Of a run that ended early, without another look at the cluster: nothing is said of VMs. */
  soFar(): RehearsalComparison {
    const { seed, outcome, stages } = this.#rehearsal
    return { seed, outcome, ...compareStages(stages, this.#measured()) }
  }

  /** Of a run that continues another one what that one did is not measured, nor is the stage in whose middle it began. */
  #measured(): RehearsedStage[] {
    const stages = this.#stages.stages()
    if (!this.#isRest) return stages
    const first = stages.findIndex(({ name }) => name === this.#started)
    return first < 0 ? [] : stages.slice(first + 1)
  }
}

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
