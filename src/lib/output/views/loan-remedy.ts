import type { Loan } from '../../procedure/journal.ts'
import { shellWord } from '../../system/shell-word.ts'
import { isOfWindow } from '../../system/window-name.ts'

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
