import type { Context } from '../../context.ts'
import { oneNamespaceHelps, partlyUnread, statusParts } from '../../lib/kubevirt/snapshot.ts'
import { onlyOnceText, unreadText, workloadsUpdateView } from '../../lib/output/views/vms/wave-run.ts'
import {
  endOfRun,
  endWith,
  ensureNamedThere,
  ensureWindowOpens,
  namespacesOf,
  narrowed,
  pausesUpdates,
  scheduleOf,
  notMovedLines,
  questionOf,
  type TypedUpdate,
  typedUpdate,
  updateFindings,
  type UpdateOptions,
  wantedOf,
  type WaveSchedule,
  warnOfWaves,
  canaryText,
  type WorkloadsUpdateDocument,
} from '../../lib/vms/waves/wave-run.ts'
import type { Procedure, ReadContext } from '../../lib/engine/step.ts'
import { measurementOf, measureRequest } from '../../lib/availability/measurement.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { runProcedure } from '../../lib/engine/runner.ts'
import { askAboutMissing, gateOf, isPage, runChange } from '../run-change.ts'
import { type Change, withLines } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { asFarAsRead, type ExitCode, exitCode, KvupError } from '../../lib/kube/errors.ts'
import { settledFor } from '../../lib/upgrade/steps/component-rollout.ts'
import { minutes } from '../../lib/kube/clock.ts'
import { cancelProcedure } from '../../lib/vms/migrations/migration-snapshot.ts'
import { guardProcedure } from '../../lib/vms/update-guard.ts'
import { failureOf, outcomeOf, shortfallOf, UpdateRun } from '../../lib/vms/waves/update-run.ts'
import { settledAgainId, updateProcedure, updateWaves } from '../../lib/vms/waves/update-procedure.ts'
import type { Unread } from '../../lib/kube/readable-pages.ts'
import { heldLines, keptMethods, methodsText, overrideId } from '../../lib/vms/update-methods.ts'
import { forecastOutdated, resumingFindings } from '../../lib/vms/forecast/vm-forecast.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { WaveAlerts } from '../../lib/vms/waves/wave-alerts.ts'
import { shownWaves, type Wave } from '../../lib/vms/waves/waves.ts'
import { methodsIn, type SettingsOwner } from '../../lib/vms/strategy/settings-owner.ts'
import { seeSettings, writesTo } from './settings-work.ts'
import type { SettingsWork } from '../../lib/vms/strategy/set-strategy.ts'
import { restartRight } from './wave-options.ts'
import { remarkNothingFound } from '../../lib/vms/vm.ts'
import { getLockHolder, upgradeUnderWay } from '../../lib/vms/lock-holder.ts'
import { journalRuns } from '../../lib/engine/journal-runs.ts'
import { lastWriter } from '../../lib/kube/last-writer.ts'
import { Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { VirtualMachineInstanceMigrations } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import { count } from '../../lib/output/text.ts'
import { someOf } from '../../lib/kube/text.ts'

/** Moves outdated VMs in order. Exit 3 where a rule stopped it, and where VMs failed although it went on. */
export async function update(cx: Context, options: UpdateOptions): Promise<ExitCode> {
  const typed = typedUpdate(options, cx.flags.namespace)
  measureRequest(options)
  const settingsWork = await seeSettings(cx, { parts: statusParts, takeOver: options.takeOver })
  const now = cx.clock.now()
  ensureWindowOpens(typed, now)
  const run = new UpdateRun(wantedOf(typed, options, settingsWork), {
    began: now.getTime(),
    releases: knownReleases,
    once: isDry(options),
    typed: cx.world.commandLine,
  })
  // KubeVirt's own updater is followed by the step that guards it.
  if (!isDry(options) && !options.watchOnly)
    run.follow({ reader: settingsWork.cluster.reader, clock: cx.clock })
  try {
    return await updated(cx, { options, typed, settingsWork, run })
  } finally {
    run.unfollow()
  }
}

const isDry = ({ dryRun = 'none' }: UpdateOptions) => dryRun !== 'none'

async function updated(cx: Context, whole: Omit<Running, 'cx' | 'procedure'>): Promise<ExitCode> {
  const { options, settingsWork, run } = whole
  const running: Running = { cx, ...whole, procedure: procedureOf(cx, whole) }
  const work = await workOf(running).catch((error: unknown) => {
    throw oneNamespaceHelps(error, 'kvup workloads update', run.wanted.selection)
  })
  warnOfWaves(cx, run.wanted, work.waves)
  if (work.canaryText !== undefined) cx.printer.warn(work.canaryText)
  if (work.waves.length > 0 && !isDry(options) && !options.watchOnly) {
    run.alerts = new WaveAlerts(settingsWork.cluster.reader, (line) => cx.printer.warn(line))
    await run.alerts.begin()
  }
  const { journal } = settingsWork.environment
  const { namespace } = settingsWork.installation
  const measurement = measurementOf(cx, options, { cluster: settingsWork.cluster, namespace })
  return runChange(cx, {
    environment: settingsWork.environment,
    measurement,
    change: {
      ...work.change,
      announce: () => announce(cx, running, work),
      failed: (error) => withPause(error, settingsWork),
    },
    view: workloadsUpdateView,
    dryRun: {
      mode: options.dryRun,
      report: (fields) =>
        documentOf(running, {
          outcome: 'dry-run',
          ...fields,
          waves: shownWaves(work.waves, run.wanted.waveBy, work.schedule.times),
          ...(work.schedule.window && { window: work.schedule.window }),
          ...(work.schedule.schedule && { schedule: work.schedule.schedule }),
        }),
      end: readWhole,
    },
    async report(end) {
      const held = (await journal.overrides()).find(({ id }) => id === overrideId)
      const overrides = heldLines(held, '     resumes automatic VM updates')
      const paused = end.is === 'stopped-before' ? {} : await stillPaused(settingsWork, held, overrides)
      return documentOf(running, { ...endOfRun(cx, end, overrides), ...paused })
    },
    end(document) {
      const isStopped = document.stoppedBefore !== undefined && document.totals.failed === 0
      const failure = isStopped ? undefined : failureOf(document.items, run.typed, { isPage: isPage(cx) })
      if (failure) throw failure
      return readWhole(document)
    },
    settle: () => askAboutMissing(journal, cx, { accept: options.accept, only: overrideId }),
    async broken(error) {
      const document = await afterwards(running, error)
      return document && { document, view: workloadsUpdateView }
    },
  })
}

/** Where a rule stopped it automatic VM updates stay paused, or KubeVirt would move the others as it moved those that failed. */
async function withPause(error: unknown, settingsWork: SettingsWork): Promise<unknown> {
  if (!(error instanceof KvupError) || error.exitCode !== exitCode.blocked) return error
  const overrides = await asFarAsRead(settingsWork.environment.journal.overrides())
  const held = overrides?.find(({ id }) => id === overrideId)
  if (held === undefined) return error
  const resumes = heldLines(held, '     resumes automatic VM updates: KubeVirt then moves VMs by itself')
  const { next = [] } = await stillPaused(settingsWork, held, resumes)
  return withLines(error, {
    notes: [...error.notes, 'automatic VM updates stay paused'],
    remedy: [...error.remedy, ...next],
  })
}

/** Of a run that came to its end while somebody keeps automatic VM updates paused; the line that resumes them only where it is not refused. */
async function stillPaused(
  { cluster, installation }: SettingsWork,
  held: Override | undefined,
  resumes: readonly string[],
): Promise<Pick<WorkloadsUpdateDocument, 'paused' | 'next'>> {
  if (held === undefined) return {}
  const { by, at } = held
  const kept = keptMethods(held)
  const forecast = await asFarAsRead(forecastOutdated(cluster.reader, installation.kubevirt, kept))
  const isTaken = forecast !== undefined && resumingFindings(kept, forecast).length === 0
  return { paused: { by, at }, ...(isTaken && { next: resumes }) }
}

/** Never a plain 0 where VMs could not be seen (contract: a part is said to be one). */
function readWhole({ unread }: WorkloadsUpdateDocument): ExitCode {
  const refusal = partlyUnread(unread)
  if (refusal) throw refusal
  return exitCode.done
}

/** What is to be done, in which waves, and what could not be seen. */
export interface UpdateWork {
  change: Omit<Change, 'announce'>
  waves: readonly Wave[]
  schedule: WaveSchedule
  unread: readonly Unread[]
  /** What a canary is not good for, where KubeVirt moves VMs by itself. */
  canaryText?: string | undefined
  left: readonly { vm: string; why: string }[]
  leftOut: readonly string[]
}

export interface Running {
  cx: Context
  options: UpdateOptions
  typed: TypedUpdate
  settingsWork: SettingsWork
  run: UpdateRun
  procedure: Procedure
}

function procedureOf(
  { world: { who } }: Context,
  { settingsWork: { owner }, run, typed: { timeoutMs }, options }: Omit<Running, 'cx' | 'procedure'>,
): Procedure {
  if (options.watchOnly) return guardProcedure({ owner, run: run, who, timeoutMs })
  const settled = (id: string, title: string) => settledFor(owner.kubevirt, { id, title, stableMs: 0 })
  return updateProcedure({ owner, run, who, timeoutMs, settled })
}

async function workOf(running: Running): Promise<UpdateWork> {
  const { run, procedure, settingsWork, typed, options } = running
  const reading = readingOf(running)
  await ensureNamedThere(settingsWork.cluster, options, run.wanted)
  const snapshot = await run.read(reading)
  const { candidates, unread } = snapshot.fleet
  if (candidates.size === 0 && !options.watchOnly) await ensureNoUpgrade(running)
  if (candidates.size + snapshot.fleet.left.size + unread.length === 0)
    await remarkNothingFound(settingsWork, run.wanted.selection, {
      running: true,
      warn: (line) => running.cx.printer.warn(line),
    })
  const namespaces = namespacesOf(candidates.keys(), {
    namespace: run.wanted.selection.namespace,
    partly: unread.length > 0,
  })
  const rights = updateRights(settingsWork.owner, {
    restart: typed.wanted.restart,
    cancels: options.cancelRunning === true,
    watchOnly: options.watchOnly === true,
    holds: await pausesUpdates(settingsWork),
  })
  const { until, pauseBefore } = options
  const waves = await updateWaves(reading, run, snapshot)
  const findings = options.watchOnly ? [] : await updateFindings(snapshot, settingsWork, run.typed)
  const schedule = scheduleOf(waves, {
    pacing: run.pacing,
    timeoutMs: typed.timeoutMs,
    now: running.cx.clock.now(),
  })
  const leftOut = [...snapshot.fleet.left.values()].flatMap(({ vm, why, failedBefore }) =>
    failedBefore ? [`${vm} is ${why}`] : [],
  )
  return {
    waves,
    schedule,
    unread,
    canaryText: canaryText(run.wanted, {
      methods: methodsIn(settingsWork.holding, settingsWork.owner),
      outdated: candidates.size,
      ...run.movesByKubeVirt(snapshot),
    }),
    left: [...snapshot.fleet.left.values()].filter(({ failedBefore }) => failedBefore !== true),
    leftOut,
    change: {
      procedure,
      ...gateOf(running.cx, findings, parseAccepted(options.accept)),
      rights: narrowed(rights, namespaces),
      question: options.watchOnly
        ? 'Watch the automatic VM updates of KubeVirt, and pause them if they do harm?'
        : questionOf(
            [...candidates.values()].map(({ by }) => by),
            waves,
          ),
      title: options.watchOnly ? 'VM updates by KubeVirt' : 'VMs to the new virt-launcher',
      limits: { timeoutMs: typed.timeoutMs, until, pauseBefore },
      restoresAt: settledAgainId,
    },
  }
}

/** Where nothing is outdated: KubeVirt may be on its way to a version that all VMs are outdated for. */
async function ensureNoUpgrade({ cx, options, run, settingsWork }: Running): Promise<void> {
  const { cluster, environment, installation } = settingsWork
  const { kubevirt, deployment, namespace } = installation
  const holder = await getLockHolder(cx, { cluster, clock: cx.clock, saved: false }, namespace)
  const asOf = cx.clock.now().toISOString()
  const runs = journalRuns(await environment.journal.entries(), { running: holder, asOf })
  const writer =
    lastWriter(kubevirt, '/spec/imageTag') ??
    (deployment && lastWriter(deployment, '/spec/template/spec/containers'))
  const { isUpdating } = run
  const underWay = upgradeUnderWay({ isUpdating, holder, last: runs.at(-1), writer })
  if (underWay && !(underWay.exitCode === exitCode.locked && options.takeOver !== undefined)) throw underWay
}

/** The running migrations go on by themselves, unless they are to be cancelled. */
async function afterwards(
  running: Running,
  { exitCode: code }: KvupError,
): Promise<WorkloadsUpdateDocument | undefined> {
  const { cx, options, settingsWork, run } = running
  try {
    const interrupted = code === exitCode.interrupted || code === exitCode.terminated
    if (options.cancelRunning && interrupted)
      await runProcedure(cancelProcedure(run.began), {
        ...settingsWork.environment,
        signal: new AbortController().signal,
        limits: { timeoutMs: 1 * minutes },
      })
    return run.known.size > 0 ? await documentOf(running, { outcome: 'stopped' }) : undefined
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    cx.printer.warn(`kvup cannot see how far it got: ${error.message}`)
    return undefined
  }
}

function readingOf({ cx: { clock }, settingsWork: { cluster, environment } }: Running): ReadContext {
  return { reader: cluster.reader, clock, journal: environment.journal }
}

async function documentOf(
  running: Running,
  end: Pick<
    WorkloadsUpdateDocument,
    'outcome' | 'dryRun' | 'steps' | 'waves' | 'window' | 'schedule' | 'stoppedBefore' | 'paused' | 'next'
  >,
): Promise<WorkloadsUpdateDocument> {
  const { name, namespace } = running.settingsWork.installation
  // The report is of a fresh list: nothing is looked at behind it.
  running.run.unfollow()
  const reached = await outcomeOf(readingOf(running), running.run)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadsUpdate',
    kubevirt: { name, namespace },
    selection: running.run.wanted.selection,
    ...endWith(end, shortfallOf(reached.items)),
    ...reached,
  }
}

