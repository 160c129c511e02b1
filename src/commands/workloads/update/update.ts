import type { Context } from '../../../context.ts'
import { standingParts } from '../../../lib/facts/snapshot.ts'
import {
  type WorkloadsUpdateDocument,
  workloadsUpdateView,
} from '../../../lib/output/views/workloads-update.ts'
import type { Procedure, ReadContext } from '../../../lib/procedure/step.ts'
import { knownReleases } from '../../../lib/releases/releases.ts'
import { carryOut, type Work } from '../../../lib/run/carry-out.ts'
import { parseAccepted, passGate } from '../../../lib/run/gate.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { settledFor } from '../../../lib/upgrade/steps/settled.ts'
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
  const rollout = new Rollout(typed.wanted, { began: cx.clock.now().getTime(), releases: knownReleases })
  const running: Running = {
    cx,
    options,
    typed,
    seen,
    rollout,
    procedure: procedureOf(cx, { seen, rollout, typed }),
  }
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

export interface Running {
  cx: Context
  options: UpdateOptions
  typed: Typed
  seen: SettingsWork
  rollout: Rollout
  procedure: Procedure
}

function procedureOf(
  { world }: Context,
  { seen, rollout, typed }: Pick<Running, 'seen' | 'rollout' | 'typed'>,
): Procedure {
  const { owner } = seen
  return updateProcedure({
    owner,
    rollout,
    who: world.who,
    timeoutMs: typed.timeoutMs,
    settled: (id, title) => settledFor(owner.kubevirt, { id, title, settleMs: 0 }),
  })
}

async function workOf(running: Running): Promise<Work & { waves: readonly Wave[] }> {
  const { rollout, procedure, seen, typed, options } = running
  const reading = readingOf(running)
  const look = await rollout.look(reading)
  return {
    waves: await wavesLeft(reading, rollout, look),
    procedure,
    findings: await updateFindings(look, seen),
    accepted: parseAccepted(options.accept),
    rights: updateRights(seen.owner, typed.wanted),
    question: questionOf([...look.fleet.candidates.values()].map(({ by }) => by)),
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
  const { cx, seen, rollout } = running
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
    if (began && error instanceof KvupError && rollout.known.size > 0) await tellHowFar(running)
    throw error
  }
}

async function tellHowFar(running: Running): Promise<void> {
  try {
    running.cx.printer.result(await documentOf(running, 'stopped'), workloadsUpdateView)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    running.cx.printer.warn(`how far it got cannot be read: ${error.message}`)
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
