import type { Kind } from '../../lib/cluster/kind.ts'
import { Namespaces, Nodes } from '../../lib/cluster/kinds/core.ts'
import { NotSavedError } from '../../lib/cluster/saved/not-saved.ts'
import { ApiError } from '../../lib/system/errors.ts'
import type { Selection } from '../../lib/workloads/outdated/selection.ts'
import type { LookedAt } from '../reader-for.ts'

/**
 * Where nothing was found: remarks that there is no such namespace or node, so that a name that was mistyped does not look like success.
 * Silent where that may not be read; of a saved cluster namespaces are not known.
 */
export async function noSuchPlace(
  looked: Pick<LookedAt, 'cluster'> & { saved?: boolean },
  { namespace, node }: Pick<Selection, 'namespace' | 'node'>,
): Promise<readonly string[]> {
  const remarks = await Promise.all([
    looked.saved ? [] : missing(looked, { kind: Namespaces, word: 'namespace', name: namespace }),
    missing(looked, { kind: Nodes, word: 'node', name: node }),
  ])
  return remarks.flat()
}

async function missing(
  { cluster: { reader } }: Pick<LookedAt, 'cluster'>,
  { kind, word, name }: { kind: Kind; word: string; name: string | undefined },
): Promise<readonly string[]> {
  if (name === undefined) return []
  try {
    const { is } = await reader.find(kind, { name })
    return is === 'object' ? [] : [`there is no ${word} ${name}`]
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof NotSavedError)) throw error
    return []
  }
}
