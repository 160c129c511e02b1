import type { Loan } from '../../procedure/journal.ts'

/** The command that gives a loan back: an imageTag that was taken out is put in by the upgrade itself, the methods by their own command. */
export function loanRemedy({ path, procedure }: Loan): string {
  const target = /^upgrade to (\S+)$/.exec(procedure)?.[1]
  return path === '/spec/imageTag' && target !== undefined
    ? `kvup upgrade --to ${target}`
    : 'kvup workloads restore'
}
