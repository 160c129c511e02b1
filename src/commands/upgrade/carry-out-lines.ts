import { shellWord } from '../../lib/system/shell-word.ts'

/** What only looking takes: how the plan is shown, and that nothing is done. */
const ofLooking =
  /\s+(?:--exit-code\b|(?:--output|--to-file|--dry-run)(?:=|\s+)(?:'[^']*'|\S+)|-o[=\s]?\s*(?:'[^']*'|\S+))/gu

/** The first of them is the command: a file or a flag may be named so too. */
const command = /(?<=\s)(?:plan|upgrade)(?=\s|$)/u

/** The line that does what `kvup plan`, or a dry run, has shown: `typed` as it was, without what only looking takes. */
export function carryingOut(typed: string): string {
  return typed.replace(command, 'upgrade').replaceAll(ofLooking, '')
}

/** What to type after `kvup plan`: with the file where there is one. */
export function afterPlan(typed: string, file: string | undefined): readonly string[] {
  if (file !== undefined) return [`kvup upgrade --plan ${shellWord(file)}`]
  return [
    `${carryingOut(typed)}     carries it out`,
    `${typed.replaceAll(ofLooking, '')} --to-file plan.yaml     keeps it, for kvup upgrade --plan plan.yaml`,
  ]
}
