import { Option } from 'commander'

/** The same words in every command that has findings. */
export const acceptOption = (): Option =>
  new Option('--accept <id>', 'take a risk by the name of its finding (repeatable)')
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'none')
