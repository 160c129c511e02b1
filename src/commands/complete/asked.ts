import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import type { Connection } from '../../lib/kube/http/target.ts'
import type { Candidate, TypedOptions, Wanted } from '../../lib/output/completion/completion.ts'

/** What is wanted at the cursor, and the options that stand before it. */
export interface Asked extends Wanted {
  cx: Context
  /** What was not typed is what environment and config file say. */
  options: TypedOptions
}

/** Tells candidates as they become known: when its time is over, those that were told are better than none. */
export type Source = (asked: Asked, offer: (candidate: Candidate) => void) => Promise<void>

/** The last one counts, as for commander. */
export function last({ options }: Pick<Asked, 'options'>, name: string): string | undefined {
  return options.get(name)?.at(-1)
}

/** Of `__complete` itself come the settings of environment and file; the words before the cursor win. */
export function connectionOf({ cx: { flags }, options }: Asked): Connection {
  const named: Partial<Record<(typeof single)[number][1], string>> = {}
  for (const [flag, key] of single) {
    const value = last({ options }, flag)
    if (value !== undefined) named[key] = value
  }
  const groups = options.get('--as-group')
  return {
    ...flags,
    ...named,
    ...(groups && { asGroup: [...groups] }),
    ...(options.has('--insecure-skip-tls-verify') && { insecureSkipTlsVerify: true }),
    requestTimeout: '500ms',
  }
}

/** The cluster that is meant; it says nothing on stderr, whatever happens. Throws as `openCluster` does. */
export async function clusterOf(asked: Asked): Promise<Cluster> {
  const { openCluster } = await import('../../lib/kube/http/http-cluster.ts')
  const { clock, world } = asked.cx
  return openCluster(connectionOf(asked), {
    clock,
    random: () => 0.5,
    env: world.env,
    onWarning: () => undefined,
    verbosity: 0,
    userAgent: `kvup/${world.version}`,
  })
}

const single = [
  ['--kubeconfig', 'kubeconfig'],
  ['--context', 'context'],
  ['--cluster', 'cluster'],
  ['--user', 'user'],
  ['--as', 'as'],
  ['--as-uid', 'asUid'],
  ['--server', 'server'],
  ['--token-file', 'tokenFile'],
  ['--client-certificate', 'clientCertificate'],
  ['--client-key', 'clientKey'],
  ['--certificate-authority', 'certificateAuthority'],
  ['--tls-server-name', 'tlsServerName'],
] as const
