import type { Context } from '../../context.ts'
import { KvupError } from '../../lib/system/errors.ts'

/** Which cluster, as whom: said before the question of a window. Nothing where no kubeconfig says it; the cluster was reached otherwise then. */
export async function connectedTo({
  flags,
  world,
}: Pick<Context, 'flags' | 'world'>): Promise<readonly string[]> {
  const { describeConnection } = await import('../../lib/cluster/http/describe-connection.ts')
  try {
    const { server, context, user } = await describeConnection(flags, world.env)
    return [`cluster ${server}${context === undefined ? '' : ` (context ${context})`}, as ${user}`]
  } catch (error) {
    if (error instanceof KvupError) return []
    throw error
  }
}
