import { randomUUID } from 'node:crypto'
import type { Context } from '../../context.ts'
import { inOrder } from '../../lib/fleet/fleet-rows.ts'
import { type FleetPlanDocument, type PlannedCluster, sealFleet } from '../../lib/fleet/fleet-plan.ts'
import { stopLimit, wavesOf } from '../../lib/fleet/fleet-waves.ts'
import { inParallel } from '../../lib/fleet/in-parallel.ts'
import { ownClock, seconds } from '../../lib/kube/clock.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { blocked, type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { someOf } from '../../lib/kube/text.ts'
import type { Document } from '../../lib/output/printer.ts'
import { fleetPlanView } from '../../lib/output/views/fleet-plan.ts'
import type { PlanDocument } from '../../lib/upgrade/plan/plan-document.ts'
import { acceptedWords } from '../command-options.ts'
import { type PlanOptions, savePlan, showPlan } from '../upgrade/upgrade.ts'
import { fleetMembers, type FleetOptions, openFleet, type OpenMember, parallelOf } from './members.ts'

export interface FleetPlanOptions extends FleetOptions, Omit<PlanOptions, 'from'> {
  waveSize: string
  soak: string
  stopAfter: string
}

/** `kvup fleet plan`: a sealed plan for each cluster, all in one document. It is sealed only where each of them can be upgraded so. */
export async function fleetPlan(cx: Context, options: FleetPlanOptions): Promise<ExitCode> {
  const { to, toFile, stopAfter, soak } = options
  if (to === undefined)
    throw usageError('no-target', 'name the version: --to VERSION', {
      remedy: 'kvup releases     lists them',
    })
  if (cx.flags.output === 'argo-workflow' && toFile === undefined)
    throw usageError('plan-not-saved', 'the workflow carries out a plan that is saved: add --to-file FILE', {
      remedy: `${cx.world.commandLine} --to-file fleet-plan.yaml`,
    })
  const soakSeconds = parseDuration(soak) / seconds
  const size = Number(options.waveSize)
  if (!Number.isSafeInteger(size) || size < 1)
    throw usageError(
      'wave-size',
      `--wave-size takes a number from 1, not ${JSON.stringify(options.waveSize)}`,
    )
  const members = await fleetMembers(cx, options)
  stopLimit(stopAfter, members.length)
  const { open, failed } = await openFleet(cx, members, options)
  const planned = await inParallel(open, parallelOf(options.parallel), (one) => planOf(one, options))
  const lost = inOrder(failed).map(({ name, context, error }) => {
    const cluster: PlannedCluster = { name, context, uid: '', windows: [] }
    return error === undefined ? cluster : Object.assign(cluster, { error })
  })
  const waves = wavesOf(
    open.map(({ member }) => member),
    size,
  )
  const document: FleetPlanDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'FleetPlan',
    to,
    waves,
    soakSeconds,
    stopAfter,
    clusters: [...lost, ...planned],
  }
  const bad = document.clusters.find(({ error }) => error !== undefined)
  if (bad?.error) {
    cx.printer.result(document, fleetPlanView)
    const names = document.clusters.flatMap(({ name, error }) => (error ? [name] : []))
    throw new KvupError(
      bad.error.code as ExitCode,
      bad.error.reason,
      `the plan is not sealed: ${someOf(names)} cannot be upgraded so: ${bad.error.message}`,
      {
        remedy: bad.error.remedy ?? [`kvup status --context ${shellWord(bad.context)}`],
      },
    )
  }
  const seal = {
    uid: randomUUID(),
    at: ownClock(cx.clock).now().toISOString(),
    by: cx.world.who,
    kvup: cx.world.version,
  }
  const next = [
    toFile === undefined
      ? `${cx.world.commandLine} --to-file fleet-plan.yaml     saves it, to be run`
      : `kvup fleet upgrade --plan ${shellWord(toFile)}     carries it out`,
  ]
  const sealed = sealFleet({ ...document, next }, seal)
  if (toFile !== undefined) await savePlan(cx.world, toFile, sealed)
  cx.printer.result(sealed, fleetPlanView)
  const pending = sealed.clusters.some(({ plan }) => plan?.pending)
  return pending && options.exitCode ? exitCode.asked : exitCode.done
}

/** What a command inside printed, and nothing of it told. */
export function listening(cx: Context): { cx: Context; documents: Document[] } {
  const documents: Document[] = []
  const printer: Context['printer'] = { ...cx.printer }
  delete printer.screen
  return {
    documents,
    cx: {
      ...cx,
      flags: { ...cx.flags, output: 'json' },
      printer: {
        ...printer,
        result: (document) => void documents.push(document),
        event: () => undefined,
        note: () => undefined,
        awaiting: () => undefined,
      },
    },
  }
}

async function planOf({ member, place, cx }: OpenMember, options: FleetPlanOptions): Promise<PlannedCluster> {
  const { name, context, kubeconfig, windows } = member
  const heard = listening(cx)
  const accept = member.accept.flatMap((word) => acceptedWords(word, []))
  const cluster = {
    name,
    context,
    ...(kubeconfig !== undefined && { kubeconfig }),
    uid: place.uid ?? '',
    windows,
  }
  const { contexts: _, file: __, toFile: ___, exitCode: ____, ...asked } = options
  try {
    await showPlan(heard.cx, { ...asked, accept: [...options.accept, ...accept] })
    const plan = heard.documents.at(-1) as PlanDocument | undefined
    if (plan?.seal === undefined) throw blocked('not-sealed', 'its plan cannot be sealed')
    return { ...cluster, plan }
  } catch (error) {
    if (!(error instanceof KvupError) || cx.signal.aborted) throw error
    const { exitCode: code, reason, message, remedy } = error
    return { ...cluster, error: { code, reason, message, ...(remedy.length > 0 && { remedy }) } }
  }
}
