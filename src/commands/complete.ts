import { Argument, Command } from 'commander'
import type { Context } from '../context.ts'
import type { CommandTree } from '../lib/output/completion/command-tree.ts'
import { type Candidate, complete } from '../lib/output/completion/complete.ts'
import { completionLines } from '../lib/output/completion/protocol.ts'
import type { Document, View } from '../lib/output/printer.ts'
import type { Wire } from '../wire.ts'
import { treeOf } from './command-tree.ts'

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

/** Asks no cluster. */
export async function candidates({ printer }: Context, tree: CommandTree, words: string[]): Promise<void> {
  const found = complete(tree, words)
  printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Candidates', ...found }, candidatesView)
}

const candidatesView: View<Candidates> = {
  text: (found) => completionLines(found),
  names: (found) => found.candidates.map(({ value }) => value),
}
