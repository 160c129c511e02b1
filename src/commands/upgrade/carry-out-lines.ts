import { shellWord } from '../../lib/system/shell-word.ts'
import { onlyFlag, withoutFlags, wordsOf } from '../../lib/system/typed-line.ts'

/** What only looking takes: how the plan is shown, and that nothing is done. */
const ofLooking = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--dry-run'] }

/** The line that does what `kvup plan`, or a dry run, has shown: `typed` as it was, without what only looking takes. */
export function carryingOut(typed: string): string {
  const words = wordsOf(typed)
  const command = placeOfCommand(words)
  const named = words.map((word, index) => (index === command ? 'upgrade' : word))
  return withoutFlags(named, ofLooking).join(' ')
}

const isNamed = (word: string): boolean => word === 'plan' || word === 'upgrade'

/** A file, a context or a namespace may be named so too: the first that is not the value of a flag. */
function placeOfCommand(words: readonly string[]): number {
  const own = words.findIndex((word, index) => isNamed(word) && !words[index - 1]?.startsWith('-'))
  return own < 0 ? words.findIndex(isNamed) : own
}

/** What to type after `kvup plan`: with the file where there is one. Release data is no part of a plan, and is named again. */
export function afterPlan(typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [`kvup upgrade --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`]
  return [
    `${carryingOut(typed)}     carries it out`,
    `${withoutFlags(words, ofLooking).join(' ')} --to-file plan.yaml     keeps it, for kvup upgrade --plan plan.yaml`,
  ]
}
