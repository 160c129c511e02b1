import { aboveRights } from './above-rights.ts'
import type { Right, Row } from './right.ts'
import { eusRights } from './eus-rights.ts'
import { olmRights } from './olm-rights.ts'
import { aroundRoll, settingsRights, work, workloadRights } from './workload-rights.ts'

export type { Right } from './right.ts'

/** The roles that `kvup rbac` prints; see `lesserRoles` for which holds which. */
export const roleNames = [
  'kvup-view',
  'kvup-workloads',
  'kvup-settings',
  'kvup-upgrade',
  'kvup-operator-manifest',
  'kvup-olm',
  'kvup-eus',
] as const
export type RoleName = (typeof roleNames)[number]

/** The roles whose rights each of them holds as well, itself last. Moving VMs and upgrading KubeVirt are for different people. */
export const lesserRoles: Readonly<Record<RoleName, readonly RoleName[]>> = {
  'kvup-view': ['kvup-view'],
  'kvup-workloads': ['kvup-view', 'kvup-workloads'],
  'kvup-settings': ['kvup-view', 'kvup-workloads', 'kvup-settings'],
  'kvup-upgrade': ['kvup-view', 'kvup-upgrade'],
  'kvup-operator-manifest': ['kvup-view', 'kvup-upgrade', 'kvup-operator-manifest'],
  'kvup-olm': ['kvup-view', 'kvup-olm'],
  'kvup-eus': ['kvup-view', 'kvup-olm', 'kvup-eus'],
}

const kubevirt = 'kubevirt.io'
const leases = 'coordination.k8s.io'
const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'
const crds = 'apiextensions.k8s.io'
const look = 'get list watch'
const vms = 'virtualmachines virtualmachineinstances virtualmachineinstancemigrations'
const optional = { optional: true } as const
const checks = { optional: true, onlyChecks: true } as const
const probes = { optional: true, onlyProbes: true } as const
const dataJobs = 'see what moves or copies disks now'
const nodeUpkeep = 'see who else stops or reboots nodes'

const forChecks: readonly Row[] = [
  ['cluster', 'apps', 'controllerrevisions', 'get', 'see what changed since a VM was started', checks],
  ['cluster', crds, 'customresourcedefinitions', 'list', 'compare stored versions with the target', checks],
  ['cluster', '', 'resourcequotas', 'list', 'see whether a migration target has room', checks],
  ['cluster', '', 'pods', 'list', 'say why the target pod of a migration waits', checks],
  ['cluster', 'policy', 'poddisruptionbudgets', 'list', 'say which VMs may not be evicted', checks],
  ['cluster', 'migrations.kubevirt.io', 'migrationpolicies', 'list', 'say how long migrations take', checks],
  ['cluster', '', 'namespaces', 'get', 'tell clusters apart by a uid', { ...checks, names: 'kube-system' }],
  ['cluster', rbac, 'clusterrolebindings', 'list', 'see what virt-operator may do', checks],
  ['cluster', rbac, 'clusterroles', 'get', 'see what virt-operator may do', checks],
  ['kubevirt', rbac, 'rolebindings', 'list', 'see what virt-operator may do', checks],
  ['kubevirt', rbac, 'roles', 'get', 'see what virt-operator may do', checks],
  [
    'cluster',
    'snapshot.kubevirt.io',
    'virtualmachinesnapshots virtualmachinerestores',
    'list',
    dataJobs,
    checks,
  ],
  ['cluster', 'clone.kubevirt.io', 'virtualmachineclones', 'list', dataJobs, checks],
  ['cluster', 'export.kubevirt.io', 'virtualmachineexports', 'list', dataJobs, checks],
  ['cluster', 'backup.kubevirt.io', 'virtualmachinebackups', 'list', dataJobs, checks],
  ['cluster', 'apps', 'deployments', 'list', 'find a descheduler', { ...checks, names: 'descheduler' }],
  ['cluster', 'batch', 'cronjobs', 'list', 'find a descheduler', { ...checks, names: 'descheduler' }],
  ['cluster', 'operator.openshift.io', 'kubedeschedulers', 'list', 'find a descheduler', checks],
  ['cluster', 'machine.openshift.io', 'machinehealthchecks', 'list', nodeUpkeep, checks],
  ['cluster', 'cluster.x-k8s.io', 'machinehealthchecks', 'list', nodeUpkeep, checks],
  ['cluster', 'remediation.medik8s.io', 'nodehealthchecks', 'list', nodeUpkeep, checks],
  ['cluster', 'machineconfiguration.openshift.io', 'machineconfigpools', 'list', nodeUpkeep, checks],
]

