import type { Context } from '../../../context.ts'
import { standingParts } from '../../../lib/facts/snapshot.ts'
import {
  type WorkloadsUpdateDocument,
  workloadsUpdateView,
} from '../../../lib/output/views/workloads-update.ts'
import type { Procedure, ReadContext } from '../../../lib/procedure/step.ts'
import { knownReleases } from '../../../lib/releases/releases.ts'
import { runProcedure } from '../../../lib/procedure/run.ts'
import type { Work } from '../../../lib/run/carry-out.ts'
import { settleMissingValues } from '../../../lib/run/missing-values.ts'
import { parseAccepted, passGate } from '../../../lib/run/gate.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { settledFor } from '../../../lib/upgrade/steps/settled.ts'
import { minutes } from '../../../lib/system/units.ts'
import { cancelProcedure } from '../../../lib/workloads/update/cancel.ts'
import { guardProcedure } from '../../../lib/workloads/update/guard.ts'
import { failureOf, outcomeOf } from '../../../lib/workloads/update/report.ts'
import { UpdateRun } from '../../../lib/workloads/update/update-run.ts'
import { updateProcedure, wavesLeft } from '../../../lib/workloads/update/update-procedure.ts'
import type { Unread } from '../../../lib/workloads/migrations/ledger.ts'
import { heldLines } from '../../../lib/workloads/held-lines.ts'
import { loanId } from '../../../lib/workloads/update-methods.ts'
import { shownWaves } from '../../../lib/workloads/waves/shown-waves.ts'
import type { Wave } from '../../../lib/workloads/waves/waves.ts'
import { rehearsed } from '../dry-run.ts'
import { loanOn } from '../../../lib/workloads/loan-on.ts'
import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import { updateName } from '../../../lib/workloads/update/update-procedure.ts'
import { seeSettings, type SettingsWork } from '../settings-work.ts'
import { withResume } from '../with-resume.ts'
import { announce } from './announce.ts'
import { endOfRun } from '../../waves/end-of-run.ts'
import { updateFindings } from './findings.ts'
import { namespacesOf, narrowed } from '../../waves/narrowed.ts'
import { ensureWindowOpens } from '../../waves/wave-options.ts'
import { warnOfWaves } from '../../waves/waves-without-vms.ts'
import { noSuchPlace } from '../no-such-place.ts'
import { type TypedUpdate, typedUpdate, type UpdateOptions } from './options.ts'
import { oneNamespaceHelps, partlyUnread } from '../../partly-unread.ts'
import { questionOf } from './question.ts'
import { updateRights } from './rights.ts'
import { throughTheEnd } from './through-the-end.ts'
import { wantedOf } from './wanted.ts'

/** Moves outdated VMs in order. Exit 3 where a rule stopped it, and where VMs failed although it went on. */
export async function update(cx: Context, options: UpdateOptions): Promise<ExitCode> {
  const typed = typedUpdate(options, cx.flags.namespace)
  const seen = await seeSettings(cx, { parts: standingParts, takeOver: options.takeOver })
  const now = cx.clock.now()
  ensureWindowOpens(typed, now)
  const run = new UpdateRun(wantedOf(typed, options, seen), {
    began: now.getTime(),
    releases: knownReleases,
    once: isDry(options),
  })
  // KubeVirt's own updater is followed by the step that guards it.
  if (!isDry(options) && !options.watchOnly) run.follow({ reader: seen.cluster.reader, clock: cx.clock })
  try {
    return await updated(cx, { options, typed, seen, run })
  } finally {
    run.unfollow()
  }
}

const isDry = ({ dryRun = 'none' }: UpdateOptions) => dryRun !== 'none'

async function updated(cx: Context, whole: Omit<Running, 'cx' | 'procedure'>): Promise<ExitCode> {
  const { options, seen, run } = whole
  const running: Running = { cx, ...whole, procedure: procedureOf(cx, whole) }
  const work = await workOf(running).catch((error: unknown) => {
    throw oneNamespaceHelps(error, 'kvup workloads update', run.wanted.selection)
  })
  warnOfWaves(cx, run.wanted, work.waves)
  const dry = await rehearsed(cx, running.procedure, {
    hands: seen.hands,
    dryRun: options.dryRun,
    limits: work.limits,
  })
  if (dry) {
    const waves = shownWaves(work.waves, run.wanted.waveBy)
    const rehearsal = await documentOf(running, { outcome: 'rehearsed', ...dry, waves })
    cx.printer.result(rehearsal, workloadsUpdateView)
    passGate(work.findings, work.accepted)
    return ended(rehearsal)
  }
  await settleMissingValues(seen.hands.journal, { prompt: cx.prompt, accepted: work.accepted, only: loanId })
  const document = await carriedOut(running, work)
  cx.printer.result(document, workloadsUpdateView)
  const failure = failureOf(document.totals, document.selection)
  if (failure) throw failure
  return ended(document)
}

