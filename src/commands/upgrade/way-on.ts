import type { Context } from '../../context.ts'
import type { JournalReader } from '../../lib/procedure/step.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import { formatDuration } from '../../lib/system/duration.ts'
import { exitCode } from '../../lib/system/exit-codes.ts'
import { KvupError } from '../../lib/system/errors.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import { loanId } from '../../lib/workloads/update-methods.ts'

interface Situation {
  cx: Context
  plan: UpgradePlan
  journal: JournalReader
}

/** Half a second is enough for one read; a cluster that does not answer must not keep us. */
const readWithin = 500

/**
 * Runs it, and gives a run that ends early the lines that matter then: what is borrowed and until when that is harmless, the
 * line that resumes, the line that gives back, the way back.
 */
export async function withWayOn<T>(situation: Situation, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof KvupError) || !endsEarly(error)) throw error
    const loans = await openLoans(situation)
    throw new KvupError(error.exitCode, error.reason, error.message, {
      object: error.object,
      cause: error,
      notes: [...error.notes, ...notesOn(loans, situation)],
      remedy: byCommand([...error.remedy, ...linesFor(situation, loans)]),
    })
  }
}

const early: ReadonlySet<number> = new Set([
  exitCode.interrupted,
  exitCode.terminated,
  exitCode.timedOut,
  exitCode.locked,
  exitCode.unreachable,
  exitCode.blocked,
])

/** A refusal before the first write has its own remedy: nothing was begun that could go on. */
function endsEarly({ exitCode: code, reason }: KvupError): boolean {
  return early.has(code) && reason !== 'answered-no'
}

async function openLoans({ cx, journal }: Situation): Promise<readonly Loan[] | undefined> {
  const giveUp = cx.clock.sleep(readWithin).then(() => undefined)
  return Promise.race([journal.loans().catch(() => undefined), giveUp])
}

function linesFor({ cx, plan }: Situation, loans: readonly Loan[] | undefined): readonly string[] {
  const begun = loans === undefined || loans.length > 0
  return [
    ...(loans === undefined ? ['kvup history     shows what is borrowed'] : []),
    `${cx.world.commandLine}     goes on where the cluster stands`,
    ...(begun && plan.from !== undefined && plan.from !== plan.to.text
      ? [`kvup upgrade --to ${plan.from}     goes back`]
      : []),
    ...(loans?.some(({ id }) => id === loanId)
      ? ['kvup workloads restore     gives workload updates back once KubeVirt is settled']
      : []),
  ]
}

/** A command that two say is said once, with what it does. */
function byCommand(lines: readonly string[]): readonly string[] {
  const said = new Map<string, string>()
  for (const line of lines) {
    const [command = line] = line.split(/ {3,}/u)
    if ((said.get(command) ?? '').length < line.length) said.set(command, line)
  }
  return [...said.values()]
}

function notesOn(loans: readonly Loan[] | undefined, { cx }: Situation): readonly string[] {
  const now = cx.clock.now().getTime()
  return loans?.map((loan) => loanLine(loan, now)) ?? ['what is borrowed could not be read']
}

function loanLine(loan: Loan, now: number): string {
  const value = loan.was.present ? valueText(loan.was.value) : 'absent'
  const name = loan.path.slice(loan.path.lastIndexOf('/') + 1)
  const age = formatDuration(now - Date.parse(loan.at))
  return `borrowed ${age} ago: ${name} was ${value}; harmless ${loan.harmless ?? 'for now'}`
}

function valueText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}
