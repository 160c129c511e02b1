import type { StatusReport } from '../../facts/status-report.ts'
import { count } from '../count.ts'
import type { Loan } from '../../procedure/journal.ts'
import { noMethodsText } from '../../system/no-methods-text.ts'
import type { loanId } from '../../workloads/update-methods.ts'
import { vmTroubleLines } from './vm-trouble-lines.ts'
import type { Paint } from '../printer.ts'

/** The journal's name of the borrowed methods. */
const methodsLoan: typeof loanId = 'workload-updates'

/** How many instances there are, how many of them run an old virt-launcher, and what shows which. */
export function workloadLines(
  { workloads, verdict, installation, borrowed = [] }: StatusReport & { borrowed?: readonly Loan[] },
  paint: Pick<Paint, 'mark'>,
): readonly string[] {
  const { instances, outdated } = workloads
  if (instances === 0) return [count(0, 'instance'), ...troubleLines(workloads, paint)]
  const behind = outdated.labelled ?? outdated.reported
  const all = instances === undefined ? 'not readable' : count(instances, 'instance')
  const held = borrowed.some(({ id }) => id === methodsLoan)
  const why = behind && installation?.workloadUpdateMethods.length === 0 ? ` (${noMethodsText(held)})` : ''
  return [
    `${all}${lateText(behind)}${why}`,
    ...troubleLines(workloads, paint),
    ...(behind && verdict === 'Settled' ? [`${paint.mark.next} kvup workloads outdated`] : []),
  ]
}

function troubleLines(
  { troubled }: StatusReport['workloads'],
  { mark }: Pick<Paint, 'mark'>,
): readonly string[] {
  const [first, ...reasons] = troubled ? vmTroubleLines(troubled) : []
  return first === undefined ? [] : [`${mark.warning} ${first}`, ...reasons.map((line) => `  ${line}`)]
}

function lateText(behind: number | undefined): string {
  if (behind === undefined) return ', outdated: not known'
  return `, ${behind === 0 ? 'none' : behind} outdated`
}
