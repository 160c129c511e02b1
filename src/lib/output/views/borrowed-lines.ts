import type { Loan } from '../../procedure/journal.ts'
import { isOfWindow } from '../../system/window-name.ts'
import { ageAt } from '../age.ts'
import type { Paint } from '../printer.ts'
import type { Entry } from './entry.ts'
import { harmlessText } from './harmless-text.ts'
import { loanRemedy } from './loan-remedy.ts'

interface Look {
  paint: Paint
  entry: Entry
  /** RFC 3339: ages count to here. */
  takenAt: string
}

/** A line per loan, and below them each command once. What a window borrowed goes back with it. */
export function borrowedLines(loans: readonly Loan[], look: Look): string[] {
  const [ofWindow, others] = [loans.filter(isOfWindow), loans.filter((loan) => !isOfWindow(loan))]
  return [
    ...others.flatMap((loan) => loanLine(loan, look)),
    ...[...new Set(others.map(loanRemedy))].flatMap((line) => next(`${line}     # gives it back`, look)),
    ...ofWindow.flatMap((loan) => loanLine(loan, look)),
    ...(ofWindow.length === 0 ? [] : windowWays.flatMap((line) => next(line, look))),
    ...(loans.length === 0 ? [] : next('kvup history     # shows it', look)),
  ]
}

const windowWays = [
  'kvup eus status     # where their window stands',
  'kvup eus abort     # ends the window, and gives back what it borrowed',
]

const next = (line: string, { paint, entry }: Look): string[] =>
  entry('', paint.dim(`${paint.mark.next} ${line}`))

function loanLine(loan: Loan, { takenAt, paint, entry }: Look): string[] {
  const value = loan.was.present ? JSON.stringify(loan.was.value) : 'absent'
  const harmless = loan.harmless ? `; ${harmlessText(loan.harmless)}` : ''
  return entry(
    'borrowed',
    paint.warn(`${nameOf(loan)}, was ${value}, by ${loan.by}, ${ageAt(loan.at, takenAt)} ago${harmless}`),
  )
}

/** Of pools and health checks there are several. */
function nameOf({ path, procedure, object }: Loan): string {
  const field = path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
  const isOne = !isOfWindow({ procedure }) || settings.has(object.kind)
  return isOne ? field : `${field} of ${object.kind} ${object.name}`
}

const settings = new Set(['KubeVirt', 'HyperConverged'])
