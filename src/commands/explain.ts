import { Argument } from 'commander'
import type { Context, Wire } from '../context.ts'
import { allChecks } from '../lib/checks/check-run.ts'
import { type Explanation, explanations, isBlocking, meaningOf } from '../lib/checks/explanations.ts'
import type { Group } from '../lib/checks/check-definition.ts'
import { knownBad } from '../lib/checks/groups/path-checks.ts'
import {
  type ExplainedName,
  type ExplanationsDocument,
  explanationsView,
} from '../lib/output/views/explanations.ts'
import { type KnownBad, knownReleases } from '../lib/releases/releases.ts'
import { usageError } from '../lib/kube/errors.ts'
import { nearest } from '../lib/kube/text.ts'
import { type ExplainedMessage, knownMessages, messagesIn } from '../lib/kubevirt/diagnosis/known-messages.ts'
import { KvupCommand } from './command-options.ts'

export function explainCommand(wire: Wire): KvupCommand {
  return new KvupCommand('explain')
    .addArgument(
      new Argument(
        '[name...]',
        'finding, check, group of checks, refusal, alert, condition, reason, component, command, exit code, or a line of a log',
      ),
    )
    .manual({
      examples: [
        ['kvup explain', 'list every name'],
        ['kvup explain kubernetes-window', 'explain a finding'],
        ['kvup explain VMCannotBeEvicted', 'explain an alert'],
        ['kvup explain LiveMigratable', 'explain a condition'],
        ['kvup explain virt-handler', 'explain a component'],
        ['kvup explain upgrade', 'explain a command, and list its findings'],
        ['kvup explain locked timed-out', 'explain two exit codes'],
        ["kvup explain 'Unable to query peer security context'", 'look up a line of a log'],
      ],
    })
    .action(wire<object, [string[]]>(explain))
}

/** Asks nobody: the pages are built in. Throws `usage` for a name that nothing has, with those that are near. */
export async function explain({ printer }: Context, _: object, words: readonly string[] = []): Promise<void> {
  const all = [
    ...explanations.map(explainedName),
    ...knownReleases.knownBad.map(ofIssue),
    ...knownMessages.map(ofMessage),
  ]
  const kind = { apiVersion: 'kvup.io/v1alpha1', kind: 'Explanations' } as const
  const document = (part: Omit<ExplanationsDocument, keyof typeof kind>) =>
    printer.result({ ...kind, ...part }, explanationsView)
  const id = words.join(' ')
  if (id === '') return document({ whole: false, items: all })
  const items = await pagesOfName(id, all)
  if (items.length > 0) return document({ whole: true, items })
  const { subjectNamed } = await import('./explain/subject.ts')
  const about = subjectNamed(id.toLowerCase(), all)
  if (about !== undefined) return document({ whole: false, ...about })
  if (words.length === 1) throw await unknown(id, all)
  document({ whole: true, items: await pagesOfNames(words, all) })
}

/** All that one name, or a line of a log, has a page of its own for; a group of checks and a command have a list instead. */
async function pagesOfName(id: string, all: readonly ExplainedName[]): Promise<readonly ExplainedName[]> {
  const items = named(id, all)
  if (items.length > 0) return items.map((item) => asAsked(item, id))
  const met = [
    ...messagesIn(id).map(ofMessage),
    ...all.filter(({ of, means }) => of === 'message' && quotes(means, id)),
  ]
  return met.length > 0 ? met : (await codesOf(id, all)).map((item) => asAsked(item, id))
}

/** The title of a page is what was typed; how a name is written in capitals is the page's. */
const asAsked = (item: ExplainedName, asked: string): ExplainedName =>
  item.id.toLowerCase() === asked.toLowerCase() ? item : { ...item, asked }

/** As kubectl takes several names: the page of each. Throws `usage` for one that has none. */
async function pagesOfNames(
  words: readonly string[],
  all: readonly ExplainedName[],
): Promise<readonly ExplainedName[]> {
  const pages = await Promise.all(
    words.map(async (word) => {
      const items = await pagesOfName(word, all)
      if (items.length > 0) return items
      const command = all.find(({ of, id }) => of === 'command' && id === word.toLowerCase())
      if (command !== undefined) return [command]
      const { subjectNamed } = await import('./explain/subject.ts')
      if (subjectNamed(word.toLowerCase(), all) === undefined) throw await unknown(word, all)
      throw usageError('usage', `kvup explains ${word} alone: it stands for several names`, {
        remedy: `kvup explain ${word}`,
      })
    }),
  )
  return pages.flat()
}

/** Names are told apart by case only where that alone tells them apart; `3` is an exit code. Commands are subjects: they meet findings. */
function named(id: string, all: readonly ExplainedName[]): readonly ExplainedName[] {
  const names = all.filter(({ of }) => of !== 'command')
  const exact = names.filter((one) => one.id === id || (/^\d+$/u.test(id) && one.id === `exit-${id}`))
  return exact.length > 0 ? exact : names.filter((one) => one.id.toLowerCase() === id.toLowerCase())
}

