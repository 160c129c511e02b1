import type { Command, Option } from 'commander'
import type { SpokenFlag } from '../lib/output/spoken-commands.ts'
import { shellWord } from '../lib/system/shell-word.ts'

/** Flags of the connection that do not say which cluster, nor as whom. */
const aside: ReadonlySet<string> = new Set(['--namespace', '--request-timeout'])
const kvupOnly: ReadonlySet<string> = new Set(['--token-file'])

/** The connection flags of `options` that were typed, whatever environment and config file say. */
export function typedConnection(command: Command, options: readonly Option[]): SpokenFlag[] {
  let root = command
  while (root.parent) root = root.parent
  return options
    .filter(({ long }) => !aside.has(long ?? ''))
    .filter((option) => root.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => spokenFlag(option, root.getOptionValue(option.attributeName())))
}

function spokenFlag({ long = '', short }: Option, value: unknown): SpokenFlag {
  const values = Array.isArray(value) ? value : [value]
  return {
    names: [long, ...(short === undefined ? [] : [short])],
    text: values.map((one) => (one === true ? long : `${long} ${shellWord(String(one))}`)).join(' '),
    kubectl: !kvupOnly.has(long),
  }
}