/** Never a plain 0 where VMs could not be seen (contract: a part is said to be one). */
function ended({ unread }: WorkloadsUpdateDocument): ExitCode {
  const refusal = partlyUnread(unread)
  if (refusal) throw refusal
  return exitCode.done
}

/** What is to be done, in which waves, and what could not be seen. */
export interface UpdateWork extends Work {
  waves: readonly Wave[]
  unread: readonly Unread[]
}

export interface Running {
  cx: Context
  options: UpdateOptions
  typed: TypedUpdate
  seen: SettingsWork
  run: UpdateRun
  procedure: Procedure
}

function procedureOf(
  { world: { who } }: Context,
  { seen: { owner }, run, typed: { timeoutMs }, options }: Omit<Running, 'cx' | 'procedure'>,
): Procedure {
  if (options.watchOnly) return guardProcedure({ owner, run: run, who, timeoutMs })
  const settled = (id: string, title: string) => settledFor(owner.kubevirt, { id, title, settleMs: 0 })
  return updateProcedure({ owner, run, who, timeoutMs, settled })
}

async function workOf(running: Running): Promise<UpdateWork> {
  const { run, procedure, seen, typed, options } = running
  const reading = readingOf(running)
  const look = await run.look(reading)
  const { candidates, unread } = look.fleet
  if (candidates.size + look.fleet.left.size + unread.length === 0)
    for (const remark of await noSuchPlace(seen, run.wanted.selection)) running.cx.printer.warn(remark)
  const namespaces = namespacesOf(candidates.keys(), {
    namespace: run.wanted.selection.namespace,
    partly: unread.length > 0,
  })
  const rights = updateRights(seen.owner, {
    restart: typed.wanted.restart,
    cancels: options.cancelRunning === true,
    watchOnly: options.watchOnly === true,
    holds: await holdsUpdates(seen),
  })
  const { until, pauseBefore } = options
  return {
    waves: await wavesLeft(reading, run, look),
    unread,
    procedure,
    findings: options.watchOnly ? [] : await updateFindings(look, seen, run.wanted.selection),
    accepted: parseAccepted(options.accept),
    rights: narrowed(rights, namespaces),
    question: options.watchOnly
      ? 'Follow the workload updates of KubeVirt, and hold them should they do harm?'
      : questionOf([...candidates.values()].map(({ by }) => by)),
    limits: { timeoutMs: typed.timeoutMs, until, pauseBefore },
  }
}

/** What was done is told, however it ended. */
async function carriedOut(running: Running, work: UpdateWork): Promise<WorkloadsUpdateDocument> {
  const { cx, seen } = running
  let began = false
  const hands = {
    ...seen.hands,
    announce: () => announce(cx, running, work),
    emit: (event: Parameters<typeof seen.hands.emit>[0]) => {
      if (event.kind === 'run-started') began = true
      seen.hands.emit(event)
    },
  }
  try {
    const outcome = await withResume(cx, throughTheEnd(work, hands))
    const held = (await seen.hands.journal.loans()).find(({ id }) => id === loanId)
    const borrowed = heldLines(held, '     gives workload updates back to KubeVirt')
    return await documentOf(running, endOfRun(cx, outcome, borrowed))
  } catch (error) {
    if (began && error instanceof KvupError) await afterwards(running, error)
    throw error
  }
}

/** The running migrations go on by themselves, unless they are to be cancelled. */
async function afterwards(running: Running, { exitCode: code }: KvupError): Promise<void> {
  const { cx, options, seen, run } = running
  try {
    const interrupted = code === exitCode.interrupted || code === exitCode.terminated
    if (options.cancelRunning && interrupted)
      await runProcedure(cancelProcedure(run.began), {
        ...seen.hands,
        signal: new AbortController().signal,
        limits: { timeoutMs: 1 * minutes },
      })
    if (run.known.size > 0)
      cx.printer.result(await documentOf(running, { outcome: 'stopped' }), workloadsUpdateView)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    cx.printer.warn(`how far it got cannot be told: ${error.message}`)
  }
}

function readingOf({ cx: { clock }, seen: { cluster, hands } }: Running): ReadContext {
  return { reader: cluster.reader, clock, journal: hands.journal }
}

async function documentOf(
  running: Running,
  end: Pick<WorkloadsUpdateDocument, 'outcome' | 'dryRun' | 'steps' | 'waves' | 'stoppedBefore' | 'next'>,
): Promise<WorkloadsUpdateDocument> {
  const { name, namespace } = running.seen.installation
  // The report is of a fresh list: nothing is looked at behind it.
  running.run.unfollow()
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadsUpdate',
    kubevirt: { name, namespace },
    selection: running.run.wanted.selection,
    ...end,
    ...(await outcomeOf(readingOf(running), running.run)),
  }
}

/** False while somebody else holds them: then the update leaves them as they are. */
async function holdsUpdates({ owner, holding, hands }: SettingsWork): Promise<boolean> {
  if (methodsIn(holding, owner).length > 0) return true
  return loanOn(owner, await hands.journal.loans())?.procedure === updateName
}
