import type { ExplainedName, ExplanationsDocument } from '../../lib/output/views/explanations.ts'
import { entries, type Entry } from '../entries.ts'

type Item = ExplainedName
type Subject = NonNullable<ExplanationsDocument['subject']>

/** What else findings call the work of a command. */
const alsoCalled: Readonly<Record<string, RegExp>> = { eus: /\b(?:windows?|pools?|platform)\b/iu }

/** What a command may meet: alerts and conditions are met in the cluster. */
const isMet: ReadonlySet<Item['of']> = new Set(['finding', 'refusal'])

/** What a word names that is no finding: a command or a group of checks, and the findings that it meets. Undefined where it names neither. */
export function subjectNamed(
  word: string,
  items: readonly Item[],
): { subject: Subject; items: readonly Item[] } | undefined {
  const command = commandNamed(word.split(' '), entries)
  if (command) {
    const met = items.filter((item) => isMet.has(item.of) && (item.group === word || speaksOf(word, item)))
    const page = items.find(({ of, id }) => of === 'command' && id === word)
    return { subject: { name: word, ...about(command, word), ...(page && { page }) }, items: met }
  }
  const ofGroup = items.filter(({ group }) => group === word)
  return ofGroup.length === 0 ? undefined : { subject: { name: word, commands: [] }, items: ofGroup }
}

/** `eus abort`; former names are none. */
function commandNamed([first, ...rest]: readonly string[], among: readonly Entry[]): Entry | undefined {
  const found = among.find(({ name, hidden }) => name === first && hidden !== true)
  return rest.length === 0 ? found : commandNamed(rest, found?.under ?? [])
}

/** Groups of checks, and the commands that have others below them. */
export function subjectNames(items: readonly Item[]): readonly string[] {
  const groups = items.flatMap(({ group }) => group ?? [])
  const commands = entries.filter(({ under, hidden }) => under !== undefined && hidden !== true)
  const ids = new Set(items.filter(({ of }) => of !== 'command').map(({ id }) => id))
  const names = new Set([...groups, ...commands.map(({ name }) => name)])
  return [...names].filter((name) => !ids.has(name)).sort()
}

/** Names of findings that have a word in their name, or in what they say. */
export function namesAbout(word: string, items: readonly Item[]): readonly string[] {
  const inName = items.filter(({ id }) => id.split('-').includes(word))
  const inText = items.filter(({ text }) =>
    text
      .toLowerCase()
      .split(/[^a-z0-9-]+/u)
      .includes(word),
  )
  return [...new Set([...inName, ...inText].map(({ id }) => id))]
}

/** The name of a command is the only word that comes here, so it is a pattern as it stands. */
const speaksOf = (word: string, { id, text }: Item): boolean =>
  id.split('-').includes(word) ||
  new RegExp(`\\bkvup ${word}\\b`, 'u').test(text) ||
  alsoCalled[word]?.test(text) === true

function about({ description, under = [] }: Entry, name: string): Omit<Subject, 'name'> {
  return {
    description,
    commands: under.map((one) => ({ command: `kvup ${name} ${one.name}`, description: one.description })),
  }
}
