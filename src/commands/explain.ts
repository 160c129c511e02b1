import { Argument, Command } from 'commander'
import type { Context } from '../context.ts'
import { allChecks } from '../lib/checks/checks.ts'
import { type Explanation, explanations } from '../lib/checks/explanations.ts'
import { meaningOf } from '../lib/checks/meaning.ts'
import { knownBad } from '../lib/checks/path/known-bad.ts'
import type { ExplanationsDocument } from '../lib/output/views/explanations.ts'
import { explanationsView } from '../lib/output/views/explanations.ts'
import { type KnownBad, knownReleases } from '../lib/releases/releases.ts'
import { usageError } from '../lib/system/errors.ts'
import { nearest } from '../lib/system/nearest.ts'
import type { Wire } from '../wire.ts'
import { manual } from './manual.ts'

export function explainCommand(wire: Wire): Command {
  return new Command('explain')
    .addArgument(new Argument('[id]', 'name of a check, a finding or a refusal'))
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup explain', 'every name there is'],
          ['kvup explain kubernetes-window', 'what it means, and what to do'],
        ],
      }),
    )
    .action(wire<object, [string]>(explain))
}

/** Asks nobody: the pages are built in. Throws `usage` for a name that nothing has, with the nearest. */
export async function explain({ printer }: Context, _: object, id?: string): Promise<void> {
  const all = [...explanations.map(withCheck), ...knownReleases.knownBad.map(ofIssue)]
  const items = id === undefined ? all : all.filter((one) => one.id === id)
  if (id !== undefined && items.length === 0)
    throw unknown(
      id,
      all.map((one) => one.id),
    )
  const document: ExplanationsDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Explanations',
    whole: id !== undefined,
    items,
  }
  printer.result(document, explanationsView)
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

function unknown(id: string, names: readonly string[]): Error {
  const meant = nearest(id, names)
  return usageError('no-such-finding', `nothing is named ${JSON.stringify(id)}`, {
    remedy: meant === undefined ? 'kvup explain      lists every name' : `kvup explain ${meant}`,
  })
}
