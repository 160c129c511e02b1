import type { Context } from '../../context.ts'
import { abortProcedure, abortState } from '../../lib/eus/abort-procedure.ts'
import { eusReportView } from '../../lib/output/views/eus/eus-report.ts'
import type { ReadContext } from '../../lib/engine/step.ts'
import type { ExitCode } from '../../lib/kube/errors.ts'
import { connectedTo, askingIn } from './window-command.ts'
import { endOf, vmsAccess, vmsText, vmsToRestore, workOnWindow } from '../../lib/eus/run/window-run.ts'
import { ensureDeducible, seeWindow } from '../../lib/eus/run/window-snapshot.ts'
import { limitsBefore } from '../change-options.ts'
import { type EusRunOptions, requestOf } from '../../lib/eus/run/eus-options.ts'
import {
  restoredText,
  timeAndApproval,
  armedByOthers,
  beforehand,
  afterwards,
} from '../../lib/eus/run/abort-lines.ts'

/** `kvup eus abort`: gives back what is borrowed, by where the window stands (night E2); what cannot be undone is listed before the question. */
export async function eusAbort(cx: Context, options: EusRunOptions): Promise<ExitCode> {
  const request = requestOf(options, cx.world.commandLine)
  const limits = await limitsBefore(cx, options)
  const windowSnapshot = await seeWindow(cx, options, request, askingIn(cx, options))
  ensureDeducible(windowSnapshot)
  const reading: ReadContext = {
    reader: windowSnapshot.cluster.reader,
    clock: cx.clock,
    journal: windowSnapshot.environment.journal,
  }
  const state = await abortState(windowSnapshot.window, reading)
  const machines = await vmsToRestore(cx, windowSnapshot.cluster.reader)
  const theirs = await armedByOthers(windowSnapshot)
  const where = await connectedTo(cx)
  const since = cx.clock.now().toISOString()
  const { report, code } = await workOnWindow(cx, windowSnapshot, {
    procedure: abortProcedure(windowSnapshot.window, { loans: windowSnapshot.loans, machines }),
    gate: () => undefined,
    question: `End the window to ${windowSnapshot.window.to} at ${state.at}, and give back what is borrowed?`,
    limits,
    dryRun: options.dryRun,
    end: 'aborted',
    alsoNeeds: vmsAccess(machines),
    announce: () =>
      [
        ...where,
        ...restoredText(windowSnapshot.loans, state),
        ...beforehand(state, windowSnapshot),
        ...theirs,
        ...vmsText(machines),
        ...timeAndApproval(windowSnapshot, state),
      ].forEach((line) => cx.printer.note(line)),
  })
  const ran = report.outcome !== 'rehearsed' && report.outcome !== 'nothing-to-do'
  const notes = ran ? [...(await afterwards(state, windowSnapshot, since)), ...report.notes] : report.notes
  cx.printer.result({ ...report, notes }, eusReportView)
  return endOf(report, code)
}
