import { Option } from 'commander'
import { acceptedWords } from '../accepted-words.ts'

/** The same words in every command that has findings. */
export const acceptOption = (): Option =>
  new Option('--accept <id>', 'take risks by the names of their findings, with commas (repeatable)')
    .argParser(acceptedWords)
    .default([], 'none')
