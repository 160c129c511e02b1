import { parseLabels } from '../../../lib/cluster/label-selector.ts'
import { usageError } from '../../../lib/system/errors.ts'

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