const view: readonly Row[] = [
  ['cluster', kubevirt, 'kubevirts', look, 'find KubeVirt and follow its conditions'],
  ['cluster', kubevirt, vms, look, 'count outdated VMs, wait for migrations, compare VMs before and after'],
  ['kubevirt', 'apps', 'deployments daemonsets replicasets', look, 'see the components roll'],
  ['kubevirt', '', 'pods', look, 'see which pod holds an update up'],
  ['kubevirt', 'batch', 'jobs', look, 'see the install strategy Job'],
  ['kubevirt', leases, 'leases', look, 'see who leads, and whether a kvup is at work'],
  ['kubevirt', '', 'configmaps', 'get', 'read the journal', { names: 'kvup-journal' }],
  ['kubevirt', '', 'pods/log', 'get', 'quote the last log line of a pod that fails', optional],
  ['kubevirt', '', 'events', look, 'say why a pod does not start', optional],
  ['cluster', '', 'events', 'list', 'say why a VM is not moved', optional],
  ['cluster', '', 'nodes', look, 'say which node holds an update up', optional],
  ['cluster', '', 'persistentvolumeclaims', look, 'compare volumes before and after', optional],
  ['cluster', 'cdi.kubevirt.io', 'datavolumes', look, 'compare volumes before and after', optional],
  ['cluster', 'apiregistration.k8s.io', 'apiservices', 'list', 'see whether the APIs answer', optional],
  [
    'cluster',
    admission,
    'validatingwebhookconfigurations mutatingwebhookconfigurations',
    'list',
    'see whether the webhooks can answer',
    optional,
  ],
  [
    'kubevirt',
    'discovery.k8s.io',
    'endpointslices',
    'list',
    'see whether a pod is behind each webhook',
    optional,
  ],
  ...forChecks,
  ...aboveRights,
]

const upgrade: readonly Row[] = [
  ['kubevirt', kubevirt, 'kubevirts', 'patch', 'set the tag, hold and give back the update methods'],
  ...work,
  ...aroundRoll,
  ['kubevirt', '', 'pods', 'create delete', 'try the images: only for kvup check --probe-images', probes],
]

const replace = 'get patch'
const grant = 'get patch escalate bind'
const apply = 'apply the operator manifest'
const applyRoles = 'apply the roles of the operator, which hold more rights than whoever applies them'
const create = 'make an object that is new in the operator manifest'
const left = 'list what an older operator manifest left behind'

const operatorManifest: readonly Row[] = [
  ['cluster', '', 'namespaces', replace, apply, { names: '$namespace' }],
  ['cluster', crds, 'customresourcedefinitions', replace, apply, { names: 'kubevirts.kubevirt.io' }],
  ['cluster', 'scheduling.k8s.io', 'priorityclasses', replace, apply, { names: 'kubevirt-cluster-critical' }],
  ['cluster', rbac, 'clusterroles', grant, applyRoles, { names: 'kubevirt-operator kubevirt.io:operator' }],
  ['cluster', rbac, 'clusterrolebindings', replace, apply, { names: 'kubevirt-operator' }],
  ['kubevirt', '', 'serviceaccounts', replace, apply, { names: 'kubevirt-operator' }],
  ['kubevirt', rbac, 'roles', grant, applyRoles, { names: 'kubevirt-operator' }],
  ['kubevirt', rbac, 'rolebindings', replace, apply, { names: 'kubevirt-operator-rolebinding' }],
  ['kubevirt', 'apps', 'deployments', replace, apply, { names: 'virt-operator' }],
  ['cluster', rbac, 'clusterroles clusterrolebindings', 'create', create, optional],
  ['cluster', 'scheduling.k8s.io', 'priorityclasses', 'create', create, optional],
  ['kubevirt', rbac, 'roles rolebindings', 'create', create, optional],
  ['kubevirt', '', 'serviceaccounts', 'create', create, optional],
  ['cluster', rbac, 'clusterroles clusterrolebindings', 'list', left, optional],
  ['kubevirt', rbac, 'roles rolebindings', 'list', left, optional],
  ['kubevirt', '', 'serviceaccounts', 'list', left, optional],
]

const rowsOf: Readonly<Record<RoleName, readonly Row[]>> = {
  'kvup-view': view,
  'kvup-workloads': workloadRights,
  'kvup-settings': settingsRights,
  'kvup-upgrade': upgrade,
  'kvup-operator-manifest': operatorManifest,
  'kvup-olm': olmRights,
  'kvup-eus': eusRights,
}

/** Everything that the role may do, that of the lesser roles included. */
export function rightsOf(role: RoleName): readonly Right[] {
  const rows = lesserRoles[role].flatMap((lesser) => rowsOf[lesser])
  return rows.map(rightOf)
}

function rightOf([scope, group, resources, verbs, why, { names = '', ...only } = {}]: Row): Right {
  return {
    scope,
    group,
    resources: resources.split(' '),
    verbs: verbs.split(' '),
    why,
    names: names.split(' ').filter((name) => name !== ''),
    ...noLimits,
    ...only,
  }
}

const noLimits = { optional: false, onlyChecks: false, onlyProbes: false, onlyStatus: false } as const
