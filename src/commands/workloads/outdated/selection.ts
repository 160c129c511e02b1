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

/** Throws `usage` for a selector that no server would take and for a name that no node could have. `-A` wins over `-n`, as for kubectl. */
export function selectionOf(
  { allNamespaces, selector, node }: Typed,
  namespace: string | undefined,
): SelectedVms {
  parseLabels(selector, (why) =>
    usageError('label-selector', why, { remedy: '-l app=db,tier!=test selects by two labels' }),
  )
  if (node !== undefined && !nodeName.test(node))
    throw usageError('node-name', `${JSON.stringify(node)} cannot be the name of a node`, {
      remedy: 'kubectl get nodes -o name',
    })
  return {
    ...(namespace !== undefined && !allNamespaces && { namespace }),
    ...(selector && { labels: selector }),
    ...(node !== undefined && { node }),
  }
}
