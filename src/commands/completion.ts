import { Argument } from 'commander'
import type { Context, Wire } from '../context.ts'
import { completionScript, type Shell, shells } from '../lib/output/completion/completion-scripts.ts'
import type { Document, View } from '../lib/output/printer.ts'
import { KvupCommand } from './command-options.ts'

export interface CompletionScript extends Document {
  kind: 'CompletionScript'
  shell: Shell
  script: string
}

export function completionCommand(wire: Wire): KvupCommand {
  return new KvupCommand('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices([...shells]))
    .manual({
      examples: [
        ['source <(kvup completion bash)', 'bash; zsh the same with zsh'],
        ['kvup completion fish | source', 'fish'],
        ['kvup completion powershell | Out-String | Invoke-Expression', 'PowerShell'],
      ],
    })
    .action(wire<object, [Shell]>(completion))
}

/** Asks no cluster. */
export async function completion({ printer }: Context, _: object, shell: Shell): Promise<void> {
  const script = completionScript(shell, 'kvup')
  printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'CompletionScript', shell, script }, scriptView)
}

const scriptView: View<CompletionScript> = {
  text: ({ script }) => script.trimEnd().split('\n'),
  names: ({ shell }) => [`completionscript/${shell}`],
}
