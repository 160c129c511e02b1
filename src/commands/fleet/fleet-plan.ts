import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import type { FleetMember } from '../../lib/fleet/fleet-file.ts'
import { inOrder } from '../../lib/fleet/fleet-rows.ts'
import { type FleetPlanDocument, groupsOf, type PlannedCluster } from '../../lib/fleet/fleet-plan.ts'
import { inParallel } from '../../lib/fleet/in-parallel.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { blocked, type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { someOf } from '../../lib/kube/text.ts'
import { fleetPlanView } from '../../lib/output/views/fleet-plan.ts'
import { makePlan, type PlanOptions, savePlan } from '../upgrade/upgrade.ts'
import {
  acceptedBy,
  fleetMembers,
  linesFor,
  type FleetOptions,
  openFleet,
  type OpenMember,
  parallelOf,
} from './members.ts'

export interface FleetPlanOptions extends FleetOptions, Omit<PlanOptions, 'from' | 'toFile'> {
  groupSize: string
  toFolder?: string
}

/** `kvup fleet plan`: a sealed plan for each cluster, in the order in which they are to be upgraded. Throws what stands against the worst of them, below what is known of each. */
export async function fleetPlan(cx: Context, options: FleetPlanOptions): Promise<ExitCode> {
  const { toFolder, groupSize, to } = options
  if (to === undefined)
    throw usageError('no-target', 'name the version: --to VERSION', {
      remedy: 'kvup releases     lists them',
    })
  const size = Number(groupSize)
  if (!Number.isSafeInteger(size) || size < 1)
    throw usageError('group-size', `--group-size takes a number from 1, not ${JSON.stringify(groupSize)}`)
  if (cx.flags.output === 'argo-workflow' && toFolder === undefined)
    throw usageError(
      'plan-not-saved',
      'the workflow carries out plans that are saved: add --to-folder FOLDER',
      { remedy: `${cx.world.commandLine} --to-folder plans` },
    )
  const members = await fleetMembers(cx, options)
  const clusters = await plannedClusters(cx, members, { ...options, size })
  const document: FleetPlanDocument = { apiVersion: 'kvup.io/v1alpha1', kind: 'FleetPlan', to, clusters }
  ensureAllPlanned(cx, document, members)
  const saved = toFolder === undefined ? clusters : await saveEach(cx, clusters, toFolder)
  const first = saved.find(({ plan }) => plan?.pending)
  const next =
    toFolder === undefined
      ? [`${cx.world.commandLine} --to-folder plans     saves the plan of each, to be run`]
      : first?.next === undefined
        ? []
        : [`${first.next}     upgrades ${first.name}, the first of them`]
  cx.printer.result({ ...document, clusters: saved, next }, fleetPlanView)
  return first !== undefined && options.exitCode ? exitCode.asked : exitCode.done
}

/** Asks every cluster: those that do not answer, then group after group. */
async function plannedClusters(
  cx: Context,
  members: readonly FleetMember[],
  options: FleetPlanOptions & { size: number },
): Promise<readonly PlannedCluster[]> {
  const { open, failed } = await openFleet(cx, members, options)
  for (const one of open) ensureOneMind(one, members)
  for (const { name, also = [] } of open.map(({ place }) => place))
    if (also.length > 0)
      cx.printer.warn(
        `${someOf(also)} ${also.length === 1 ? 'is a context' : 'are contexts'} of the same cluster as ${name}: it is planned once, as ${name}`,
      )
  const ordered = groupsOf(
    open.map((one) => Object.assign({ one }, one.member)),
    options.size,
  ).flatMap(({ group, members: some }) => some.map(({ one }) => ({ group, one })))
  const planned = await inParallel(ordered, parallelOf(options.parallel), ({ group, one }) =>
    planOf(one, group, options),
  )
  const lost = inOrder(failed).map(({ name, context, error }) => {
    const cluster: PlannedCluster = { name, context, uid: '' }
    return error === undefined ? cluster : Object.assign(cluster, { error })
  })
  return [...lost, ...planned]
}

