import { randomUUID } from 'node:crypto'
import { dirname, isAbsolute, relative } from 'node:path'
import type { Context } from '../../context.ts'
import { type AlertRule, countedAlerts } from '../../lib/fleet/fleet-alerts.ts'
import type { FleetMember } from '../../lib/fleet/fleet-file.ts'
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
import { type PlanOptions, savePlan, showPlan } from '../upgrade/upgrade.ts'
import {
  acceptedBy,
  fleetMembers,
  linesFor,
  type FleetOptions,
  openFleet,
  type OpenMember,
  parallelOf,
} from './members.ts'

export interface FleetPlanOptions extends FleetOptions, Omit<PlanOptions, 'from'> {
  waveSize: string
  soak: string
  stopAfter: string
  stopOnAlert?: AlertRule['atLeast']
  alerts?: 'route'
}

/** `kvup fleet plan`: a sealed plan for each cluster, all in one document. It is sealed only where each of them can be upgraded so. */
export async function fleetPlan(cx: Context, options: FleetPlanOptions): Promise<ExitCode> {
  const { toFile } = options
  if (cx.flags.output === 'argo-workflow' && toFile === undefined)
    throw usageError('plan-not-saved', 'the workflow carries out a plan that is saved: add --to-file FILE', {
      remedy: `${cx.world.commandLine} --to-file fleet-plan.yaml`,
    })
  const sealed = await makeFleetPlan(cx, options)
  if (toFile !== undefined) await savePlan(cx.world, toFile, sealed)
  const next = [
    toFile === undefined
      ? `${cx.world.commandLine} --to-file fleet-plan.yaml     saves it, to be run`
      : `kvup fleet upgrade --plan ${shellWord(toFile)}     carries it out`,
  ]
  cx.printer.result({ ...sealed, next }, fleetPlanView)
  const pending = sealed.clusters.some(({ plan }) => plan?.pending)
  return pending && options.exitCode ? exitCode.asked : exitCode.done
}

/** Asks every cluster, and seals the plans of all. Throws what stands against the worst of them, below what is known of each. */
export async function makeFleetPlan(cx: Context, options: FleetPlanOptions): Promise<FleetPlanDocument> {
  const { to, stopAfter, soak } = options
  if (to === undefined)
    throw usageError('no-target', 'name the version: --to VERSION', {
      remedy: 'kvup releases     lists them',
    })
  const soakSeconds = parseDuration(soak) / seconds
  const size = Number(options.waveSize)
  if (!Number.isSafeInteger(size) || size < 1)
    throw usageError(
      'wave-size',
      `--wave-size takes a number from 1, not ${JSON.stringify(options.waveSize)}`,
    )
  const rule = alertRule(options)
  const members = await fleetMembers(cx, options)
  stopLimit(stopAfter, members.length)
  const { open, failed } = await openFleet(cx, members, options)
  for (const one of open) ensureOneMind(one, members)
  for (const { name, also = [] } of open.map(({ place }) => place))
    if (also.length > 0)
      cx.printer.warn(
        `${someOf(also)} ${also.length === 1 ? 'is a context' : 'are contexts'} of the same cluster as ${name}: it is planned once, as ${name}`,
      )
  const planned = await inParallel(open, parallelOf(options.parallel), (one) => planOf(one, options, rule))
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
    ...(rule && { alerts: rule }),
    clusters: [...lost, ...planned],
  }
  ensureAllPlanned(cx, document, members)
  const seal = {
    uid: randomUUID(),
    at: ownClock(cx.clock).now().toISOString(),
    by: cx.world.who,
    kvup: cx.world.version,
  }
  return sealFleet(document, seal)
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

/** Throws `usage` for --alerts without what needs it. */
function alertRule({ stopOnAlert, alerts }: FleetPlanOptions): AlertRule | undefined {
  if (stopOnAlert !== undefined) return { atLeast: stopOnAlert, by: alerts ?? 'proxy' }
  if (alerts === undefined) return undefined
  throw usageError('contradiction', '--alerts says how alerts are read, and no alert ends this run', {
    remedy: 'add --stop-on-alert critical, or leave out --alerts',
  })
}

/** What fires before anything is done. Throws `blocked` where nobody knows: a rule that cannot be applied stops nothing. */
async function firingBefore({ cx }: OpenMember, rule: AlertRule): Promise<readonly string[]> {
  const fired = await countedAlerts((await cx.cluster()).reader, rule)
  if ('firing' in fired) return fired.firing
  throw blocked('alerts-not-read', `--stop-on-alert cannot be followed: ${fired.why}`, {
    remedy:
      rule.by === 'proxy'
        ? "add --alerts=route, which sends your token to the platform's own thanos-querier"
        : 'leave out --stop-on-alert for a fleet with this cluster',
  })
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
    `the plan is not sealed: ${someOf(names)} cannot be upgraded so: ${bad.error.message}`,
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

const mindOf = ({ wave, windows, accept }: FleetMember): string => JSON.stringify([wave, windows, accept])

/** Throws `usage` where contexts of one cluster are to be treated differently: only one of them would be. */
function ensureOneMind({ member, place }: OpenMember, members: readonly FleetMember[]): void {
  const other = members.find((one) => place.also?.includes(one.context) && mindOf(one) !== mindOf(member))
  if (other === undefined) return
  throw usageError(
    'contradiction',
    `${member.name} and ${other.name} are one cluster, and the fleet has another wave, time window or accepted risk for each`,
    { remedy: 'leave one of the two contexts out of the fleet' },
  )
}

/** A path that is not whole is one from the plan's own folder, so that both can be moved together. */
const besidePlan = (kubeconfig: string, toFile: string | undefined): string =>
  toFile === undefined || isAbsolute(kubeconfig) ? kubeconfig : relative(dirname(toFile), kubeconfig)

async function planOf(
  one: OpenMember,
  options: FleetPlanOptions,
  rule: AlertRule | undefined,
): Promise<PlannedCluster> {
  const { member, place, cx } = one
  const { name, context, kubeconfig, windows } = member
  const heard = listening(cx)
  const cluster = {
    name,
    context,
    ...(kubeconfig !== undefined && { kubeconfig: besidePlan(kubeconfig, options.toFile) }),
    uid: place.uid ?? '',
    windows,
  }
  const { contexts: _, file: __, toFile: ___, exitCode: ____, ...asked } = options
  try {
    await showPlan(heard.cx, { ...asked, accept: acceptedBy(member, options.accept) })
    const plan = heard.documents.at(-1) as PlanDocument | undefined
    if (plan?.seal === undefined) throw blocked('not-sealed', 'its plan cannot be sealed')
    const firing = rule && (await firingBefore(one, rule))
    return { ...cluster, ...(firing && { firing }), plan }
  } catch (error) {
    if (!(error instanceof KvupError) || cx.signal.aborted) throw error
    const { exitCode: code, reason, message, remedy } = error
    return {
      ...cluster,
      error: { code, reason, message, ...(remedy.length > 0 && { remedy: linesFor(member, remedy) }) },
    }
  }
}
