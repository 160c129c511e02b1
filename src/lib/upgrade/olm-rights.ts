import type { Row } from './right.ts'
import { aroundRoll, work } from './workload-rights.ts'

const hco = 'hco.kubevirt.io'
const olm = 'operators.coreos.com'
const optional = { optional: true } as const
const read = 'get list watch'

/** What an upgrade by OLM does beside looking. Nothing of KubeVirt itself is written: HyperConverged would revert it. */
export const olmRights: readonly Row[] = [
  ...work,
  ['cluster', hco, 'hyperconvergeds', read, 'see where HyperConverged stands'],
  ['kubevirt', hco, 'hyperconvergeds', 'patch', 'hold and give back the update methods'],
  [
    'cluster',
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    'get',
    'see which version of HyperConverged is stored, and which versions a CRD gains or loses',
  ],
  ['cluster', olm, 'subscriptions', read, 'find the Subscription of HyperConverged, wherever it is'],
  ['kubevirt', olm, 'subscriptions', 'patch', 'set its channel where another one leads to the target'],
  ['kubevirt', olm, 'installplans', read, 'see what OLM would install'],
  ['kubevirt', olm, 'installplans', 'patch', 'approve exactly the right InstallPlan'],
  ['kubevirt', olm, 'clusterserviceversions', read, 'see whether the new operator is at work'],
  ['kubevirt', olm, 'operatorconditions', 'get list', 'see whether the operator lets itself be replaced'],
  [
    'cluster',
    'config.openshift.io',
    'clusterversions',
    read,
    'update no operator while the platform is updated',
  ],
  [
    'cluster',
    'machineconfiguration.openshift.io',
    'machineconfigpools',
    read,
    'update no operator while the control plane is rolled',
  ],
  [
    'cluster',
    'packages.operators.coreos.com',
    'packagemanifests',
    'get list',
    'see what the catalog offers',
    optional,
  ],
  [
    'cluster',
    'olm.operatorframework.io',
    'clusterextensions',
    'list',
    'see whether OLM v1 is at work',
    optional,
  ],
  [
    'cluster',
    'rbac.authorization.k8s.io',
    'clusterroles',
    'get',
    'say which cluster roles are new',
    optional,
  ],
  ...aroundRoll,
]
