import { isRecord, parseJson, type Texts } from '../object.ts'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { cannotRead, messageOf, usageError } from '../errors.ts'
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
  const home = env['HOME'] ?? env['USERPROFILE']
  const usual = home === undefined ? undefined : join(home, '.kube', 'config')
  if (usual !== undefined && existsSync(usual)) return readKubeconfig(usual)
  if (env['KUBERNETES_SERVICE_HOST'] && existsSync(inClusterToken)) return inCluster(env)
  if (connection.server) return { clusters: [], contexts: [], users: [], current: undefined, files: [] }
  throw usageError('no-cluster', `no cluster is configured: there is no ${usual ?? '~/.kube/config'}`, {
    remedy: 'name a kubeconfig with --kubeconfig FILE or KUBECONFIG',
  })
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
    clusters: firstOfEach(all.flatMap(({ clusters }) => clusters)),
    contexts: firstOfEach(all.flatMap(({ contexts }) => contexts)),
    users: firstOfEach(all.flatMap(({ users }) => users)),
    current: all.find(({ current }) => current !== undefined)?.current,
    files: present,
  }
}

const firstOfEach = <T extends { name: string }>(entries: readonly T[]): T[] =>
  entries.filter((entry, i) => entries.findIndex(({ name }) => name === entry.name) === i)

/** As client-go makes it of a pod's environment and its ServiceAccount. */
function inCluster(env: Environment): Entries {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  const scheme = ['80', '8080', '8001'].includes(port) ? 'http' : 'https'
  const server = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const user = 'inClusterUser'
  const namespace = existsSync(`${pod}/namespace`) && readFileSync(`${pod}/namespace`, 'utf8')
  return {
    clusters: [{ name: 'inCluster', server, caFile: `${pod}/ca.crt`, skipTLSVerify: false }],
    contexts: [
      { name: 'inClusterContext', cluster: 'inCluster', user, ...(namespace !== false && { namespace }) },
    ],
    users: [{ name: user, login: withTokenFile({ name: user }, inClusterToken), impersonation: {} }],
    current: 'inClusterContext',
    files: [],
  }
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
    const entries = entriesOf(await parseKubeconfig(text), file)
    lastRead = { file, text, entries }
    return entries
  } catch (cause) {
    const why = `${file} is not a kubeconfig: ${messageOf(cause)}`
    throw usageError('kubeconfig-invalid', why, { remedy: `kubectl config view --kubeconfig ${file}`, cause })
  }
}

let lastRead: { file: string; text: string; entries: Entries } | undefined

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const remedy = 'name a file that exists with --kubeconfig FILE or KUBECONFIG'
    return cannotRead('kubeconfig-missing', `the kubeconfig ${file}`, remedy)(cause)
  }
}

/** A kubeconfig as it is written: nothing is checked yet. */
type Raw = { [list in `${Entry}s`]?: readonly unknown[] | null } & { 'current-context'?: string | null }
type Entry = 'cluster' | 'context' | 'user'

