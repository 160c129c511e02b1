import { Argument, Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import { allChecks } from '../lib/checks/check-run.ts'
import { type Explanation, explanations, meaningOf } from '../lib/checks/explanations.ts'
import { knownBad } from '../lib/checks/groups/path-checks.ts'
import { type ExplanationsDocument, explanationsView } from '../lib/output/views/explanations.ts'
import { type KnownBad, knownReleases } from '../lib/releases/releases.ts'
import { usageError } from '../lib/kube/errors.ts'
import { nearest } from '../lib/kube/text.ts'
import { type ExplainedMessage, knownMessages, messagesIn } from '../lib/kubevirt/diagnosis/known-messages.ts'
import { manual } from './command-options.ts'

export function explainCommand(wire: Wire): Command {
  return new Command('explain')
    .addArgument(
      new Argument(
        '[id]',
        'name of a check, a finding, a refusal, a command or a group of checks, or what a log says',
      ),
    )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup explain', 'every name there is'],
          ['kvup explain kubernetes-window', 'what it means, and what to do'],
          ['kvup explain eus', 'what the command is for'],
          ["kvup explain 'Unable to query peer security context'", 'whether a line of a log is known'],
        ],
      }),
    )
    .action(wire<object, [string]>(explain))
}

/** Asks nobody: the pages are built in. Throws `usage` for a name that nothing has, with those that are near. */
export async function explain({ printer }: Context, _: object, id?: string): Promise<void> {
  const all = [
    ...explanations.map(withCheck),
    ...knownReleases.knownBad.map(ofIssue),
    ...knownMessages.map(ofMessage),
  ]
  const kind = { apiVersion: 'kvup.io/v1alpha1', kind: 'Explanations' } as const
  const document = (part: Omit<ExplanationsDocument, keyof typeof kind>) =>
    printer.result({ ...kind, ...part }, explanationsView)
  if (id === undefined) return document({ whole: false, items: all })
  const items = all.filter((one) => one.id === id)
  if (items.length > 0) return document({ whole: true, items })
  const logged = messagesIn(id)
  if (logged.length > 0) return document({ whole: true, items: logged.map(ofMessage) })
  const about = (await import('./explain/subject.ts')).subjectNamed(id.toLowerCase(), all)
  if (about === undefined) throw await unknown(id, all)
  document({ whole: false, ...about })
}

type Item = ExplanationsDocument['items'][number]

function withCheck(explanation: Explanation): Item {
  const item = { ...explanation, meaning: meaningOf(explanation.text) }
  const check = allChecks.find(({ id }) => id === explanation.id)
  if (check === undefined) return item
  const { title, group, runbook } = check
  return { ...item, title, group, ...(runbook && { runbook }) }
}

const ofIssue = ({ id, level, summary, issue }: KnownBad): Item => ({
  id,
  meaning: meaningOf(summary),
  title: knownBad.title,
  group: knownBad.group,
  text: `${level}: ${summary}. ${issue}`,
})

const ofMessage = ({ id, is, component, text }: ExplainedMessage): Item => ({
  id,
  is,
  meaning: `${is === 'harmless' ? 'Harmless' : 'A fault'}, in the log of ${component}`,
  text,
})

/** So many names that have something to do with a word, beside the one that is nearest. */
const mostNames = 4

async function unknown(id: string, items: readonly Item[]): Promise<Error> {
  const { namesAbout, subjectNames } = await import('./explain/subject.ts')
  const subjects = subjectNames(items)
  const near = nearest(id.toLowerCase(), [...items.map((item) => item.id), ...subjects])
  const about = namesAbout(id.toLowerCase(), items).filter((name) => name !== near)
  return usageError('no-such-finding', `nothing is named ${JSON.stringify(id)}`, {
    remedy: [
      ...(near === undefined ? [] : [`kvup explain ${near}     is the nearest name`]),
      ...about.slice(0, mostNames).map((name) => `kvup explain ${name}     speaks of it`),
      'kvup explain     lists every name',
      `kvup explain GROUP     lists those of one: ${subjects.join(', ')}`,
    ],
  })
}
