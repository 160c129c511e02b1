import type { Context } from '../context.ts'
import { type Accepting, type Finding, parseAccepted, passGate } from '../lib/checks/check-definition.ts'
import type { AcceptedRisk } from '../lib/checks/check-run.ts'
import { type Ended, performChange, type Performing } from '../lib/engine/change.ts'
import type { Journal } from '../lib/engine/journal.ts'
import { settleMissingValues } from '../lib/engine/missing-values.ts'
import { type ExitCode, exitCode } from '../lib/kube/errors.ts'
import type { Document, View } from '../lib/output/printer.ts'

/** A change, and how the command tells of it. */
interface ChangeRun<D extends Document> extends Performing {
  view: View<D>
  /** The document of its end. */
  report(end: Ended): D | Promise<D>
  /** Of the document that was printed; throws where it tells of something that is no success. Absent: 0. */
  end?(document: D, end: Ended): ExitCode
  /** A dry run of it tells what stands against it, and is not refused for it. */
  refusesNoDryRun?: true
}

/** The one way of every command that changes something: dry run, or gate, question, lock and run; then its document and its exit code. Throws what `carryOut` throws. */
export async function runChange<D extends Document>(cx: Context, run: ChangeRun<D>): Promise<ExitCode> {
  const ended = await performChange(run)
  const document = await run.report(ended)
  cx.printer.result(document, run.view)
  if (ended.is === 'dry-run' && !run.refusesNoDryRun) run.change.gate()
  return run.end === undefined ? exitCode.done : run.end(document, ended)
}

/** What keeps a change from being made: these findings, but for those that were accepted. */
export const gateOf =
  (findings: readonly Finding[], accepted: readonly AcceptedRisk[], accepting?: Accepting) => (): void =>
    passGate(findings, accepted, accepting)

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
