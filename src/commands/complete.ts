import { Argument, Command } from 'commander'
import type { Context } from '../context.ts'
import type { CommandTree } from '../lib/output/completion/command-tree.ts'
import { type Candidate, complete, typedOptions, wanted } from '../lib/output/completion/complete.ts'
import { completionLines } from '../lib/output/completion/protocol.ts'
import type { Document, View } from '../lib/output/printer.ts'
import type { Wire } from '../wire.ts'
import { treeOf } from './command-tree.ts'
import { staticValues } from './complete/static-values.ts'
import { liveValues } from './complete/live-values.ts'
import { within } from './complete/within.ts'

export interface Candidates extends Document {
  kind: 'Candidates'
  candidates: readonly Candidate[]
  files: boolean
}

/** What the completion scripts and kubectl ask: `kvup __complete -- WORDS…`. Commands that are not among the words need no more than their names. */
export function completeCommand(wire: Wire): Command {
  const command = new Command('__complete')
    .addArgument(new Argument('[words...]', 'the words so far, the last of them to be completed'))
    .allowUnknownOption()
    .helpOption(false)
  const words = (cx: Context, _: object, typed: string[] | string) => {
    const root = command.parent ?? command
    return candidates(cx, treeOf(root), typeof typed === 'string' ? [typed] : typed)
  }
  return command.action(wire(words as (cx: Context, options: object, ...typed: string[]) => Promise<void>))
}

/** Asks a cluster only for versions, and not for long, ms: a person waits, and the program has to start and end as well. */
const patience = 500

/** Silent on failure: what cannot be asked is completed by what is known without. */
export async function candidates(cx: Context, tree: CommandTree, words: string[]): Promise<void> {
  const asked = wanted(tree, words)
  const live = asked && liveValues(asked, cx, typedOptions(tree, words))
  const values = (live && (await within(cx.clock, patience, live))) ?? (asked && (await staticValues(asked)))
  const found = complete(tree, words, values)
  cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Candidates', ...found }, candidatesView)
}

const candidatesView: View<Candidates> = {
  text: (found) => completionLines(found),
  names: (found) => found.candidates.map(({ value }) => value),
}
