import type { Context, User } from '@kubernetes/client-node'
import { unreachable, usageError } from '../../system/errors.ts'
import type { Connection, Environment } from '../connection.ts'
import { withExecInfo } from './exec-info.ts'
import type { Impersonation } from './impersonation.ts'
import { loadKubeconfig } from './kubeconfig.ts'
import { type Entries, type KubeCluster, withTokenFile } from './kubeconfig-file.ts'
import { isLoopback, proxyFor } from './proxy-for.ts'
import { redactAddress, redactUrl } from './redact.ts'

/** One cluster, one user: the kubeconfig with the flags laid over it. */
export interface Target {
  readonly context: string | undefined
  readonly namespace: string | undefined
  readonly cluster: KubeCluster
  readonly login: User
  readonly impersonation: Impersonation
}

/** Throws a usage error that names what exists, when a context, cluster or user does not. */
export async function resolveTarget(connection: Connection, env: Environment): Promise<Target> {
  const entries = await loadKubeconfig(connection, env)
  const context = chosenContext(entries, connection)
  const cluster = withProxy(chosenCluster(entries, context, connection), env)
  const user = chosenUser(entries, context, connection)
  return {
    context: context?.name,
    namespace: context?.namespace,
    cluster,
    login: withExecInfo(loginWith(user?.login, connection), cluster),
    impersonation: impersonationOf(connection) ?? user?.impersonation ?? {},
  }
}

function chosenContext({ contexts, current }: Entries, connection: Connection): Context | undefined {
  const wanted = connection.context ?? current
  return wanted === undefined ? undefined : named('context', contexts, wanted)
}

function chosenCluster({ clusters }: Entries, context: Context | undefined, flags: Connection): KubeCluster {
  const wanted = flags.cluster ?? context?.cluster
  const found = wanted === undefined ? undefined : named('cluster', clusters, wanted)
  const server = flags.server ?? found?.server
  if (server !== undefined)
    return withFlags({ skipTLSVerify: false, name: 'server', ...found, server }, flags)
  throw unreachable('no-cluster', 'the kubeconfig has no current context, so no cluster is chosen', {
    remedy: ['kubectl config get-contexts', 'then name one with --context NAME'],
  })
}

function withFlags(cluster: KubeCluster, flags: Connection): KubeCluster {
  const trusting = flags.insecureSkipTlsVerify ?? cluster.skipTLSVerify
  return {
    ...cluster,
    server: checked(cluster.server, trusting).replace(/\/+$/, ''),
    // There is nothing to verify, and client-node refuses every plain http without this.
    skipTLSVerify: trusting || isPlain(cluster.server),
    ...(flags.certificateAuthority !== undefined && { caFile: flags.certificateAuthority }),
    ...(flags.tlsServerName !== undefined && { tlsServerName: flags.tlsServerName }),
  }
}

const isPlain = (server: string): boolean => /^http:/i.test(server)

/** Whether what goes to this server can be read on the way: no https, and not to this machine. */
export const isInTheClear = (server: string): boolean =>
  isPlain(server) && !isLoopback(new URL(server).hostname)

/** Credentials do not travel in the clear, but to this machine (`kubectl proxy`, the simulator). */
function checked(server: string, plainAllowed: boolean): string {
  if (!URL.canParse(server) || !/^https?:/i.test(server)) {
    throw usageError('server-invalid', `the server "${redactAddress(server)}" is no http(s) address`, {
      remedy: '--server https://HOST:6443',
    })
  }
  if (!plainAllowed && isInTheClear(server)) {
    throw usageError(
      'server-not-https',
      `${redactUrl(server)} is not https: credentials would travel in the clear`,
      {
        remedy: 'name the https address with --server, or go through `kubectl proxy`',
      },
    )
  }
  return server
}

function chosenUser({ users }: Entries, context: Context | undefined, flags: Connection) {
  const wanted = flags.user ?? context?.user
  return wanted === undefined ? undefined : named('user', users, wanted)
}

function named<T extends { name: string }>(what: string, entries: readonly T[], name: string): T {
  const found = entries.find((entry) => entry.name === name)
  if (found !== undefined) return found
  const known = entries.map((entry) => entry.name).join(', ') || 'none'
  throw usageError(`${what}-unknown`, `the kubeconfig has no ${what} "${name}"; it has: ${known}`, {
    remedy: `choose one of them with --${what} NAME`,
  })
}

function loginWith(user: User | undefined, flags: Connection): User {
  const login: User = {
    ...(user ?? { name: 'nobody' }),
    ...(flags.clientCertificate !== undefined && { certFile: flags.clientCertificate }),
    ...(flags.clientKey !== undefined && { keyFile: flags.clientKey }),
  }
  return flags.tokenFile === undefined ? login : withTokenFile(login, flags.tokenFile)
}

function impersonationOf({ as, asGroup, asUid }: Connection): Impersonation | undefined {
  if (as !== undefined) return { user: as, groups: asGroup, uid: asUid }
  if (asGroup === undefined && asUid === undefined) return undefined
  throw usageError('as-missing', '--as-group and --as-uid need --as', { remedy: 'add --as USER' })
}

function withProxy(cluster: KubeCluster, env: Environment): KubeCluster {
  const proxyUrl = cluster.proxyUrl ?? proxyFor(new URL(cluster.server), env)
  if (proxyUrl === undefined) return cluster
  if (URL.canParse(proxyUrl) && /^(?:https?|socks[45]?[ah]?):/iu.test(proxyUrl))
    return { ...cluster, proxyUrl }
  const from =
    cluster.proxyUrl === undefined ? 'HTTPS_PROXY or HTTP_PROXY' : `proxy-url of cluster ${cluster.name}`
  throw usageError(
    'proxy-invalid',
    `the proxy "${redactAddress(proxyUrl)}" (${from}) is no address of a proxy`,
    {
      remedy: `set it to http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT`,
    },
  )
}
