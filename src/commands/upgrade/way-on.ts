import type { Context } from '../../context.ts'
import type { JournalReader } from '../../lib/procedure/step.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
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
      remedy: [...new Set([...error.remedy, ...linesFor(situation, loans)])],
    })
  }
}

const early: readonly number[] = [
  exitCode.interrupted,
  exitCode.terminated,
  exitCode.timedOut,
  exitCode.locked,
  exitCode.unreachable,
  exitCode.blocked,
]

/** A refusal before the first write has its own remedy: nothing was begun that could go on. */
function endsEarly({ exitCode: code, reason }: KvupError): boolean {
  return early.includes(code) && reason !== 'answered-no'
}

async function openLoans({ cx, journal }: Situation): Promise<readonly Loan[] | undefined> {
  const giveUp = cx.clock.sleep(readWithin).then(() => undefined)
  return Promise.race([journal.loans().catch(() => undefined), giveUp])
}

function linesFor({ cx, plan }: Situation, loans: readonly Loan[] | undefined): readonly string[] {
  const begun = loans === undefined || loans.length > 0
  return [
    ...(loans === undefined ? ['what is borrowed could not be read: kvup history'] : loans.map(loanLine)),
    `${cx.world.commandLine}     goes on where the cluster stands`,
    ...(begun && plan.from !== undefined && plan.from !== plan.to.text
      ? [`kvup upgrade --to ${plan.from}     goes back`]
      : []),
    ...(loans?.some(({ id }) => id === loanId)
      ? ['kvup workloads restore     gives workload updates back once KubeVirt is settled']
      : []),
  ]
}

function loanLine(loan: Loan): string {
  const value = loan.was.present ? JSON.stringify(loan.was.value) : 'absent'
  const name = loan.path.slice(loan.path.lastIndexOf('/') + 1)
  return `borrowed since ${loan.at}: ${name} was ${value}; harmless ${loan.harmless ?? 'for now'}`
}
