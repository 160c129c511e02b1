import type { Context } from '../../context.ts'
import type { Connection } from '../../lib/cluster/connection.ts'
import type { Candidate, Wanted } from '../../lib/output/completion/complete.ts'

type Typed = ReadonlyMap<string, string>

/** What this kubeconfig or this cluster knows; undefined where neither is asked. Rejects with whatever goes wrong there. */
export function liveValues(
  { option }: Wanted,
  cx: Context,
  typed: Typed,
): Promise<readonly Candidate[]> | undefined {
  if (option === '--context') return contexts(cx, typed)
  return option === '--to' ? versions(cx, typed) : undefined
}

async function contexts(cx: Context, typed: Typed): Promise<readonly Candidate[]> {
  const { contextNames } = await import('../../lib/cluster/http/describe-connection.ts')
  const names = await contextNames(connectionOf(cx, typed), cx.world.env)
  return names.map((value) => ({ value, description: '' }))
}

async function versions(cx: Context, typed: Typed): Promise<readonly Candidate[]> {
  const { openCluster } = await import('../../lib/cluster/http/open-cluster.ts')
  const { findKubeVirts } = await import('../../lib/facts/find-kubevirts.ts')
  const { reachable } = await import('../../lib/upgrade/reachable.ts')
  const { reader } = await openCluster(connectionOf(cx, typed), {
    clock: cx.clock,
    random: () => 0.5,
    env: cx.world.env,
    onWarning: () => undefined,
    verbosity: 0,
    userAgent: `kvup/${cx.world.version}`,
  })
  const found = await findKubeVirts(reader)
  const observed = found.known ? found.items[0]?.status?.observedKubeVirtVersion : undefined
  if (observed === undefined) throw new Error('no version was observed')
  return reachable(observed).map((value) => ({ value, description: `one hop from ${observed}` }))
}

/** Of `__complete` itself come the settings of environment and file; the words before the cursor win. */
function connectionOf({ flags }: Context, typed: Typed): Connection {
  const named: Partial<Record<(typeof single)[number][1], string>> = {}
  for (const [flag, key] of single) {
    const value = typed.get(flag)
    if (value !== undefined) named[key] = value
  }
  return { ...flags, ...named, requestTimeout: '500ms' }
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
