import { type Cluster, type Context, KubeConfig, loadYaml, type User } from '@kubernetes/client-node'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { usageError } from '../../system/errors.ts'
import type { Impersonation } from './impersonation.ts'

/** What one kubeconfig says, or several merged. */
export interface Entries {
  clusters: Cluster[]
  contexts: Context[]
  users: KubeUser[]
  current: string | undefined
}

/** client-node's user, and what kubectl reads besides. */
interface KubeUser {
  readonly name: string
  readonly login: User
  readonly impersonation: Impersonation
}

interface RawUser {
  name?: string
  user?: {
    tokenFile?: string
    as?: string
    'as-uid'?: string
    'as-groups'?: string[]
    'as-user-extra'?: Record<string, string[]>
    exec?: { command?: string } & Record<string, unknown>
  } | null
}

/** Reads one file; paths in it are relative to its folder. Throws a usage error that names it. */
export function readKubeconfig(file: string): Entries {
  const text = readText(file)
  try {
    const config = new KubeConfig()
    config.loadFromString(text)
    config.makePathsAbsolute(dirname(resolve(file)))
    const raw = loadYaml<{ users?: RawUser[] | null } | null>(text)
    return {
      clusters: config.clusters,
      contexts: config.contexts,
      users: config.users.map((login) => kubeUser(login, rawUser(raw?.users ?? [], login.name), file)),
      current: config.currentContext || undefined,
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('kubeconfig-invalid', `${file} is not a kubeconfig: ${why}`, {
      remedy: `kubectl config view --kubeconfig ${file}`,
      cause,
    })
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usageError(
      'kubeconfig-missing',
      `cannot read the kubeconfig ${file}: ${(cause as Error).message}`,
      {
        remedy: 'name a file that exists with --kubeconfig FILE or KUBECONFIG',
        cause,
      },
    )
  }
}

function rawUser(users: readonly RawUser[], name: string): NonNullable<RawUser['user']> {
  return users.find((user) => user.name === name)?.user ?? {}
}

function kubeUser(login: User, raw: NonNullable<RawUser['user']>, file: string): KubeUser {
  const beside = (path: string) => (isAbsolute(path) ? path : resolve(dirname(file), path))
  const { tokenFile, exec } = raw
  return {
    name: login.name,
    login: {
      ...(tokenFile === undefined ? login : withTokenFile(login, beside(tokenFile))),
      ...(exec?.command?.includes('/') && { exec: { ...exec, command: beside(exec.command) } }),
    },
    impersonation: {
      user: raw.as,
      uid: raw['as-uid'],
      groups: raw['as-groups'],
      extra: raw['as-user-extra'],
    },
  }
}

/** A token file goes before a token and a plug-in, and is read again when it changes. */
export function withTokenFile(login: User, tokenFile: string): User {
  const { token: _, exec: __, ...rest } = login
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } }
}
