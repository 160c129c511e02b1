import { KvupError, usageError } from './lib/kube/errors.ts'
import { parseDuration } from './lib/kube/duration.ts'

/** A flag that the environment and the config file can set as well. */
interface Setting {
  /** The flag without its dashes, and the key in the file. */
  readonly name: string
  readonly env: string
  readonly default: string | undefined
  /** Throws `usage` for a value that cannot be meant. */
  readonly check: (this: void, value: string) => void
}

const settings: readonly Setting[] = [
  setting('context', undefined),
  setting('output', 'table'),
  setting('color', 'auto', oneOf('auto', 'always', 'never')),
  setting('request-timeout', '30s', durationOrNone),
  setting('timeout', '60m', duration),
  setting('stable-for', '30s', duration),
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

type Environment = Readonly<Record<string, string | undefined>>

/** `$XDG_CONFIG_HOME/kvup/config.yaml`, else below `~/.config`; undefined where there is no home. */
export function configPath(env: Environment): string | undefined {
  const home = env['HOME'] ?? env['USERPROFILE']
  const base = env['XDG_CONFIG_HOME'] || (home && `${home}/.config`)
  return base ? `${base}/kvup/config.yaml` : undefined
}

/** The values in the file; none when there is no file. Throws `usage` for one that is no YAML or holds an unknown key. */
async function readConfigFile(
  path: string,
  readText: (file: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const text = await readText(path).catch((error: unknown) => {
    if (isAbsent(error)) return ''
    throw wrong(path, error instanceof Error ? error.message : String(error))
  })
  return valuesOf(path, await parsed(path, text))
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Most have no such file, so that the parser is loaded for it alone. */
async function parsed(path: string, text: string): Promise<unknown> {
  if (text.trim() === '') return undefined
  const { parse } = await import('yaml')
  try {
    return parse(text)
  } catch (error) {
    throw wrong(path, error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error))
  }
}

function valuesOf(path: string, content: unknown): Map<string, string> {
  if (content === null || content === undefined) return new Map()
  if (typeof content !== 'object' || Array.isArray(content))
    throw wrong(path, 'it is not a list of "name: value"')
  return new Map(Object.entries(content).map(([name, value]) => [name, checked(path, name, value)]))
}

function checked(path: string, name: string, value: unknown): string {
  const known = settings.find((s) => s.name === name)
  if (known === undefined) {
    throw wrong(path, `${name} is no setting; there are ${settings.map((s) => s.name).join(', ')}`)
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong(path, `${name} is not a text`)
  return mustFit(known.check, String(value), `${name} in ${path}`)
}

function mustFit(check: (value: string) => void, value: string, where: string): string {
  try {
    check(value)
    return value
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    throw usageError(error.reason, `${where}: ${error.message}`, { remedy: error.remedy })
  }
}

const wrong = (path: string, why: string) =>
  usageError('config-file', `the config file ${path} cannot be used: ${why}`)

type Origin = 'flag' | 'environment' | 'file' | 'default'

/** A setting as it stands, and why. */
export interface Settled {
  name: string
  value: string | undefined
  origin: Origin
  /** The flag, variable or file it comes from. */
  at: string
}

/** Environment over file over default, each value checked; flags stand above and are laid over by `fillIn`. */
export async function settledSettings(
  env: Environment,
  readText: (file: string) => Promise<string>,
): Promise<Settled[]> {
  const path = configPath(env)
  const file = path === undefined ? new Map<string, string>() : await readConfigFile(path, readText)
  return settings.map((one) => {
    const inFile = file.get(one.name)
    const inEnv = env[one.env]
    if (inEnv) return fromEnvironment(one, inEnv)
    if (inFile !== undefined) return { name: one.name, value: inFile, origin: 'file', at: path ?? '' }
    return { name: one.name, value: one.default, origin: 'default', at: '' }
  })
}

function fromEnvironment({ name, env, check }: Setting, value: string): Settled {
  return { name, value: mustFit(check, value, env), origin: 'environment', at: env }
}

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
