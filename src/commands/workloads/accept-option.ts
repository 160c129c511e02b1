import { Option } from 'commander'
import { acceptedWords } from '../accepted-words.ts'

/** The same words in every command that has findings. */
export const acceptOption = (): Option =>
  new Option('--accept <id>', 'take risks by finding name, with commas (repeatable)')
    .argParser(acceptedWords)
    .default([], 'none')
