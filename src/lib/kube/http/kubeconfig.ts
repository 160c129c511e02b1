import { isRecord, parseJson } from '../object.ts'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { usageError } from '../errors.ts'
import type { Connection, Environment, Headers, Impersonation, Target } from './target.ts'
import type { Cluster, Context, User } from '@kubernetes/client-node'
import { plainYaml } from './plain-yaml.ts'

const pod = '/var/run/secrets/kubernetes.io/serviceaccount'
const inClusterToken = `${pod}/token`

/** All that can be connected to: `--kubeconfig`, `KUBECONFIG` (several files), `~/.kube/config`, or the pod we run in. */
export async function loadKubeconfig(connection: Connection, env: Environment): Promise<Entries> {
  if (connection.kubeconfig) return readKubeconfig(connection.kubeconfig)
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  if (named.length > 0) return readAll(named)
  const usual = usualFile(env)
  if (usual !== undefined && existsSync(usual)) return readKubeconfig(usual)
  if (env['KUBERNETES_SERVICE_HOST'] && existsSync(inClusterToken)) return inCluster(env)
  if (connection.server) return { clusters: [], contexts: [], users: [], current: undefined, files: [] }
  throw usageError('no-cluster', `no cluster is configured: there is no ${usual ?? '~/.kube/config'}`, {
    remedy: 'name a kubeconfig with --kubeconfig FILE or KUBECONFIG',
  })
}

function usualFile(env: Environment): string | undefined {
  const home = env['HOME'] ?? env['USERPROFILE']
  return home === undefined ? undefined : join(home, '.kube', 'config')
}

/** As kubectl merges: what comes first wins, files that do not exist are passed over. */
async function readAll(files: readonly string[]): Promise<Entries> {
  const present = files.filter((file) => existsSync(file))
  if (present.length === 0) {
    throw usageError('kubeconfig-missing', `KUBECONFIG names no file that exists: ${files.join(', ')}`, {
      remedy: 'export KUBECONFIG=FILE, or name one with --kubeconfig FILE',
    })
  }
  const all = await Promise.all(present.map(readKubeconfig))
  return {
    clusters: firstOfEach(all.flatMap((one) => one.clusters)),
    contexts: firstOfEach(all.flatMap((one) => one.contexts)),
    users: firstOfEach(all.flatMap((one) => one.users)),
    current: all.find((one) => one.current !== undefined)?.current,
    files: present,
  }
}

function firstOfEach<T extends { name: string }>(entries: readonly T[]): T[] {
  return entries.filter((entry, i) => entries.findIndex(({ name }) => name === entry.name) === i)
}

/** As client-go makes it of a pod's environment and its ServiceAccount. */
function inCluster(env: Environment): Entries {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  const scheme = ['80', '8080', '8001'].includes(port) ? 'http' : 'https'
  const server = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const user = 'inClusterUser'
  const authProvider = { name: 'tokenFile', config: { tokenFile: inClusterToken } }
  return {
    clusters: [{ name: 'inCluster', server, caFile: `${pod}/ca.crt`, skipTLSVerify: false }],
    contexts: [{ name: 'inClusterContext', cluster: 'inCluster', user, ...ownNamespace() }],
    users: [{ name: user, login: { name: user, authProvider }, impersonation: {} }],
    current: 'inClusterContext',
    files: [],
  }
}

function ownNamespace(): { namespace?: string } {
  const file = `${pod}/namespace`
  return existsSync(file) ? { namespace: readFileSync(file, 'utf8') } : {}
}

/** What one kubeconfig says, or several merged. */
export interface Entries {
  clusters: KubeCluster[]
  contexts: Context[]
  users: KubeUser[]
  current: string | undefined
  /** Those that were read, as they were named. */
  files: readonly string[]
}

/** client-node's cluster, and how fast its time runs. */
export interface KubeCluster extends Cluster {
  readonly pace?: number
  /** So many connections at a time. */
  readonly mostSockets?: number
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
  // A fleet reads the same file once for each of its contexts.
  if (lastRead?.file === file && lastRead.text === text) return lastRead.entries
  try {
    const entries = { ...entriesOf(await parseKubeconfig(text), resolve(file)), files: [file] }
    lastRead = { file, text, entries }
    return entries
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('kubeconfig-invalid', `${file} is not a kubeconfig: ${why}`, {
      remedy: `kubectl config view --kubeconfig ${file}`,
      cause,
    })
  }
}

let lastRead: { file: string; text: string; entries: Entries } | undefined

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

function entriesOf(
  { clusters, contexts, users, ...raw }: RawKubeconfig,
  file: string,
): Omit<Entries, 'files'> {
  const folder = dirname(file)
  return {
    clusters: (clusters ?? []).map(({ name, cluster }, i) =>
      clusterOf(required(name, `clusters[${i}].name`), required(cluster, `clusters[${i}].cluster`), file),
    ),
    contexts: (contexts ?? []).map(({ name, context }, i) =>
      contextOf(required(name, `contexts[${i}].name`), required(context, `contexts[${i}].context`)),
    ),
    users: (users ?? []).map(({ name, user }, i) =>
      userOf(required(name, `users[${i}].name`), user ?? {}, folder),
    ),
    current: raw['current-context'] || undefined,
  }
}

function required<T>(value: T | null | undefined, what: string): T {
  if (value !== undefined && value !== null && value !== '') return value
  throw new Error(`${what} is missing`)
}

