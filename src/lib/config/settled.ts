import { type Environment, configPath, mustFit, readConfigFile } from './config-file.ts'
import { type Setting, settings } from './settings.ts'

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
  return settings.map((setting) => {
    const inFile = file.get(setting.name)
    if (env[setting.env]) return fromEnvironment(setting, env[setting.env] ?? '')
    if (inFile !== undefined) return { name: setting.name, value: inFile, origin: 'file', at: path ?? '' }
    return { name: setting.name, value: setting.default, origin: 'default', at: '' }
  })
}

function fromEnvironment({ name, env, check }: Setting, value: string): Settled {
  return { name, value: mustFit(check, value, env), origin: 'environment', at: env }
}
