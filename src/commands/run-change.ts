import type { Context } from '../context.ts'
import { type Accepting, type Finding, isNotOffered, passGate } from '../lib/checks/check-definition.ts'
import { type AcceptedRisk, parseAccepted, unaccepted } from '../lib/releases/hop-findings.ts'
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
import type { Measurement } from '../lib/availability/measurement.ts'
import { availabilityLines } from '../lib/output/views/availability.ts'
import type { Journal } from '../lib/engine/journal.ts'
import { blocked, type ExitCode, exitCode, type KvupError } from '../lib/kube/errors.ts'
import type { Document, Paint, Printer, View } from '../lib/output/printer.ts'
import { paintFor, printedLine, sanitiseDeep } from '../lib/output/terminal.ts'
import { brief, firstClause, helpLine } from '../lib/output/text.ts'
import { shellWord, withoutFlags, wordsOf } from '../lib/kube/shell-line.ts'

/** A change, and how the command tells of it. */
interface ChangeRun<D extends Document> extends Omit<Performing, 'dryRun' | 'broken'> {
  view: View<D>
  /** What is measured beside it. */
  measurement?: Measurement | undefined
  /** The document of its end. */
  report: (outcome: RunOutcome) => D | Promise<D>
  /** The document of a run that had begun and ended early: how far it got. Undefined where there is none, or it was told. */
  broken?: (error: KvupError) => Promise<Told | undefined>
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

interface Told {
  document: Document
  view: View<Document>
  /** The run did not come to its end. */
  isEarly?: boolean
}

/** The one way of every command that changes something: dry run, or gate, question, lock and run; then its document and its exit code. Throws what `carryOut` throws. */
export async function runChange<D extends Document>(cx: Context, run: ChangeRun<D>): Promise<ExitCode> {
  const { dryRun, report, view, end = () => exitCode.done } = run
  const dry = dryRun && (await dryRunOf(run.change, run.environment, dryRun.mode))
  if (dryRun && dry) {
    const document = await dryRun.report(dry.fields)
    cx.printer.result(document, view)
    if (!dryRun.refusesNothing) await run.change.gate(false)
    return dryRun.end?.(document) ?? exitCode.done
  }
  const { measurement } = run
  let isTold = false
  const tell = (told: Told) => {
    measurement?.end()
    tellEnd(cx.printer, told, measurement)
    isTold = true
  }
  try {
    const outcome = await carryOut({
      ...run,
      environment: { ...run.environment, ...(measurement && { measurement }) },
      async broken(error) {
        const told = await run.broken?.(error)
        if (told) tell({ ...told, isEarly: true })
      },
    })
    measurement?.end()
    const document = await report(outcome)
    tell({ document, view })
    return await end(document, outcome)
  } finally {
    measurement?.end()
    if (!isTold) tellMeasured(cx, measurement)
  }
}

/** The last document of a run; that of one that ended early gets how it ended from its error. */
export function tellEnd(
  printer: Printer,
  { document, view, isEarly = false }: Told,
  measurement: Measurement | undefined,
): void {
  printer.result(...withAvailability(document, view, measurement), isEarly ? 'failed' : 'complete')
}

/** Of a run that has no document in which it would stand. */
export function tellMeasured(
  { printer, clock }: Pick<Context, 'printer' | 'clock'>,
  measurement: Measurement | undefined,
): void {
  const measured = measurement?.journaled()
  if (measured === undefined) return
  printer.event({ kind: 'remark', at: clock.now().toISOString(), text: `measured: ${measured.text}` })
}

/** A document with what was measured beside its run as the section `availability`, and a view that tells of it below. */
function withAvailability<D extends Document>(
  document: D,
  view: View<D>,
  measurement: Measurement | undefined,
): [D, View<D>] {
  if (measurement?.hasBegun !== true) return [document, view]
  const availability = measurement.report()
  return [
    { ...document, availability },
    {
      ...view,
      text: (shown, paint, size) => [
        ...view.text(shown, paint, size),
        ...availabilityLines(availability, paint, size),
      ],
    },
  ]
}

/** Whether what is shown is a page, with what helps and a next line. */
export const isPage = ({ flags: { output, quiet = false } }: Pick<Context, 'flags'>): boolean =>
  !quiet && (output === 'table' || output === 'wide')

/** A screen before a question; where nothing is laid out, as notes. */
export function tellScreen(printer: Printer, lines: (paint: Paint) => readonly string[]): void {
  if (printer.screen) return printer.screen(lines)
  for (const line of lines(paintFor({ colour: false, unicode: true }))) printer.note(printedLine(line))
}

/** Risks that a person chose from the list while a plan that does not know of them was about to be carried out. */
export class RisksChosen extends Error {
  readonly risks: readonly AcceptedRisk[]

