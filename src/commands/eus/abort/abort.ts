import type { Context } from '../../../context.ts'
import { type AbortState, abortProcedure, abortState } from '../../../lib/eus/abort/procedure.ts'
import type { ReadContext } from '../../../lib/procedure/step.ts'
import type { ExitCode } from '../../../lib/system/exit-codes.ts'
import { ensureLimits } from '../../upgrade/options.ts'
import { ensureDeducible } from '../deduced.ts'
import { carryOutWindow } from '../run/carry-out-window.ts'
import { type EusRunOptions, limitsOf, requestOf } from '../run-flags.ts'
import { type SeenWindow, seeWindow } from '../see-window.ts'

/** `kvup eus abort`: gives back what is borrowed, by where the window stands (night E2); what cannot be undone is listed before the question. */
export async function eusAbort(cx: Context, options: EusRunOptions): Promise<ExitCode> {
  const request = requestOf(options)
  ensureLimits(options)
  const seen = await seeWindow(cx, options, request)
  ensureDeducible(seen)
  const reading: ReadContext = {
    reader: seen.cluster.reader,
    clock: cx.clock,
    journal: seen.hands.journal,
  }
  const state = await abortState(seen.window, reading)
  const lasting = cannotBeUndone(state, seen)
  return carryOutWindow(cx, seen, {
    procedure: abortProcedure(seen.window, seen.loans),
    findings: [],
    question: `End the window to ${seen.window.to} at ${state.at}, and give back what is borrowed?`,
    limits: limitsOf(options, cx.clock.now()),
    dryRun: options.dryRun,
    end: 'aborted',
    announce: () => lasting.forEach((line) => cx.printer.note(line)),
    notes: lasting,
  })
}

/** Said before the question and again at the end. */
function cannotBeUndone({ from, at, accepted }: AbortState, { window }: SeenWindow): readonly string[] {
  if (!accepted) return ['no hop was accepted: channel and desiredUpdate go back as well']
  return [
    `not undone: the platform stays at ${at}, it does not go back to ${from}`,
    `not undone: the operator follows to ${at}, and OLM knows no way back`,
    'not undone: the channel, which would lead past an accepted hop, and what HyperConverged rewrites of its own spec when it is upgraded',
    `nodes of paused pools roll to ${at} once they are unpaused: their VMs move`,
    ...(window.plan.methods.length === 0 ? ['no workload update methods were kept'] : []),
  ]
}