/** The exit codes that come with an `error.reason`, which JSON, annotations and JUnit show. */
async function codesOf(reason: string, all: readonly ExplainedName[]): Promise<readonly ExplainedName[]> {
  const { default: reasons } = await import('./explain/reasons.json', { with: { type: 'json' } })
  const found = Object.entries(reasons).find(([name]) => name === reason.toLowerCase())
  const codes = found?.[1].map((code) => `exit-${code}`) ?? []
  return all.filter(({ of, id }) => of === 'exit-code' && codes.includes(id))
}

/** Whether a line of a log has the text that an explanation quotes. */
const quotes = (means: string, line: string): boolean =>
  [...means.matchAll(/`([^`]{8,})`/gu)].some(([, text = '']) =>
    line.toLowerCase().includes(text.toLowerCase()),
  )

function explainedName(explanation: Explanation): ExplainedName {
  const { id, kind: of, level, means, matters, fix } = explanation
  const check = of === 'finding' ? allChecks.find((one) => one.id === id) : undefined
  const runbook = of === 'alert' ? id : check?.runbook
  return {
    id,
    of,
    meaning: meaningOf(means),
    text: [level, means, matters, fix].join('\n\n'),
    level,
    means,
    matters,
    fix,
    acceptWith: acceptWith(explanation),
    docs: [
      ...(runbook === undefined ? [] : [`${runbooks}${runbook}`]),
      ...pagesOf(explanation, check?.group),
    ],
    ...(check && { title: check.title, group: check.group }),
    ...(runbook !== undefined && { runbook }),
  }
}

const runbooks = 'https://kubevirt.io/monitoring/runbooks/'
const guide = 'https://kubevirt.io/user-guide'

/** What is worth reading besides, by group of the check. */
const guides: Readonly<Record<string, string>> = {
  path: `${guide}/cluster_admin/updating_and_deletion/`,
  installation: `${guide}/cluster_admin/updating_and_deletion/`,
  nodes: `${guide}/cluster_admin/node_maintenance/`,
  workloads: `${guide}/compute/live_migration/`,
}

function pagesOf({ id, kind }: Explanation, group: Group | undefined): readonly string[] {
  const page = guides[group ?? '']
  const own =
    kind === 'command'
      ? `docs/commands/${id}.md`
      : kind === 'exit-code'
        ? 'docs/exit-codes.md'
        : `docs/checks.md#${id.toLowerCase()}`
  return [...(page === undefined ? [] : [page]), own]
}

const acceptedBy = (id: string): string =>
  `    --accept ${id}=REASON\n\nAdd it to the command that stopped. The reason goes into the journal.`

/** Only what stops a run is accepted; that a refusal never is has to be said. */
function acceptWith(explanation: Explanation): string {
  const { id, kind } = explanation
  if (kind === 'refusal') return 'This cannot be accepted.'
  return isBlocking(explanation) ? acceptedBy(id) : ''
}

/** Versions and components stay as they are written. */
const capital = (text: string): string =>
  /^(?:v\d|virt-)/u.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function ofIssue({ id, level, summary, issue, remedy = [] }: KnownBad): ExplainedName {
  const means = `${capital(summary)}.`
  const fix = [
    'Read the issue: it says which release has the fix.',
    ...remedy.map((line) => `    ${line}`),
  ].join('\n\n')
  return {
    id,
    of: 'finding',
    meaning: capital(/^.*?(?=[:;.](?:\s|$)|$)/u.exec(summary)?.[0] ?? summary),
    text: `${level}: ${summary}. ${issue}`,
    level: `${capital(level)}.`,
    means,
    matters: 'Other clusters had this fault during the same upgrade.',
    fix,
    acceptWith: level === 'blocker' ? acceptedBy(id) : '',
    docs: [issue, 'docs/checks.md#known-bad'],
    title: knownBad.title,
    group: knownBad.group,
  }
}

function ofMessage({ id, is, component, where, means, matters, fix }: ExplainedMessage): ExplainedName {
  return {
    id,
    is,
    of: 'message',
    meaning: `${is === 'harmless' ? 'Harmless' : 'A fault'}, in the log of ${component}`,
    text: [where, means, matters, fix].join('\n\n'),
    level: where,
    means,
    matters,
    fix,
    acceptWith: '',
    docs: ['docs/checks.md#known-bad'],
  }
}

/** So many names that have something to do with a word, beside the one that is nearest. */
const mostNames = 4

async function unknown(id: string, items: readonly ExplainedName[]): Promise<Error> {
  const { namesAbout, subjectNames } = await import('./explain/subject.ts')
  const subjects = subjectNames(items)
  const near = nearest(id.toLowerCase(), [...items.map((item) => item.id), ...subjects])
  const about = namesAbout(id.toLowerCase(), items).filter((name) => name !== near)
  return usageError('no-such-finding', `nothing is named ${JSON.stringify(id)}`, {
    remedy: [
      ...(near === undefined ? [] : [`kvup explain ${near}     is the nearest name`]),
      ...about.slice(0, mostNames).map((name) => `kvup explain ${name}     mentions it`),
      'kvup explain     lists every name',
      `groups of names: ${subjects.join(', ')}`,
    ],
  })
}
