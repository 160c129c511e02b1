import { KvupError, usageError } from '../system/errors.ts'
import { settings } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `$XDG_CONFIG_HOME/kvup/config.yaml`, else below `~/.config`; undefined where there is no home. */
export function configPath(env: Environment): string | undefined {
  const home = env['HOME'] ?? env['USERPROFILE']
  const base = env['XDG_CONFIG_HOME'] || (home && `${home}/.config`)
  return base ? `${base}/kvup/config.yaml` : undefined
}

/** The values in the file; none when there is no file. Throws `usage` for one that is no YAML or holds an unknown key. */
export async function readConfigFile(
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
  const { parseYaml } = await import('./parse-yaml.ts')
  try {
    return parseYaml(text)
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

/** Says where a value that does not fit was written. */
export function mustFit(check: (value: string) => void, value: string, where: string): string {
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
