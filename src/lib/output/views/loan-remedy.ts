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
  return path === '/spec/imageTag' ? (goesOn({ procedure }) ?? restores) : restores
}

const restores = 'kvup workloads restore'

/** The command that goes on with the upgrade that borrowed it, without the flags of that one; undefined where something else did. */
export function goesOn({ procedure }: Pick<Loan, 'procedure'>): string | undefined {
  const [, target] = /^upgrade to (v\d+[\w.+-]*)$/u.exec(procedure) ?? []
  return target === undefined ? undefined : `kvup upgrade --to ${target}`
}

const withTheWindow = /^(?:pool-paused\/|platform-channel$|desired-update$)/u