  constructor(risks: readonly AcceptedRisk[]) {
    super(`accepted: ${risks.map(({ id }) => id).join(', ')}`)
    this.risks = risks
  }
}

interface Gating {
  /** How they are accepted, where the line that was typed with `--accept` behind it does not do it. */
  accepting?: Accepting | undefined
  /** The plan depends on what was accepted: the gate throws `RisksChosen`, and it is made anew. */
  isPlanned?: true
}

/**
 * What keeps a change from being made: these findings, but for those that were accepted, which the journal keeps. A person on a terminal chooses from them; everybody else is told the whole
 * line that accepts them.
 */
export function gateOf(
  cx: Pick<Context, 'prompt' | 'printer' | 'world'>,
  findings: readonly Finding[],
  typed: readonly AcceptedRisk[],
  { accepting, isPlanned }: Gating = {},
): Pick<Change, 'gate' | 'accepted'> {
  const accepted = [...typed]
  return {
    async gate(asks) {
      const chosen = asks && accepting === undefined ? await chosenRisks(cx, findings, accepted) : []
      if (chosen.length > 0 && isPlanned) throw new RisksChosen(chosen)
      accepted.push(...chosen)
      passGate(findings, accepted, accepting ?? acceptingLine(cx.world.commandLine, accepted))
    },
    accepted,
  }
}

/** The whole line to paste, with what it accepts behind it. */
export const acceptingLine =
  (typed: string, accepted: readonly AcceptedRisk[]): Accepting =>
  (ids, risks) =>
    `${withRisks(typed, [...accepted, ...ids.map((id) => ({ id }))])}     accepts ${riskText(ids, risks)}`

/** What a path says of a step before it says why. */
const ofALaterStep = /^the upgrade path ends at [^:]+: [^:]+ is refused: /u

/** A longer comment hides the command. */
const riskAtMost = 80

/** One risk in a few words; several by their names. */
function riskText(ids: readonly string[], [risk, ...more]: readonly Pick<Finding, 'summary'>[]): string {
  const said =
    risk === undefined || more.length > 0 ? '' : firstClause(risk.summary.replace(ofALaterStep, ''))
  const isPlain = said !== '' && said.length <= riskAtMost
  return isPlain ? `that ${said}` : ids.join(', ')
}

/** The line that was typed, with these risks instead of those that it accepts. */
export function withRisks(typed: string, risks: readonly AcceptedRisk[]): string {
  const words = withoutFlags(wordsOf(typed), { valued: ['--accept'] })
  const named = new Map(risks.map(({ id, reason }) => [id, reason === undefined ? id : `${id}=${reason}`]))
  return [...words, ...[...named.values()].map((risk) => `--accept ${shellWord(risk)}`)].join(' ')
}

/** Those that a person takes from the list; none where all or one of them has to be mended, or nobody is there. Throws `blocked` where the person takes none. */
async function chosenRisks(
  { prompt, printer }: Pick<Context, 'prompt' | 'printer'>,
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
): Promise<readonly AcceptedRisk[]> {
  const open = sanitiseDeep([
    ...new Map(unaccepted(findings, accepted).map((finding) => [finding.id, finding])).values(),
  ])
  if (open.length === 0 || prompt.isAttended !== true || open.some(isNotOffered)) return []
  tellScreen(printer, (paint) =>
    open.flatMap(({ id, summary, remedy }) => [
      `${paint.bad(paint.mark.failed)} ${brief(summary)} (${id})`,
      ...remedy.map((line) => `  ${helpLine(line, paint)}`),
    ]),
  )
  const choices = open.map(({ id, summary }) => ({ value: id, name: `${id}: ${firstClause(summary)}` }))
  const taken = await prompt.chooseSome?.(`Which of these risks do you accept?`, choices)
  if (taken?.length === 0) throw blocked(open[0]?.id ?? '', 'Nothing was selected. Nothing was changed.')
  return (taken ?? []).map((id) => ({ id }))
}

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
