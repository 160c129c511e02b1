import type { Cluster, Context, User } from '@kubernetes/client-node'
import { usageError } from '../errors.ts'
import {
  type Entries,
  isLoopback,
  type KubeCluster,
  loadKubeconfig,
  proxyFor,
  withTokenFile,
} from './kubeconfig.ts'
import type { Texts } from '../object.ts'
import { redactAddress, redactUrl } from './trace.ts'

/** kubectl's connection flags. No secret is ever one of them. `requestTimeout`: `30s`, `2m`; `0` for no limit. */
export interface Connection extends Texts<
  | 'kubeconfig'
  | 'context'
  | 'cluster'
  | 'user'
  | 'as'
  | 'asUid'
  | 'requestTimeout'
  | 'server'
  | 'tokenFile'
  | 'clientCertificate'
  | 'clientKey'
  | 'certificateAuthority'
  | 'tlsServerName'
> {
  asGroup?: string[]
  insecureSkipTlsVerify?: boolean
  /** No flag: so many connections at a time. Absent: as many as requests, which watches need. */
  mostSockets?: number
}

/** The environment as it was passed in: `KUBECONFIG`, `HOME`, the proxy variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One cluster, one user: the kubeconfig with the flags laid over it. */
export interface Target {
  readonly context: string | undefined
  readonly namespace: string | undefined
  readonly cluster: KubeCluster
  readonly login: User
  readonly impersonation: Impersonation
}

/** Throws a usage error that names what exists, when a context, cluster or user does not, and where the kubeconfig leads to no cluster at all. */
export async function resolveTarget(connection: Connection, env: Environment): Promise<Target> {
  const entries = await loadKubeconfig(connection, env)
  const context = named('context', entries.contexts, connection.context ?? entries.current)
  const { mostSockets } = connection
  const found = withProxy(chosenCluster(entries, context, connection), env)
  const cluster = mostSockets === undefined ? found : { ...found, mostSockets }
  const user = named('user', entries.users, connection.user ?? context?.user)
  return {
    context: context?.name,
    namespace: context?.namespace,
    cluster,
    login: withExecInfo(loginWith(user?.login, connection), cluster),
    impersonation: impersonationOf(connection) ?? user?.impersonation ?? {},
  }
}

function chosenCluster(
  { clusters, files }: Entries,
  context: Context | undefined,
  flags: Connection,
): KubeCluster {
  const found = named('cluster', clusters, flags.cluster ?? context?.cluster)
  const server = flags.server ?? found?.server
  if (server !== undefined)
    return withFlags({ skipTLSVerify: false, name: 'server', ...found, server }, flags)
  if (clusters.length === 0)
    throw usageError('no-cluster', `there is no cluster in the kubeconfig ${files.join(', ')}`, {
      remedy: 'name another with --kubeconfig FILE or KUBECONFIG',
    })
  throw usageError(
    'no-cluster',
    `the kubeconfig ${files.join(', ')} has no current context, so no cluster is chosen`,
    { remedy: ['kubectl config get-contexts', 'then name one with --context NAME'] },
  )
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
    const why = `the server "${redactAddress(server)}" is no http(s) address`
    throw usageError('server-invalid', why, { remedy: '--server https://HOST:6443' })
  }
  if (plainAllowed || !isInTheClear(server)) return server
  const why = `${redactUrl(server)} is not https: credentials would travel in the clear`
  const remedy = 'name the https address with --server, or go through `kubectl proxy`'
  throw usageError('server-not-https', why, { remedy })
}

function named<T extends { name: string }>(
  what: string,
  entries: readonly T[],
  name: string | undefined,
): T | undefined {
  const found = entries.find((entry) => entry.name === name)
  if (found !== undefined || name === undefined) return found
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
  const why = `the proxy "${redactAddress(proxyUrl)}" (${from}) is no address of a proxy`
  const remedy = 'set it to http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT'
  throw usageError('proxy-invalid', why, { remedy })
}

interface Plugin {
  apiVersion?: string
  env?: { name: string; value: string }[] | null
  provideClusterInfo?: boolean
}

/** Tells an exec plug-in what client-go tells it: `KUBERNETES_EXEC_INFO`, which client-node leaves out. */
function withExecInfo(login: User, cluster: Cluster): User {
  const plugin = login.exec as Plugin | null | undefined
  if (plugin === undefined || plugin === null) return login
  const told = {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify || undefined,
    'certificate-authority-data': cluster.caData,
    'proxy-url': cluster.proxyUrl,
  }
  const info = {
    apiVersion: plugin.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo === true && { cluster: told }) },
  }
  const variable = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }
  return { ...login, exec: { ...plugin, env: [...(plugin.env ?? []), variable] } }
}

/** Whom to act as: kubectl's `--as` flags, or `as…` of the kubeconfig's user. */
export interface Impersonation {
  user?: string | undefined
  groups?: readonly string[] | undefined
  uid?: string | undefined
  extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** One header line per group: joined by commas they would be one group with a comma in its name. */
export function impersonationHeaders({ user, groups = [], uid, extra = {} }: Impersonation): Headers {
  const others = Object.entries(extra).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
    [...values],
  ])
  return {
    ...(user !== undefined && { 'impersonate-user': user }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(Object.fromEntries(others) as Headers),
  }
}

export type Headers = Record<string, string | string[]>

export interface ConnectionDescription {
  /** Without the password that it may carry. */
  server: string
  context: string | undefined
  /** The context's namespace, `default` where it names none. */
  namespace: string
  /** The kubeconfig's name for the user, or whom we act as. */
  user: string
}

/** What a connection would speak to, from the kubeconfig alone: no request is sent. Fails as `openCluster` does. */
export async function describeConnection(
  connection: Connection,
  env: Environment,
): Promise<ConnectionDescription> {
  const { context, namespace, cluster, login, impersonation } = await resolveTarget(connection, env)
  return {
    server: redactUrl(cluster.server),
    context,
    namespace: namespace ?? 'default',
    user: impersonation.user ?? login.name,
  }
}
