import { Option } from 'commander'
import { acceptedWords } from './accepted-words.ts'

/** The same words in every command that has findings. */
export const acceptOption = (): Option => accepting('take risks by finding name, with commas (repeatable)')

/** Where a plan or a report keeps why a risk was taken. */
export const acceptWithReason = (): Option =>
  accepting('take risks by finding name, with commas; ID=reason is kept (repeatable)')

const accepting = (help: string): Option =>
  new Option('--accept <id>', help).argParser(acceptedWords).default([], 'none')
