import type { Loan } from '../../engine/journal.ts'
import { isOfWindow } from '../../engine/overrides.ts'
import { ageAt } from '../age.ts'
import type { Paint } from '../printer.ts'
import type { Entry } from './status.ts'
import { shellWord } from '../../kube/shell-line.ts'

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

/**
 * The command that gives a loan back: an imageTag that was taken out is put in by the upgrade itself, what a window borrowed by the window's own commands, the methods
 * by theirs. Pools, whose nodes roll then, and what was asked of the platform go back with the end of the window.
 */
export function loanRemedy(loan: Pick<Loan, 'id' | 'path' | 'procedure'>): string {
  const { id, path } = loan
  if (isOfWindow(loan)) return withTheWindow.test(id) ? 'kvup eus abort' : `kvup eus restore ${shellWord(id)}`
  const target = ofUpgrade(loan)
  return path === '/spec/imageTag' && target !== undefined
    ? `kvup upgrade --to ${target}`
    : 'kvup workloads restore'
}

const withTheWindow = /^(?:pool-paused\/|platform-channel$|desired-update$)/u

/** The release that an upgrade which borrowed it leads to; undefined where something else did, or where it is no version. */
const ofUpgrade = ({ procedure }: Pick<Loan, 'procedure'>): string | undefined =>
  /^upgrade to (v\d+[\w.+-]*)$/u.exec(procedure)?.[1]

/** For how long it does no harm to leave a loan open, in words: `harmless for days`, `not harmless while it is refused`. */
export function harmlessText(harmless: string): string {
  const not = /^not at all(?<rest>.*)$/su.exec(harmless)
  return not === null ? `harmless ${harmless}` : `not harmless${not.groups?.['rest'] ?? ''}`
}
