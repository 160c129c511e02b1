import { Option } from 'commander'

/** The same words in every command that has findings. */
export const acceptOption = (): Option => accepting('take risks by finding name, with commas (repeatable)')

/** Where a plan or a report keeps why a risk was taken. */
export const acceptWithReason = (): Option =>
  accepting('take risks by finding name, with commas; ID=reason is kept (repeatable)')

const accepting = (help: string): Option =>
  new Option('--accept <id>', help).argParser(acceptedWords).default([], 'none')

/** What `--accept` takes, each time that it is given: names with commas between them. A reason runs to the end, commas and all. */
export function acceptedWords(value: string, before: readonly string[]): readonly string[] {
  const at = value.indexOf('=')
  const names = (at < 0 ? value : value.slice(0, at)).split(',').map((name) => name.trim())
  const words = names.map((name, i) => (at >= 0 && i === names.length - 1 ? name + value.slice(at) : name))
  return [...before, ...words.filter((word) => word !== '')]
}
