import type { Extension } from './pace.ts'
import { plainYaml } from './plain-yaml.ts'

/** A kubeconfig as it is written: nothing is checked yet. */
export interface RawKubeconfig {
  clusters?: RawEntry<'cluster', RawCluster>[] | null
  contexts?: RawEntry<'context', RawContext>[] | null
  users?: RawEntry<'user', RawUser>[] | null
  'current-context'?: string | null
}

type RawEntry<Key extends string, Body> = { name?: string } & { [key in Key]?: Body | null }

export interface RawCluster {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
  'proxy-url'?: string
  extensions?: readonly Extension[] | null
}

export interface RawContext {
  cluster?: string
  user?: string
  namespace?: string
}

export interface RawUser {
  token?: string | number
  tokenFile?: string
  username?: string
  password?: string | number
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  'auth-provider'?: object
  exec?: { command?: string } & Record<string, unknown>
  as?: string
  'as-uid'?: string
  'as-groups'?: string[]
  'as-user-extra'?: Record<string, string[]>
}

/** A YAML parser is loaded only where the text needs one. Throws what the parser says, and for a text that is no mapping. */
export async function parseKubeconfig(text: string): Promise<RawKubeconfig> {
  const value = text.trimStart().startsWith('{') ? json(text) : plainYaml(text)
  const parsed = value ?? (await import('./parse-yaml.ts')).parseYaml(text)
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw new Error('it holds no mapping')
  return parsed
}

/** Undefined for YAML that only begins like JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
