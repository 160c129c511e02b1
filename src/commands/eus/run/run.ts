import type { Context } from '../../../context.ts'
import { eusProcedure } from '../../../lib/eus/run/procedure.ts'
import type { SealedPlan } from '../../../lib/seal/read-sealed.ts'
import { usageError } from '../../../lib/system/errors.ts'
import type { ExitCode } from '../../../lib/system/exit-codes.ts'
import { ensureLimits } from '../../upgrade/options.ts'
import { type EusRunOptions, limitsOf, requestOf } from '../run-flags.ts'
import { type SeenWindow, seeWindow } from '../see-window.ts'
import { announceWindow } from './announce.ts'
import { carryOutWindow } from './carry-out-window.ts'
import { gatingFindings } from './gating.ts'
import { asPlanned, ensureEusFits, readEusPlan, withSealedHops } from './sealed.ts'

/** `kvup eus run`: from where the cluster stands to the end of the window; what is under way goes on. With `--plan` exactly that plan, or nothing. */
export async function eusRun(cx: Context, typed: EusRunOptions): Promise<ExitCode> {
  const { plan: file } = typed
  if (file === undefined) return runWindow(cx, typed)
  if (file === '-' && !cx.flags.yes)
    throw usageError('contradiction', 'standard input cannot carry both the plan and your answer', {
      remedy: 'add --yes, or pass the plan as a file',
    })
  const sealed = await readEusPlan(cx, file)
  return runWindow(cx, asPlanned(typed, sealed), sealed)
}

async function runWindow(cx: Context, options: EusRunOptions, sealed?: SealedPlan): Promise<ExitCode> {
  const request = requestOf(options)
  ensureLimits(options)
  const looked = await seeWindow(cx, options, request)
  const seen = sealed ? withSealedHops(looked, sealed) : looked
  return carryOutWindow(cx, seen, {
    procedure: eusProcedure(seen.window),
    findings: gatingFindings(seen.planned.plan.findings, { isOpen: seen.open !== undefined }),
    question: questionOf(seen),
    limits: limitsOf(options, cx.clock.now()),
    dryRun: options.dryRun,
    end: 'done',
    announce: () => announceWindow(cx, seen),
    ...(sealed && { sealed: sealed.seal.uid, ensureFits: () => ensureEusFits(cx, seen, sealed) }),
  })
}

function questionOf({ window, planned, open }: SeenWindow): string {
  const { from } = planned.plan
  return open === undefined
    ? `Take the platform from ${from} to ${window.to}?`
    : `Go on to ${window.to}, from ${from}?`
}