function clusterOf(name: string, raw: RawCluster, file: string): KubeCluster {
  return {
    name,
    server: required(raw.server, `the server of cluster ${name}`).replace(/\/$/, ''),
    skipTLSVerify: raw['insecure-skip-tls-verify'] === true,
    file,
    ...compact({
      caData: raw['certificate-authority-data'],
      caFile: relativeTo(dirname(file), raw['certificate-authority']),
      tlsServerName: raw['tls-server-name'],
      proxyUrl: raw['proxy-url'] || undefined,
      pace: paceOf(raw.server ?? '', raw.extensions),
    }),
  }
}

function contextOf(name: string, { cluster, user, namespace }: RawContext): Context {
  return {
    name,
    cluster: required(cluster, `the cluster of context ${name}`),
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
    certFile: relativeTo(folder, raw['client-certificate']),
    keyData: raw['client-key-data'],
    keyFile: relativeTo(folder, raw['client-key']),
    authProvider: raw['auth-provider'],
    exec: exec?.command?.includes('/') ? { ...exec, command: resolve(folder, exec.command) } : exec,
  })
}

function relativeTo(folder: string, file: string | undefined): string | undefined {
  return !file || isAbsolute(file) ? file : join(folder, file)
}

/** A token file goes before a token and a plug-in, and is read again when it changes. */
export function withTokenFile(login: User, tokenFile: string): User {
  const { token: _, exec: __, ...rest } = login
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } }
}

/** A kubeconfig as it is written: nothing is checked yet. */
interface RawKubeconfig {
  clusters?: RawEntry<'cluster', RawCluster>[] | null
  contexts?: RawEntry<'context', RawContext>[] | null
  users?: RawEntry<'user', RawUser>[] | null
  'current-context'?: string | null
}

type RawEntry<Key extends string, Body> = { name?: string } & { [key in Key]?: Body | null }

interface RawCluster {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
  'proxy-url'?: string
  extensions?: readonly Extension[] | null
}

interface RawContext {
  cluster?: string
  user?: string
  namespace?: string
}

interface RawUser {
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
async function parseKubeconfig(text: string): Promise<RawKubeconfig> {
  const value = text.trimStart().startsWith('{') ? parseJson(text) : plainYaml(text)
  const parsed = value ?? (await parseYaml(text))
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw new Error('it is no mapping')
  return parsed
}

/** Merge keys are kept, as kubectl does. */
async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml')
  return parse(text, { merge: true })
}

/** Of a cluster in a kubeconfig, where `kvup demo --serve` says how fast its time runs: `{speed: 60}`. */
export const paceExtension = 'kvup.io/pace'

/** As a kubeconfig has them. */
interface Extension {
  name?: string
  extension?: unknown
}

/** Undefined where nothing is said, and of any cluster but one on this machine: no other has a time of its own. */
export function paceOf(
  server: string,
  extensions: readonly Extension[] | null | undefined,
): number | undefined {
  if (!URL.canParse(server) || !isLoopback(new URL(server).hostname)) return undefined
  const speed = speedIn(extensions)
  return typeof speed === 'number' && speed > 0 && speed <= 1000 ? speed : undefined
}

function speedIn(extensions: unknown): unknown {
  const found = Array.isArray(extensions) ? extensions.find(isPace) : undefined
  return isRecord(found?.extension) ? found.extension['speed'] : undefined
}

const isPace = (one: unknown): one is Extension => isRecord(one) && one['name'] === paceExtension

/** The proxy that the environment asks for, as Go programs (kubectl) read it. Never one for loopback. */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy || isLoopback(server.hostname) || isExempt(server, env['NO_PROXY'] || env['no_proxy'] || '')) {
    return undefined
  }
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

function isExempt(server: URL, noProxy: string): boolean {
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, bare(server.hostname), port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return inNetwork(host, entry)
  const [, name = entry, only] = /^(.+?):(\d+)$/.exec(entry) ?? []
  if (only !== undefined && only !== port) return false
  const domain = bare(name.replace(/^\*/, ''))
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`)
}

function inNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/')
  const [a, b] = [ipv4(host), ipv4(address)]
  if (a === undefined || b === undefined) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(a / size) === Math.floor(b / size)
}

function ipv4(text: string): number | undefined {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()

/** What TLS has to know: whom to trust, and who we are. */
export interface Tls {
  ca?: string | Buffer | (string | Buffer)[]
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** What is shown to the server: certificates below, headers above. */
export interface Presented {
  tls: Tls
  headers: Headers
}

/**
 * What a login without a plug-in presents: certificate, token, token file, name and password. The same as client-node
 * would: a file goes before data, a token before a password. Throws what reading a file throws.
 */
export function presented({ cluster, login }: Pick<Target, 'cluster' | 'login'>): Presented {
  const authorization = authorizationOf(login)
  return {
    tls: compact({
      rejectUnauthorized: cluster.skipTLSVerify ? false : undefined,
      servername: cluster.tlsServerName || undefined,
      ca: bytes(cluster.caFile, cluster.caData),
      cert: bytes(login.certFile, login.certData),
      key: bytes(login.keyFile, login.keyData),
    }),
    headers: authorization === undefined ? {} : { authorization },
  }
}

function authorizationOf({ token, authProvider, username, password }: Target['login']): string | undefined {
  if (token) return `Bearer ${token.trim()}`
  const { tokenFile } = (authProvider as { config?: { tokenFile?: string } } | null | undefined)?.config ?? {}
  const fromFile = tokenFile ? readFileSync(tokenFile, 'utf8').trim() : ''
  if (fromFile !== '') return `Bearer ${fromFile}`
  return username ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : undefined
}

function bytes(file: string | null | undefined, data: string | null | undefined): Buffer | undefined {
  if (file) return readFileSync(file)
  return data ? Buffer.from(data, 'base64') : undefined
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> }

export function compact<T extends object>(options: T): Given<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  ) as Given<T>
}
