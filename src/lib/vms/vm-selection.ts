import { type Kind, parseLabels } from '../kube/object.ts'
import { ApiError, usageError } from '../kube/errors.ts'
import { Namespaces, Nodes } from '../kube/kinds/core-kinds.ts'
import { NotSavedError } from '../kube/saved/saved-cluster.ts'
import type { Selection } from './vm.ts'
import type { ReadCluster } from '../kubevirt/read-cluster.ts'

/** Which VMs were asked for. */
export interface SelectedVms {
  namespace?: string
  labels?: string
  node?: string
}

interface Typed {
  allNamespaces?: boolean
  selector?: string
  node?: string
}

const nodeName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u

/**
 * The namespace of `-n`, undefined for all of them. Throws `usage` for an empty one, as an unset variable of a script leaves it: it would be all
 * VMs.
 */
export function namespaceOf(
  namespace: string | undefined,
  { allNamespaces }: Pick<Typed, 'allNamespaces'> = {},
): string | undefined {
  if (allNamespaces) return undefined
  if (namespace === '')
    throw usageError('namespace-name', '-n is empty: it would be all VMs', {
      remedy: 'leave -n out for all namespaces, or name one: kubectl get namespaces -o name',
    })
  return namespace
}

/** Throws `usage` for a selector that no server would take and for a name that no node could have. `-A` wins over `-n`, as for kubectl. */
export function selectionOf(typed: Typed, namespace: string | undefined): SelectedVms {
  const { selector, node } = typed
  const within = namespaceOf(namespace, typed)
  parseLabels(selector, (why) =>
    usageError('label-selector', why, { remedy: '-l app=db,tier!=test selects by two labels' }),
  )
  if (node !== undefined && !nodeName.test(node))
    throw usageError('node-name', `${JSON.stringify(node)} cannot be the name of a node`, {
      remedy: 'kubectl get nodes -o name',
    })
  return {
    ...(within !== undefined && { namespace: within }),
    ...(selector && { labels: selector }),
    ...(node !== undefined && { node }),
  }
}

/**
 * Where nothing was found: remarks that there is no such namespace or node, so that a name that was mistyped does not look like success.
 * Silent where that may not be read; of a saved cluster namespaces are not known.
 */
export async function noSuchPlace(
  snapshot: Pick<ReadCluster, 'cluster'> & { saved?: boolean },
  { namespace, node }: Pick<Selection, 'namespace' | 'node'>,
): Promise<readonly string[]> {
  const remarks = await Promise.all([
    snapshot.saved ? [] : missing(snapshot, { kind: Namespaces, word: 'namespace', name: namespace }),
    missing(snapshot, { kind: Nodes, word: 'node', name: node }),
  ])
  return remarks.flat()
}

async function missing(
  { cluster: { reader } }: Pick<ReadCluster, 'cluster'>,
  { kind, word, name }: { kind: Kind; word: string; name: string | undefined },
): Promise<readonly string[]> {
  if (name === undefined) return []
  try {
    const { is } = await reader.get(kind, { name })
    return is === 'object' ? [] : [`there is no ${word} ${name}`]
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof NotSavedError)) throw error
    return []
  }
}