/** What an update takes: the hold, unless updates are held by somebody already (`holds`), migrations, restarts where they were asked for, and a look at launchers. */
export function updateRights(
  owner: SettingsOwner,
  {
    restart,
    cancels,
    watchOnly,
    holds,
  }: { restart: boolean; cancels: boolean; watchOnly: boolean; holds: boolean },
): ReturnType<typeof workloadsAccess> {
  return workloadsAccess(owner.ref.namespace, [
    ...(watchOnly || holds ? writesTo(owner) : []),
    ...(watchOnly ? [] : [{ kind: VirtualMachineInstanceMigrations, verb: 'create' }]),
    ...(cancels ? [{ kind: VirtualMachineInstanceMigrations, verb: 'delete' }] : []),
    { kind: Pods, verb: 'list' },
    ...(restart ? [restartRight] : []),
  ])
}

/** Before the question: what is borrowed, which VMs come when, which of them only a restart starts again, and what could not be seen. */
export function announce(
  { printer }: Context,
  { settingsWork, options, run }: Running,
  {
    waves,
    unread,
    schedule,
    left,
    leftOut,
  }: Pick<UpdateWork, 'waves' | 'unread' | 'schedule' | 'left' | 'leftOut'>,
): void {
  for (const line of unreadText(unread)) printer.warn(line)
  for (const line of leftOut) printer.warn(line)
  if (options.watchOnly) return
  for (const remark of run.remarks) printer.warn(remark)
  const methods = methodsIn(settingsWork.holding, settingsWork.owner)
  if (methods.length > 0)
    printer.note(
      `automatic VM updates (${methodsText(methods)}) are paused meanwhile, and resumed at the end`,
    )
  for (const line of [...waveCounts(waves, leftOut.length > 0), ...notMovedLines(left)]) printer.note(line)
  for (const line of schedule.schedule ?? []) printer.note(line)
  const restarts = waves.flatMap(({ vms }) => vms).filter(({ by }) => by === 'restart')
  for (const vm of run.wanted.exclude)
    if (methods.length > 0)
      printer.note(
        `${vm} is left out: KubeVirt updates it by itself (${methodsText(methods)}) once automatic VM updates resume`,
      )
  for (const { vm, onlyOnce } of restarts)
    printer.note(`restart: ${vm}${onlyOnce ? `: ${onlyOnceText}` : ''}`)
}

/** The canary by name: it decides whether the others are moved. `isOther`: one that failed before is left out. */
const waveCounts = (waves: readonly Wave[], isOther: boolean): readonly string[] =>
  waves.flatMap(({ id, vms }) => {
    if (vms.length === 0) return []
    if (id !== 'canary') return `${id}: ${count(vms.length, 'VM')}`
    return `canary: ${someOf(vms.map(({ vm }) => vm))}${isOther ? ', in place of what failed as the canary before' : ''}`
  })