function entriesOf(raw: Raw, named: string): Entries {
  const file = resolve(named)
  const each = <T, Made>(what: Entry, made: (name: string, body: T) => Made, otherwise?: T): Made[] =>
    (raw[`${what}s`] ?? []).map((one, i) => {
      const { name, [what]: body } = (one ?? {}) as { name?: string } & { [key in Entry]?: T | null }
      const at = `${what}s[${i}]`
      return made(required(name, `${at}.name`), required(body ?? otherwise, `${at}.${what}`))
    })
  return {
    clusters: each<RawCluster, KubeCluster>('cluster', (name, cluster) => clusterOf(name, cluster, file)),
    contexts: each('context', contextOf),
    users: each<RawUser, KubeUser>('user', (name, user) => userOf(name, user, dirname(file)), {}),
    current: raw['current-context'] || undefined,
    files: [named],
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

function contextOf(name: string, { cluster, user, namespace }: Partial<Context>): Context {
  return {
    name,
    cluster: required(cluster, `the cluster of context ${name}`),
    // client-node's type wants one, and a context may be without.
    user: (user || undefined) as string,
    ...compact({ namespace: namespace || undefined }),
  }
}

function userOf(name: string, raw: RawUser, folder: string): KubeUser {
  const { tokenFile, token, username, password, exec } = raw
  const { as: user, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = raw
  const login: User = {
    name,
    ...compact({
      token: token ? String(token) : undefined,
      username,
      password: password === undefined ? undefined : String(password),
      certData: raw['client-certificate-data'],
      certFile: relativeTo(folder, raw['client-certificate']),
      keyData: raw['client-key-data'],
      keyFile: relativeTo(folder, raw['client-key']),
      authProvider: raw['auth-provider'],
      exec: exec?.command?.includes('/') ? { ...exec, command: resolve(folder, exec.command) } : exec,
    }),
  }
  return {
    name,
    login: tokenFile ? withTokenFile(login, resolve(folder, tokenFile)) : login,
    impersonation: { user, uid, groups, extra },
  }
}

function relativeTo(folder: string, file: string | undefined): string | undefined {
  return !file || isAbsolute(file) ? file : join(folder, file)
}

/** A token file goes before a token and a plug-in, and is read again when it changes. */
export function withTokenFile(login: User, tokenFile: string): User {
  const { token: _, exec: __, ...rest } = login
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } }
}

type RawCluster = Texts<
  'server' | 'certificate-authority' | 'certificate-authority-data' | 'tls-server-name' | 'proxy-url'
> & { 'insecure-skip-tls-verify'?: boolean; extensions?: unknown }

interface RawUser extends Texts<
  | 'tokenFile'
  | 'username'
  | 'client-certificate'
  | 'client-certificate-data'
  | 'client-key'
  | 'client-key-data'
  | 'as'
  | 'as-uid'
> {
  token?: string | number
  password?: string | number
  'auth-provider'?: object
  exec?: { command?: string } & Record<string, unknown>
  'as-groups'?: string[]
  'as-user-extra'?: Record<string, string[]>
}

/** A YAML parser is loaded only where the text needs one. Throws what the parser says, and for a text that is no mapping. */
async function parseKubeconfig(text: string): Promise<Raw> {
  const value = text.trimStart().startsWith('{') ? parseJson(text) : plainYaml(text)
  // Merge keys are kept, as kubectl does.
  const parsed = value ?? ((await import('yaml')).parse(text, { merge: true }) as unknown) ?? {}
  if (isRecord(parsed)) return parsed
  throw new Error('it is no mapping')
}

/** Of a cluster in a kubeconfig, where `kvup demo --serve` says how fast its time runs: `{speed: 60}`. */
export const paceExtension = 'kvup.io/pace'

/** Undefined where nothing is said, and of any cluster but one on this machine: no other has a time of its own. */
export function paceOf(server: string, extensions: unknown): number | undefined {
  if (!URL.canParse(server) || !isLoopback(new URL(server).hostname) || !Array.isArray(extensions))
    return undefined
  const found: unknown = extensions.find((one) => isRecord(one) && one['name'] === paceExtension)
  const extension = isRecord(found) ? found['extension'] : undefined
  const speed = isRecord(extension) ? extension['speed'] : undefined
  return typeof speed === 'number' && speed > 0 && speed <= 1000 ? speed : undefined
}

/** The proxy that the environment asks for, as Go programs (kubectl) read it. Never one for loopback. */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy || isLoopback(server.hostname) || isExempt(server, env['NO_PROXY'] || env['no_proxy'] || '')) {
    return undefined
  }
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)

function isExempt(server: URL, noProxy: string): boolean {
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase())
  return entries.some(
    (entry) => entry !== '' && (entry === '*' || matches(entry, bare(server.hostname), port)),
  )
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
