import { Argument, Command, Option } from 'commander'
import type { Context } from '../context.ts'
import type { CommandTree } from '../lib/output/completion/command-tree.ts'
import { type Candidate, complete, type Wanted, wanted } from '../lib/output/completion/complete.ts'
import { typedOptions } from '../lib/output/completion/place.ts'
import { completionLines, tellable } from '../lib/output/completion/protocol.ts'
import type { Document, View } from '../lib/output/printer.ts'
import type { Wire } from '../wire.ts'
import { treeOf } from './command-tree.ts'
import { isLive, liveValues } from './complete/live-values.ts'
import { staticValues } from './complete/static-values.ts'
import { within } from './complete/within.ts'

export interface Candidates extends Document {
  kind: 'Candidates'
  candidates: readonly Candidate[]
  files: boolean
}

export interface CompleteOptions {
  unquoted?: boolean
}

/** What the completion scripts and kubectl ask: `kvup __complete -- WORDS…`. Commands that are not among the words need no more than their names. */
export function completeCommand(wire: Wire): Command {
  const command = new Command('__complete')
    .addArgument(new Argument('[words...]', 'the words so far, the last of them to be completed'))
    .addOption(new Option('--unquoted', 'only what can be put on a line as it is'))
    .helpOption(false)
  const answer = wire((cx: Context, options: CompleteOptions, ...typed: [string[] | string]) =>
    candidates(cx, options, { tree: treeOf(rootOf(command)), words: typed.flat() }),
  )
  return command.action((...all: unknown[]) => {
    // What the scripts read has one format, whatever KVUP_OUTPUT or the config file say.
    rootOf(command).setOptionValueWithSource('output', 'table', 'cli')
    return answer(...all)
  })
}

/** Of asking a kubeconfig or a cluster, ms: a person waits, and the program has to start and end as well. */
const patience = 500

interface Line {
  tree: CommandTree
  words: readonly string[]
}

/** Silent on failure: what cannot be asked is completed by what is known without. */
export async function candidates(
  cx: Context,
  { unquoted = false }: CompleteOptions,
  line: Line,
): Promise<void> {
  const asked = wanted(line.tree, line.words)
  const values = asked && ((await live(cx, asked, line)) ?? (await staticValues(asked)))
  const found = tellable(complete(line.tree, line.words, values), unquoted)
  cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Candidates', ...found }, candidatesView)
}

/** Undefined where nobody could be asked, or nothing came in time. */
async function live(cx: Context, asked: Wanted, { tree, words }: Line): Promise<Candidate[] | undefined> {
  if (!isLive(asked)) return undefined
  const offered: Candidate[] = []
  const asking = liveValues({ ...asked, cx, options: typedOptions(tree, words) }, (one) => offered.push(one))
  const isDone = await within(cx.clock, patience, asking)
  return isDone || offered.length > 0 ? [...offered] : undefined
}

const rootOf = (command: Command) => command.parent ?? command

const candidatesView: View<Candidates> = {
  text: (found) => completionLines(found),
  names: (found) => found.candidates.map(({ value }) => value),
}
