import type { Context } from '../../../context.ts'
import { standingParts } from '../../../lib/facts/snapshot.ts'
import {
  type WorkloadsUpdateDocument,
  workloadsUpdateView,
} from '../../../lib/output/views/workloads-update.ts'
import type { Procedure, ReadContext } from '../../../lib/procedure/step.ts'
import { knownReleases } from '../../../lib/releases/releases.ts'
import { runProcedure } from '../../../lib/procedure/run.ts'
import { carryOut, type Work } from '../../../lib/run/carry-out.ts'
import { parseAccepted, passGate } from '../../../lib/run/gate.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { settledFor } from '../../../lib/upgrade/steps/settled.ts'
import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import { minutes } from '../../../lib/system/units.ts'
import { cancelProcedure } from '../../../lib/workloads/update/cancel.ts'
import { guardProcedure } from '../../../lib/workloads/update/guard.ts'
import type { UpdateWanted } from '../../../lib/workloads/update/wanted.ts'
import { failureOf, outcomeOf } from '../../../lib/workloads/update/report.ts'
import { Rollout } from '../../../lib/workloads/update/rollout.ts'
import { updateProcedure, wavesLeft } from '../../../lib/workloads/update/update-procedure.ts'
import type { Wave } from '../../../lib/workloads/waves/waves.ts'
import { rehearsed } from '../dry-run.ts'
import { seeSettings, type SettingsWork } from '../settings-work.ts'
import { withResume } from '../with-resume.ts'
import { announce } from './announce.ts'
import { updateFindings } from './findings.ts'
import { type Typed, typedUpdate, type UpdateOptions } from './options.ts'
import { updateRights } from './rights.ts'

/** Moves outdated VMs in order. Exit 3 where a rule stopped it, and where VMs failed although it went on. */
export async function update(cx: Context, options: UpdateOptions): Promise<ExitCode> {
  const typed = typedUpdate(options, cx.flags.namespace, cx.clock.now())
  const seen = await seeSettings(cx, { parts: standingParts, takeOver: options.takeOver })
  const rollout = new Rollout(wantedOf(typed, options, seen), {
    began: cx.clock.now().getTime(),
    releases: knownReleases,
  })
  const whole = { options, typed, seen, rollout }
  const running: Running = { cx, ...whole, procedure: procedureOf(cx, whole) }
  const work = await workOf(running)
  const dry = await rehearsed(cx, running.procedure, { hands: seen.hands, dryRun: options.dryRun })
  if (dry) {
    cx.printer.result(await documentOf(running, 'rehearsed', dry), workloadsUpdateView)
    passGate(work.findings, work.accepted)
    return exitCode.done
  }
  const document = await carriedOut(running, work)
  cx.printer.result(document, workloadsUpdateView)
  const failure = failureOf(document.totals)
  if (failure) throw failure
  return exitCode.done
}

/** What KubeVirt itself shuts down is told of as well. */
function wantedOf(
  { wanted }: Typed,
  { watchOnly }: UpdateOptions,
  { owner, holding }: SettingsWork,
): UpdateWanted {
  return watchOnly ? { ...wanted, restart: methodsIn(holding, owner).includes('Evict') } : wanted
}

export interface Running {
  cx: Context
  options: UpdateOptions
  typed: Typed
  seen: SettingsWork
  rollout: Rollout
  procedure: Procedure
}

function procedureOf(
  { world: { who } }: Context,
  { seen: { owner }, rollout, typed: { timeoutMs }, options }: Omit<Running, 'cx' | 'procedure'>,
): Procedure {
  if (options.watchOnly) return guardProcedure({ owner, rollout, who, timeoutMs })
  const settled = (id: string, title: string) => settledFor(owner.kubevirt, { id, title, settleMs: 0 })
  return updateProcedure({ owner, rollout, who, timeoutMs, settled })
}

async function workOf(running: Running): Promise<Work & { waves: readonly Wave[] }> {
  const { rollout, procedure, seen, typed, options } = running
  const reading = readingOf(running)
  const look = await rollout.look(reading)
  return {
    waves: await wavesLeft(reading, rollout, look),
    procedure,
    findings: options.watchOnly ? [] : await updateFindings(look, seen),
    accepted: parseAccepted(options.accept),
    rights: updateRights(seen.owner, {
      restart: typed.wanted.restart,
      cancels: options.cancelRunning === true,
      watchOnly: options.watchOnly === true,
    }),
    question: options.watchOnly
      ? 'Follow the workload updates of KubeVirt, and hold them should they do harm?'
      : questionOf([...look.fleet.candidates.values()].map(({ by }) => by)),
    limits: { timeoutMs: typed.timeoutMs },
  }
}

function questionOf(moves: readonly ('migration' | 'restart')[]): string {
  const restarts = moves.filter((by) => by === 'restart').length
  const migrations = `Migrate ${moves.length - restarts} VMs`
  return restarts > 0 ? `${migrations} and restart ${restarts}, which interrupts them?` : `${migrations}?`
}

/** What was done is told, however it ended. */
async function carriedOut(
  running: Running,
  work: Work & { waves: readonly Wave[] },
): Promise<WorkloadsUpdateDocument> {
  const { cx, seen } = running
  let began = false
  const hands = {
    ...seen.hands,
    announce: () => announce(cx, running, work.waves),
    emit: (event: Parameters<typeof seen.hands.emit>[0]) => {
      if (event.kind === 'run-started') began = true
      seen.hands.emit(event)
    },
  }
  try {
    const outcome = await withResume(cx, carryOut(work, hands))
    return await documentOf(running, outcome.is === 'nothing-to-do' ? 'nothing-to-do' : 'done')
  } catch (error) {
    if (began && error instanceof KvupError) await afterwards(running, error)
    throw error
  }
}

/** The running migrations go on by themselves, unless they are to be cancelled. */
async function afterwards(running: Running, { exitCode: code }: KvupError): Promise<void> {
  const { cx, options, seen, rollout } = running
  try {
    const interrupted = code === exitCode.interrupted || code === exitCode.terminated
    if (options.cancelRunning && interrupted)
      await runProcedure(cancelProcedure(rollout.began), {
        ...seen.hands,
        signal: new AbortController().signal,
        limits: { timeoutMs: 1 * minutes },
      })
    if (rollout.known.size > 0) cx.printer.result(await documentOf(running, 'stopped'), workloadsUpdateView)
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
  outcome: WorkloadsUpdateDocument['outcome'],
  dry: Pick<WorkloadsUpdateDocument, 'dryRun' | 'steps'> = {},
): Promise<WorkloadsUpdateDocument> {
  const { name, namespace } = running.seen.installation
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadsUpdate',
    kubevirt: { name, namespace },
    outcome,
    ...dry,
    ...(await outcomeOf(readingOf(running), running.rollout)),
  }
}
