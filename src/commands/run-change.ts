import type { Context } from '../context.ts'
import { type Accepting, type Finding, passGate } from '../lib/checks/check-definition.ts'
import { type AcceptedRisk, parseAccepted } from '../lib/releases/hop-findings.ts'
import {
  carryOut,
  type Change,
  type DryRun,
  type DryRunFields,
  dryRunOf,
  type Performing,
  settleMissingValues,
} from '../lib/engine/change.ts'
import type { RunOutcome } from '../lib/engine/step.ts'
import type { Journal } from '../lib/engine/journal.ts'
import { type ExitCode, exitCode } from '../lib/kube/errors.ts'
import type { Document, View } from '../lib/output/printer.ts'

/** A change, and how the command tells of it. */
interface ChangeRun<D extends Document> extends Omit<Performing, 'dryRun'> {
  view: View<D>
  /** The document of its end. */
  report: (outcome: RunOutcome) => D | Promise<D>
  /** Absent: the command shows in its own way what it would do. */
  dryRun?: {
    mode: DryRun | undefined
    report: (fields: DryRunFields) => D | Promise<D>
    /** It only tells what stands against the change, and is not refused for it. */
    refusesNothing?: true
    /** As `end` of the run. */
    end?: (document: D) => ExitCode
  }
  /** Of the document that was printed; throws where it tells of something that is no success. Absent: 0. */
  end?: (document: D, outcome: RunOutcome) => ExitCode | Promise<ExitCode>
}

/** The one way of every command that changes something: dry run, or gate, question, lock and run; then its document and its exit code. Throws what `carryOut` throws. */
export async function runChange<D extends Document>(cx: Context, run: ChangeRun<D>): Promise<ExitCode> {
  const { dryRun, report, view, end = () => exitCode.done } = run
  const dry = dryRun && (await dryRunOf(run.change, run.environment, dryRun.mode))
  if (dryRun && dry) {
    const document = await dryRun.report(dry.fields)
    cx.printer.result(document, view)
    if (!dryRun.refusesNothing) run.change.gate()
    return dryRun.end?.(document) ?? exitCode.done
  }
  const outcome = await carryOut(run)
  const document = await report(outcome)
  cx.printer.result(document, view)
  return end(document, outcome)
}

/** What keeps a change from being made: these findings, but for those that were accepted, which the journal keeps. */
export const gateOf = (
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
  accepting?: Accepting,
): Pick<Change, 'gate' | 'accepted'> => ({
  gate: () => passGate(findings, accepted, accepting),
  accepted,
})

/** A person is asked about saved values that are missing; `--accept saved-value-missing` leaves them. Throws `blocked`. */
export async function askAboutMissing(
  journal: Journal,
  { prompt }: Pick<Context, 'prompt'>,
  { accept, only }: { accept: readonly string[]; only?: string },
): Promise<void> {
  const accepted = parseAccepted(accept)
  await settleMissingValues(journal, {
    prompt,
    isAccepted: accepted.some(({ id }) => id === 'saved-value-missing'),
    ...(only !== undefined && { only }),
    gate: (findings) => passGate(findings, accepted),
  })
}
