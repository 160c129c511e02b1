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
 * line that resumes, the line that gives back, the way back. Before `began` is called there is nothing to go on with: a refusal
 * has its own remedy.
 */
export async function withWayOn<T>(situation: Situation, run: (began: () => void) => Promise<T>): Promise<T> {
  let hasBegun = false
  try {
    return await run(() => (hasBegun = true))
  } catch (error) {
    if (!(error instanceof KvupError) || !early.has(error.exitCode)) throw error
    if (!hasBegun) throw interruptions.has(error.exitCode) ? notBegun(error, situation) : error
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

const interruptions: ReadonlySet<number> = new Set([exitCode.interrupted, exitCode.terminated])

function notBegun(error: KvupError, { cx }: Situation): KvupError {
  return new KvupError(error.exitCode, error.reason, error.message, {
    notes: ['nothing was changed'],
    remedy: `${cx.world.commandLine}     begins again`,
    cause: error,
  })
}

async function openLoans({ cx, journal }: Situation): Promise<readonly Loan[] | undefined> {
  const giveUp = cx.clock.sleep(readWithin).then(() => undefined)
  return Promise.race([journal.loans().catch(() => undefined), giveUp])
}

function linesFor({ cx, plan }: Situation, loans: readonly Loan[] | undefined): readonly string[] {
  return [
    ...(loans === undefined ? ['kvup history     shows what is borrowed'] : []),
    `${cx.world.commandLine}     goes on where the cluster stands`,
    ...(plan.from !== undefined && plan.from !== plan.to.text
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
