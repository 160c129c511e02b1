import { Nodes } from '../../cluster/kinds/core.ts'
import { Infrastructures } from '../../cluster/kinds/openshift.ts'
import type { ControllerContext } from '../machinery/controller.ts'

/** As the platform says of its machines; elsewhere three control planes and two others. */
export async function isHighlyAvailable({ reader }: Pick<ControllerContext, 'reader'>): Promise<boolean> {
  const found = await reader.find(Infrastructures, { name: 'cluster' })
  if (found.is === 'object') return found.object.status?.infrastructureTopology !== 'SingleReplica'
  const nodes = await reader.list(Nodes)
  const planes = nodes.filter(
    ({ metadata }) => metadata.labels?.['node-role.kubernetes.io/control-plane'] !== undefined,
  )
  return planes.length >= 3 && nodes.length - planes.length >= 2
}
