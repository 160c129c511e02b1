import type { Cluster, User } from '@kubernetes/client-node'

interface ExecPlugin {
  apiVersion?: string
  env?: { name: string; value: string }[] | null
  provideClusterInfo?: boolean
}

/** Tells an exec plug-in what client-go tells it: `KUBERNETES_EXEC_INFO`, which client-node leaves out. */
export function withExecInfo(login: User, cluster: Cluster): User {
  const plugin = login.exec as ExecPlugin | null | undefined
  if (plugin === undefined || plugin === null) return login
  const told = {
    apiVersion: plugin.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(plugin.provideClusterInfo === true && { cluster: clusterTold(cluster) }),
    },
  }
  const variable = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(told) }
  return { ...login, exec: { ...plugin, env: [...(plugin.env ?? []), variable] } }
}

function clusterTold(cluster: Cluster): object {
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify || undefined,
    'certificate-authority-data': cluster.caData,
    'proxy-url': cluster.proxyUrl,
  }
}
