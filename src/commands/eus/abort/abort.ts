import type { Context } from '../../../context.ts'
import { abortState } from '../../../lib/eus/abort/abort-state.ts'
import { abortProcedure } from '../../../lib/eus/abort/procedure.ts'
import { eusReportView } from '../../../lib/output/views/eus-report.ts'
import type { ReadContext } from '../../../lib/procedure/step.ts'
import type { ExitCode } from '../../../lib/system/exit-codes.ts'
import { limitsBefore } from '../../limits-before.ts'
import { connectedTo } from '../connected-to.ts'
import { ensureDeducible } from '../deduced.ts'
import { endOf, workOnWindow } from '../run/carry-out-window.ts'
import { type EusRunOptions, requestOf } from '../run-flags.ts'
import { askingIn, seeWindow } from '../see-window.ts'
import { givenBackText, timeAndApproval } from './what-goes-back.ts'
import { machinesToGiveBack, machinesAccess, machinesText } from '../machines-to-give-back.ts'
import { afterwards, armedByOthers, beforehand } from './what-stays.ts'

/** `kvup eus abort`: gives back what is borrowed, by where the window stands (night E2); what cannot be undone is listed before the question. */
export async function eusAbort(cx: Context, options: EusRunOptions): Promise<ExitCode> {
  const request = requestOf(options, cx.world.commandLine)
  const limits = await limitsBefore(cx, options)
  const seen = await seeWindow(cx, options, request, askingIn(cx, options))
  ensureDeducible(seen)
  const reading: ReadContext = {
    reader: seen.cluster.reader,
    clock: cx.clock,
    journal: seen.hands.journal,
  }
  const state = await abortState(seen.window, reading)
  const machines = await machinesToGiveBack(cx, seen.cluster.reader)
  const theirs = await armedByOthers(seen)
  const where = await connectedTo(cx)
  const since = cx.clock.now().toISOString()
  const { report, code } = await workOnWindow(cx, seen, {
    procedure: abortProcedure(seen.window, { loans: seen.loans, machines }),
    findings: [],
    question: `End the window to ${seen.window.to} at ${state.at}, and give back what is borrowed?`,
    limits,
    dryRun: options.dryRun,
    end: 'aborted',
    alsoNeeds: machinesAccess(machines),
    announce: () =>
      [
        ...where,
        ...givenBackText(seen.loans, state),
        ...beforehand(state, seen),
        ...theirs,
        ...machinesText(machines),
        ...timeAndApproval(seen, state),
      ].forEach((line) => cx.printer.note(line)),
  })
  const ran = report.outcome !== 'rehearsed' && report.outcome !== 'nothing-to-do'
  const notes = ran ? [...(await afterwards(state, seen, since)), ...report.notes] : report.notes
  cx.printer.result({ ...report, notes }, eusReportView)
  return endOf(report, code)
}
