import { usageError } from '../system/errors.ts'
import { parseDuration } from '../system/duration.ts'

/** A flag that the environment and the config file can set as well. */
export interface Setting {
  /** The flag without its dashes, and the key in the file. */
  readonly name: string
  readonly env: string
  readonly default: string | undefined
  /** Throws `usage` for a value that cannot be meant. */
  readonly check: (this: void, value: string) => void
}

export const settings: readonly Setting[] = [
  setting('context', undefined),
  setting('output', 'table'),
  setting('color', 'auto', oneOf('auto', 'always', 'never')),
  setting('request-timeout', '30s', durationOrNone),
  setting('timeout', '60m', duration),
  setting('settle', '30s', duration),
  setting('manifest-base', 'https://github.com/kubevirt/kubevirt/releases/download', url),
]

/** The default of a setting, so that a command does not have one of its own. */
export function settingDefault(name: string): string | undefined {
  return settings.find((s) => s.name === name)?.default
}

function setting(
  name: string,
  standard: string | undefined,
  check: (value: string) => void = notEmpty,
): Setting {
  return { name, env: `KVUP_${name.toUpperCase().replaceAll('-', '_')}`, default: standard, check }
}

function notEmpty(value: string): void {
  if (value === '') throw usageError('empty-setting', 'it is empty')
}

function duration(value: string): void {
  parseDuration(value)
}

/** `0` is no limit, as for kubectl. */
function durationOrNone(value: string): void {
  if (value !== '0') parseDuration(value)
}

function oneOf(...choices: string[]): (value: string) => void {
  return (value) => {
    if (!choices.includes(value)) {
      throw usageError('not-a-choice', `${JSON.stringify(value)} is none of ${choices.join(', ')}`)
    }
  }
}

function url(value: string): void {
  if (!URL.canParse(value)) throw usageError('not-a-url', `${JSON.stringify(value)} is not a URL`)
}
