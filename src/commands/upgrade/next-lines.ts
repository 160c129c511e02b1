import type { Reader } from '../../lib/cluster/cluster.ts'
import { isOfWindow } from '../../lib/system/window-name.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import { withoutFlags, wordsOf } from '../../lib/system/typed-line.ts'
import type { WorkloadReport } from '../../lib/upgrade/report.ts'
import { findCanary } from '../../lib/workloads/canary.ts'
import type { Differences } from '../../lib/workloads/census-differences.ts'
import { heldLines } from '../../lib/workloads/held-lines.ts'

interface After {
  workloads?: WorkloadReport | undefined
  differences?: Differences | undefined
  /** Of the methods, where they are held still. */
  loan: Loan | undefined
}

/** What to type after an upgrade: the migrations that failed again, one VM to try first while they are held, the rest. */
export async function nextLines(
  reader: Reader,
  { workloads, differences, loan }: After,
): Promise<readonly string[]> {
  const { outdated } = workloads ?? { outdated: 0 }
  const isOwn = loan !== undefined && !isOfWindow(loan)
  const canary = isOwn && outdated > 0 ? await findCanary(reader) : undefined
  return [
    ...(differences?.failedMigrations ?? []).map(migrate),
    ...(canary === undefined ? [] : [`${migrate(canary)}     moves one VM first, as a canary`]),
    ...heldLines(loan),
    ...(outdated > 0 ? ['kvup workloads outdated'] : []),
  ]
}

const migrate = (vmi: string) => `virtctl migrate -n ${vmi.replace('/', ' ')}`

/** As it was typed, but for what made it stop: it would stop there again. */
export function goesOn(commandLine: string): string {
  const line = withoutFlags(wordsOf(commandLine), {
    valued: ['--until', '--pause-before', '--deadline'],
  }).join(' ')
  return `${line}     goes on from here`
}
