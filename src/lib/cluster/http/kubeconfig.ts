import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { unreachable, usageError } from '../../system/errors.ts'
import type { Connection, Environment } from '../connection.ts'
import { type Entries, readKubeconfig } from './kubeconfig-file.ts'

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
  if (connection.server) return { clusters: [], contexts: [], users: [], current: undefined }
  throw unreachable('no-cluster', `no cluster is configured: there is no ${usual ?? '~/.kube/config'}`, {
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
  }
}

function ownNamespace(): { namespace?: string } {
  const file = `${pod}/namespace`
  return existsSync(file) ? { namespace: readFileSync(file, 'utf8') } : {}
}
