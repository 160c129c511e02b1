import type { Connection, Environment } from '../connection.ts'
import { redactUrl } from './redact.ts'
import { resolveTarget } from './target.ts'

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
