import type { Clock } from '../../system/clock.ts'
import type { Cluster } from '../cluster.ts'
import type { HeardDate } from '../cluster-clock.ts'
import type { Connection, Environment } from '../connection.ts'
import { Credentials } from './credentials.ts'
import { HttpReader } from './http-reader.ts'
import { HttpReviewer } from './http-reviewer.ts'
import { HttpWriter } from './http-writer.ts'
import { redactUrl } from './redact.ts'
import { requestTimeout } from './request-timeout.ts'
import { Requests } from './requests.ts'
import { isInTheClear, resolveTarget, type Target } from './target.ts'
import { traceTo } from './trace.ts'
import { once } from './warnings.ts'

export interface ClusterTools {
  /** The local one: for sleeps, and for how long things take. */
  clock: Clock
  /** Is told what each answer says of the cluster's time. */
  heard?: ((date: HeardDate) => void) | undefined
  /** Is told of a simulated cluster how fast its time runs, before anything is asked of it. */
  paced?: ((speed: number) => void) | undefined
  /** 0 ≤ x < 1: jitter. */
  random: () => number
  env: Environment
  /** Is told each distinct `Warning:` of the server once. */
  onWarning: (text: string) => void
  /** Is told what of the connection itself is dangerous, and which login is waited for. */
  warn?: (text: string) => void
  /** `-v 6` and up: lines for stderr, secrets taken out; what the server wrote is in them as it came. */
  trace?: (line: string) => void
  verbosity: number
  /** `kvup/1.2.3` */
  userAgent: string
  /** Ends every request and login that is under way: nobody reads their answers any more. */
  ending?: AbortSignal | undefined
}

/**
 * The cluster behind a kubeconfig. Sends nothing yet: credentials are read at the first call. Throws a usage error
 * for a file, context, cluster or user that does not exist, and `unreachable` where no cluster is configured at all.
 */
export async function openCluster(connection: Connection, tools: ClusterTools): Promise<Cluster> {
  const target = await resolveTarget(connection, tools.env)
  if (target.cluster.pace !== undefined) tools.paced?.(target.cluster.pace)
  if (isInTheClear(target.cluster.server)) tools.warn?.(inTheClear(target))
  const requests = new Requests({
    ...tools,
    trace: traceTo(tools.trace, tools.verbosity),
    onWarning: once(tools.onWarning),
    credentials: new Credentials(sameTarget(target, connection, tools.env), {
      ...tools,
      waiting: tools.warn,
    }),
    timeout: requestTimeout(connection.requestTimeout),
    server: target.cluster.server,
    to: {
      server: redactUrl(target.cluster.server),
      file: connection.server === undefined ? target.cluster.file : undefined,
      context: target.context,
      user: target.impersonation.user ?? target.login.name,
      proxy: target.cluster.proxyUrl && redactUrl(target.cluster.proxyUrl),
    },
  })
  return {
    reader: new HttpReader(requests, tools),
    writer: new HttpWriter(requests),
    reviewer: Object.assign(new HttpReviewer(requests, new HttpWriter(requests, { rehearsal: true })), {
      credentialsEnd: async () => (await import('./credentials-end.ts')).credentialsEnd(target.login),
    }),
  }
}

/** As kubectl does, it is done where somebody asked for it; unlike kubectl, it is not done in silence. */
const inTheClear = ({ cluster, login }: Target): string =>
  `${redactUrl(cluster.server)} is not https: the credentials of ${login.name} and all that is asked and answered travel in the clear`

/**
 * Reads the kubeconfig again for new credentials only: `kubectl config use-context` in another window, or another
 * address under the same name, must not move a run to another cluster.
 */
function sameTarget(first: Target, connection: Connection, env: Environment): () => Promise<Target> {
  const pinned = first.context === undefined ? connection : { ...connection, context: first.context }
  let read = false
  return async () => {
    const target = read ? await readAgain(pinned, env) : first
    read = true
    return target?.cluster.server === first.cluster.server ? target : first
  }
}

/** Undefined while the file is gone or half written: what was read before is then as good as it gets. */
async function readAgain(connection: Connection, env: Environment): Promise<Target | undefined> {
  try {
    return await resolveTarget(connection, env)
  } catch {
    return undefined
  }
}