/** Throws what stands against the worst of them, below what is known of each. */
function ensureAllPlanned(cx: Context, document: FleetPlanDocument, members: readonly FleetMember[]): void {
  const bad = document.clusters.find(({ error }) => error !== undefined)
  if (bad?.error === undefined) return
  cx.printer.result(document, fleetPlanView)
  const names = document.clusters.flatMap(({ name, error }) => (error ? [name] : []))
  throw new KvupError(
    bad.error.code as ExitCode,
    bad.error.reason,
    `nothing is saved: ${someOf(names)} cannot be upgraded so: ${bad.error.message}`,
    {
      remedy: [
        ...(
          bad.error.remedy ??
          linesFor(members.find(({ name }) => name === bad.name) ?? bad, ['kvup status     shows why'])
        ).filter((line) => !ofOneAlone.test(line)),
        ...(names.length < document.clusters.length
          ? [
              `or make the plan without ${someOf(names)}: leave ${names.length === 1 ? 'it' : 'them'} out of --contexts, or of the fleet file`,
            ]
          : []),
      ],
    },
  )
}

/** It would upgrade one cluster at once, before any canary. */
const ofOneAlone = /^kvup upgrade\b/u

const mindOf = ({ group, accept }: FleetMember): string => JSON.stringify([group, accept])

/** Throws `usage` where contexts of one cluster are to be treated differently: only one of them would be. */
function ensureOneMind({ member, place }: OpenMember, members: readonly FleetMember[]): void {
  const other = members.find((one) => place.also?.includes(one.context) && mindOf(one) !== mindOf(member))
  if (other === undefined) return
  throw usageError(
    'contradiction',
    `${member.name} and ${other.name} are one cluster, and the fleet has another group or accepted risk for each`,
    { remedy: 'leave one of the two contexts out of the fleet' },
  )
}

async function planOf(one: OpenMember, group: number, options: FleetPlanOptions): Promise<PlannedCluster> {
  const { member, place, cx } = one
  const { name, context, kubeconfig } = member
  const cluster = {
    name,
    context,
    ...(kubeconfig !== undefined && { kubeconfig }),
    uid: place.uid ?? '',
    group,
  }
  const { contexts: _, file: __, toFolder: ___, exitCode: ____, ...asked } = options
  try {
    const made = await makePlan(quietly(cx), { ...asked, accept: acceptedBy(member, options.accept) })
    made.ensureMayRun()
    if (made.document.seal === undefined) throw blocked('not-sealed', 'its plan cannot be sealed')
    // What to type is said of all of them together.
    return { ...cluster, plan: { ...made.document, next: [] } }
  } catch (error) {
    if (!(error instanceof KvupError) || cx.signal.aborted) throw error
    const { exitCode: code, reason, message, remedy } = error
    return {
      ...cluster,
      error: { code, reason, message, ...(remedy.length > 0 && { remedy: linesFor(member, remedy) }) },
    }
  }
}

/** Nothing of the story of one is told, and its findings are shown in the table of all. */
function quietly(cx: Context): Context {
  const printer = { ...cx.printer, event: () => undefined, note: () => undefined, awaiting: () => undefined }
  delete printer.screen
  return { ...cx, flags: { ...cx.flags, output: 'json' }, printer }
}

/** The plan of each in a file of its own, called by the uid of its cluster: a name could lead anywhere. */
async function saveEach(
  cx: Context,
  clusters: readonly PlannedCluster[],
  folder: string,
): Promise<readonly PlannedCluster[]> {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (cause) {
    throw usageError('plan-not-saved', `cannot make ${shellWord(folder)}: ${fileTrouble(cause, 'write')}`, {
      remedy: 'name a folder that can be made: --to-folder FOLDER',
      cause,
    })
  }
  const saved: PlannedCluster[] = []
  for (const cluster of clusters) {
    const file = join(folder, `${cluster.uid}.yaml`)
    const [next = ''] = linesFor(cluster, [`kvup upgrade --plan ${shellWord(file)}`])
    if (cluster.plan) await savePlan(cx.world, file, cluster.plan)
    saved.push({ ...cluster, next })
  }
  return saved
}
