import type { Settled } from './settled.ts'

/** What is needed of a parsed command line; commander's Command is one. */
export interface ParsedCommand {
  readonly options: readonly { long?: string | undefined; attributeName(): string }[]
  readonly parent: ParsedCommand | null
  getOptionValueSource(key: string): string | undefined
  setOptionValueWithSource(key: string, value: unknown, source: string): unknown
}

/** Gives every option that was not typed its value of environment or file. To be called before the options are read. */
export function fillIn(command: ParsedCommand, settled: readonly Settled[]): void {
  for (let at: ParsedCommand | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const key = option.attributeName()
      const value = settled.find(({ name }) => option.long === `--${name}`)
      if (value === undefined || value.origin === 'default' || at.getOptionValueSource(key) === 'cli')
        continue
      at.setOptionValueWithSource(key, value.value, value.origin)
    }
  }
}
