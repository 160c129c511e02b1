import type { FleetPlanDocument, PlannedCluster } from '../../fleet/fleet-plan.ts'
import { fleetPlanText, groupName, isWhole } from './fleet-words.ts'
import { spanText } from '../../kube/duration.ts'
import type { Column, View } from '../printer.ts'
import { table } from '../table.ts'
import { brief, helpLine, wrap } from '../text.ts'
import { argoWorkflow } from '../formats/argo-workflow.ts'

const columns: readonly Column<PlannedCluster>[] = [
  { name: 'GROUP', cell: ({ group }) => groupName(group) },
  { name: 'CLUSTER', cell: ({ name }) => name },
  { name: 'FROM', cell: ({ plan }) => plan?.from },
  { name: 'METHOD', cell: ({ plan }) => plan?.method },
  {
    name: 'TIME',
    cell: ({ plan }) =>
      plan?.pending === false ? 'nothing to do' : plan?.time && spanText(plan.time.highSeconds * 1000),
  },
  { name: 'UID', cell: ({ uid }) => uid, wide: true },
  {
    name: 'AGAINST IT',
    holds: 'text',
    cell: ({ error, plan }) => (error ? brief(error.message) : againstIt(plan).join(', ') || '-'),
    tone: ({ error }) => (error ? 'bad' : undefined),
  },
  { name: 'NEXT', holds: 'command', cell: ({ next }) => next ?? '-', wide: true },
]

/** What is only good to know is left to `kvup check`; several findings of one check are named once. */
const againstIt = (plan: PlannedCluster['plan']): readonly string[] => [
  ...new Set(plan?.findings.flatMap(({ id, level }) => (level === 'info' ? [] : [id]))),
]

/** Group by group, with what stands against each cluster. */
export const fleetPlanView: View<FleetPlanDocument> = {
  text(document, paint, size) {
    const { clusters, next = [] } = document
    const head = fleetPlanText(document)
    return [
      ...wrap(isWhole(document) ? paint.strong(head) : paint.bad(`NOT SEALED: ${head}`), size.columns),
      '',
      ...table(columns, clusters, { ...size, paint }),
      ...next.flatMap((line) => wrap(helpLine(line, paint), size.columns)),
    ]
  },
  names: ({ clusters }) => clusters.map(({ name }) => `cluster/${name}`),
  formats: { 'argo-workflow': (document) => argoWorkflow(document) },
}
