import type { Row } from './right.ts'

const config = 'config.openshift.io'
const machines = 'machineconfiguration.openshift.io'
const optional = { optional: true } as const
const read = 'get list watch'

/** What a window of `kvup eus` does beside looking and beside what an update of the operator takes. */
export const eusRights: readonly Row[] = [
  ['cluster', config, 'clusterversions', 'patch', 'set the channel, ask for an update and take it back'],
  ['cluster', config, 'clusteroperators', read, 'see the parts of the platform come to their release'],
  ['cluster', machines, 'machineconfigpools', 'patch', 'pause pools, and unpause them at the end'],
  ['cluster', '', 'nodes', read, 'see the nodes of a pool come to their release'],
  [
    'cluster',
    'machine.openshift.io',
    'machinehealthchecks',
    'get list patch',
    'pause what would replace nodes, and give it back',
    optional,
  ],
  [
    'cluster',
    'remediation.medik8s.io',
    'nodehealthchecks',
    'get list patch',
    'pause what would replace nodes, and give it back',
    optional,
  ],
  [
    'cluster',
    'kubevirt.io',
    'virtualmachines',
    'patch',
    'give back what unblock lent to VMs: only for kvup eus run and abort',
    optional,
  ],
  [
    'cluster',
    '',
    'configmaps',
    'get',
    'read the admin gates',
    { names: 'admin-gates admin-acks', optional: true },
  ],
  ['cluster', 'operators.coreos.com', 'catalogsources', 'get list', 'see whether the catalog is the new one'],
  ['cluster', '', 'pods', 'list', 'see whether the pod of the catalog is the new one'],
]
