import type { Cluster, Context, User } from '@kubernetes/client-node'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { usageError } from '../../system/errors.ts'
import type { Impersonation } from './impersonation.ts'
import {
  parseKubeconfig,
  type RawCluster,
  type RawContext,
  type RawKubeconfig,
  type RawUser,
} from './kubeconfig-text.ts'
import { paceOf } from './pace.ts'
import { compact } from './presented.ts'

/** What one kubeconfig says, or several merged. */
export interface Entries {
  clusters: KubeCluster[]
  contexts: Context[]
  users: KubeUser[]
  current: string | undefined
}

/** client-node's cluster, and how fast its time runs. */
export interface KubeCluster extends Cluster {
  readonly pace?: number
  /** The kubeconfig that it stands in. */
  readonly file?: string
}

/** client-node's user, and what kubectl reads besides. */
interface KubeUser {
  readonly name: string
  readonly login: User
  readonly impersonation: Impersonation
}

/** Reads one file; paths in it are relative to its folder. Throws a usage error that names it. */
export async function readKubeconfig(file: string): Promise<Entries> {
  const text = readText(file)
  try {
    return entriesOf(await parseKubeconfig(text), resolve(file))
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

function entriesOf({ clusters, contexts, users, ...raw }: RawKubeconfig, file: string): Entries {
  const folder = dirname(file)
  return {
    clusters: (clusters ?? []).map(({ name, cluster }, i) =>
      clusterOf(present(name, `clusters[${i}].name`), present(cluster, `clusters[${i}].cluster`), file),
    ),
    contexts: (contexts ?? []).map(({ name, context }, i) =>
      contextOf(present(name, `contexts[${i}].name`), present(context, `contexts[${i}].context`)),
    ),
    users: (users ?? []).map(({ name, user }, i) =>
      userOf(present(name, `users[${i}].name`), user ?? {}, folder),
    ),
    current: raw['current-context'] || undefined,
  }
}

function present<T>(value: T | null | undefined, what: string): T {
  if (value !== undefined && value !== null && value !== '') return value
  throw new Error(`${what} is missing`)
}

function clusterOf(name: string, raw: RawCluster, file: string): KubeCluster {
  return {
    name,
    server: present(raw.server, `the server of cluster ${name}`).replace(/\/$/, ''),
    skipTLSVerify: raw['insecure-skip-tls-verify'] === true,
    file,
    ...compact({
      caData: raw['certificate-authority-data'],
      caFile: beside(dirname(file), raw['certificate-authority']),
      tlsServerName: raw['tls-server-name'],
      proxyUrl: raw['proxy-url'] || undefined,
      pace: paceOf(raw.server ?? '', raw.extensions),
    }),
  }
}

function contextOf(name: string, { cluster, user, namespace }: RawContext): Context {
  return {
    name,
    cluster: present(cluster, `the cluster of context ${name}`),
    // client-node's type wants one, and a context may be without.
    user: (user || undefined) as string,
    ...compact({ namespace: namespace || undefined }),
  }
}

function userOf(name: string, raw: RawUser, folder: string): KubeUser {
  const { tokenFile, as: user, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = raw
  const login = { name, ...credentialsOf(raw, folder) }
  return {
    name,
    login: tokenFile ? withTokenFile(login, resolve(folder, tokenFile)) : login,
    impersonation: { user, uid, groups, extra },
  }
}

function credentialsOf(raw: RawUser, folder: string): Omit<User, 'name'> {
  const { token, username, password, exec } = raw
  return compact({
    token: token ? String(token) : undefined,
    username,
    password: password === undefined ? undefined : String(password),
    certData: raw['client-certificate-data'],
    certFile: beside(folder, raw['client-certificate']),
    keyData: raw['client-key-data'],
    keyFile: beside(folder, raw['client-key']),
    authProvider: raw['auth-provider'],
    exec: exec?.command?.includes('/') ? { ...exec, command: resolve(folder, exec.command) } : exec,
  })
}

function beside(folder: string, file: string | undefined): string | undefined {
  return !file || isAbsolute(file) ? file : join(folder, file)
}

/** A token file goes before a token and a plug-in, and is read again when it changes. */
export function withTokenFile(login: User, tokenFile: string): User {
  const { token: _, exec: __, ...rest } = login
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } }
}
