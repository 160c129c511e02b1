import type { Loan } from '../../procedure/journal.ts'
import { shellWord } from '../../system/shell-word.ts'
import { isOfWindow } from '../../system/window-name.ts'

/**
 * The command that gives a loan back: an imageTag that was taken out is put in by the upgrade itself, what a window borrowed by the window's own commands, the methods
 * by theirs. Pools, whose nodes roll then, and what was asked of the platform go back with the end of the window.
 */
export function loanRemedy(loan: Pick<Loan, 'id' | 'path' | 'procedure'>): string {
  const { id, path, procedure } = loan
  if (isOfWindow(loan)) return withTheWindow.test(id) ? 'kvup eus abort' : `kvup eus restore ${shellWord(id)}`
  const target = /^upgrade to (\S+)$/.exec(procedure)?.[1]
  return path === '/spec/imageTag' && target !== undefined
    ? `kvup upgrade --to ${shellWord(target)}`
    : 'kvup workloads restore'
}

const withTheWindow = /^(?:pool-paused\/|platform-channel$|desired-update$)/u
