import type { Context } from '../../context.ts'
import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { driftLines, driftOf } from '../../lib/seal/drift.ts'
import { readSealed, type SealedPlan } from '../../lib/seal/read-sealed.ts'
import { reliedOn, sealedParts } from '../../lib/seal/sealed-facts.ts'
import { drifted, forbidden, KvupError, usageError } from '../../lib/system/errors.ts'
import { roleRemedy } from '../../lib/system/role-remedy.ts'
import { begunSteps, ownWork } from '../../lib/upgrade/own-work.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import { planAgain } from './plan-again.ts'
import { withOlmFacts } from './olm-facts.ts'
import type { Planned } from './planned.ts'

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup plan`. */
export async function readPlanFile({ world, printer }: Context, file: string): Promise<SealedPlan> {
  const plan = await readWhole(world, file)
  for (const { id, why } of plan.seal.unsealed)
    printer.warn(`${plan.file} is sealed without ${id}, a change of it is not seen: ${why}`)
  return plan
}

async function readWhole(world: Context['world'], file: string): Promise<SealedPlan> {
  if (file === '-') return readSealed(await world.readStdin(), 'standard input', 'UpgradePlan')
  const text = await world.readText(file).catch((cause: unknown) => {
    throw usageError(
      'plan-missing',
      `cannot read the plan ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: `kvup plan --to VERSION --to-file ${shellWord(file)}`, cause },
    )
  })
  return readSealed(text, file, 'UpgradePlan')
}

const mostLines = 20

/**
 * The cluster is the one that the plan was made for, and stands as it stood then or as the plan's own steps leave it. Throws `usage` for
 * another cluster (2), `drifted` with every difference (5).
 */
export async function ensureFits(sealed: SealedPlan, planned: Planned): Promise<void> {
  const { file, seal, steps } = sealed
  const { cluster, cx, plan, hands, procedure } = planned
  const evidence = await gatherEvidence({ reader: cluster.reader }, cx.clock, { only: sealedParts })
  const now = await withOlmFacts(reliedOn(evidence, plan.owner.ref), cluster.reader, plan.olm)
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await hands.journal.entries(), seal.uid)
  const isLater = plan.path !== undefined && plan.from !== sealed.document['from']
  const found = driftOf(seal.facts, now, ownWork(plan, begun))
  const drift = driftLines(found.filter(({ fact }) => !isLater || !ofFirstStep.has(fact)))
  tellOnce(sealed, driftLines(found.filter(({ fact }) => isLater && ofFirstStep.has(fact))), cx)
  const reading = { reader: cluster.reader, clock: cx.clock, journal: hands.journal }
  // A step that only waits may be found on the way: a component that the new version brings.
  const unplanned = (await procedure.steps(reading))
    .filter((step) => 'apply' in step && !steps.includes(step.id))
    .map(({ id }) => `step ${id} would be done, and is not in the plan${madeBy(seal.kvup, cx.world.version)}`)
  const lines = [...drift, ...unplanned]
  if (lines.length > 0) throw notAsPlanned(lines, sealed)
}

/** Hours later, in a later step of an upgrade path, these are other ones, and the checks before that step judge them. */
const ofFirstStep: ReadonlySet<string> = new Set(['kubernetes', 'nodes'])

const told = new WeakSet<SealedPlan>()

/** It is asked several times whether a plan fits. */
function tellOnce(sealed: SealedPlan, lines: readonly string[], { printer }: Context): void {
  if (told.has(sealed) || lines.length === 0) return
  told.add(sealed)
  for (const line of lines.slice(0, mostLines)) printer.warn(`since ${sealed.file} was made: ${line}`)
}

/** Steps are kvup's own: another version may go another way. */
function madeBy(planned: string, is: string): string {
  return planned === is ? '' : `, which kvup ${planned} made; this is ${is}`
}

/** Throws `usage` for another cluster, `forbidden` where that cannot be told. */
export function ensureSameCluster(file: string, planned: string, is: string | undefined): void {
  if (is === planned) return
  if (is === undefined)
    throw forbidden(
      'cluster-unknown',
      `cannot tell whether ${file} is of this cluster: the namespace kube-system may not be read`,
      { remedy: roleRemedy('kvup-view') },
    )
  throw usageError(
    'another-cluster',
    `${file} was made for another cluster: the uid of its kube-system is ${planned}, here it is ${is}`,
    { remedy: 'name the cluster that is meant: --context NAME', object: 'namespaces/kube-system' },
  )
}

function notAsPlanned(lines: readonly string[], sealed: SealedPlan): Error {
  const { file, seal } = sealed
  const more = lines.length - mostLines
  return drifted(
    'drifted',
    `the cluster is no longer as it was when ${file} was made (${seal.at}); nothing was changed`,
    {
      notes: [...lines.slice(0, mostLines), ...(more > 0 ? [`and ${more} more`] : [])],
      remedy: `${planAgain(sealed)}      makes it anew; look at what is different before you use it`,
    },
  )
}

/** The checksum in the plan is part of what must not have moved. */
export async function asDrift<T>(work: Promise<T>, sealed: SealedPlan): Promise<T> {
  const { file } = sealed
  try {
    return await work
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    if (error.reason === 'via' || error.reason === 'not-on-path')
      throw drifted(
        'drifted',
        `KubeVirt is no longer at a release that ${file} goes through: ${error.message}; nothing was changed`,
        { notes: [error.message], remedy: `${planAgain(sealed)}      makes it anew`, cause: error },
      )
    if (error.reason !== 'manifest-checksum') throw error
    throw drifted(
      'drifted',
      `the operator manifest is not the one that ${file} was made with: ${error.message}`,
      {
        notes: [error.message],
        remedy: error.remedy,
        cause: error,
      },
    )
  }
}
