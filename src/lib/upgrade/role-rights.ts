import { platformGroup } from '../openshift/layers.ts'
import { alertsProxy } from '../openshift/firing-alerts.ts'
import { censusNames } from '../vms/census/saved-census.ts'

/** One right and what it is for. Roles and preflight are both made from these, so they cannot differ. */
export interface Right {
  /** `kubevirt`: only in KubeVirt's own namespace; `catalog`: only in that of the catalog that OLM takes HyperConverged from. */
  scope: 'cluster' | 'kubevirt' | 'catalog'
  group: string
  resources: readonly string[]
  verbs: readonly string[]
  why: string
  /** Only these objects; `$namespace` stands for KubeVirt's namespace. */
  names: readonly string[]
  /** Without it kvup says less or cannot do an extra, but does its work. */
  optional: boolean
  /** Only checks and snapshots read it: an upgrade does not ask for it, and says nothing where it is missing. */
  onlyChecks: boolean
  /** Only `kvup check --probe-images` uses it: nobody else asks for it. */
  onlyProbes: boolean
  /** Only what is shown of a platform above KubeVirt is read by it: nobody is told where it is missing but who looks there. */
  onlyStatus: boolean
}

/** One line of the tables; words are separated by blanks. */
type Row = readonly [
  scope: Right['scope'],
  group: string,
  resources: string,
  verbs: string,
  why: string,
  limits?: { names?: string; optional?: true; onlyChecks?: true; onlyProbes?: true; onlyStatus?: true },
]

const olm = 'operators.coreos.com'
const read = 'get list watch'
const status = { optional: true, onlyStatus: true } as const
const layers = 'show the state of the platform, on OKD and OpenShift'
const operator = 'show the state of the operator of HyperConverged'
/** Of what an EUS upgrade alone reads. */
export const eusReads = 'show what an EUS upgrade needs'
/** What has to be acknowledged, and the certificate that paused pools miss before 4.14. */
const eusConfigMaps = 'admin-gates admin-acks kube-apiserver-to-kubelet-client-ca'

const byRoute = 'say which alerts fire, by the Route with `--alerts=route`'
const networks = 'find VMs on networks of type cnv-bridge'

/** What is above KubeVirt: `kvup status` shows it, `kvup eus plan` plans by it, and nothing else fails for lack of it. */
const aboveRights: readonly Row[] = [
  ['cluster', platformGroup, 'clusterversions clusteroperators', read, layers, status],
  ['cluster', 'machineconfiguration.openshift.io', 'machineconfigpools', read, layers, status],
  ['cluster', platformGroup, 'infrastructures', 'list', eusReads, status],
  ['cluster', '', 'services/proxy', 'get', 'say which alerts fire', { ...status, names: alertsProxy }],
  ['cluster', platformGroup, 'ingresses', 'get', byRoute, { ...status, names: 'cluster' }],
  ['cluster', 'route.openshift.io', 'routes', 'get', byRoute, { ...status, names: 'thanos-querier' }],
  ['cluster', '', 'configmaps', 'get', byRoute, { ...status, names: 'default-ingress-cert' }],
  ['cluster', 'k8s.cni.cncf.io', 'network-attachment-definitions', 'list', networks, status],
  ['cluster', '', 'configmaps', 'get', eusReads, { ...status, names: eusConfigMaps }],
  ['cluster', 'apiserver.openshift.io', 'apirequestcounts', 'list', eusReads, status],
  ['cluster', 'machine.openshift.io', 'machinehealthchecks', 'get', eusReads, status],
  ['cluster', 'remediation.medik8s.io', 'nodehealthchecks', 'get', eusReads, status],
  ['cluster', 'nodemaintenance.medik8s.io', 'nodemaintenances', 'list', eusReads, status],
  ['cluster', 'nodemaintenance.kubevirt.io', 'nodemaintenances', 'list', eusReads, status],
  ['cluster', 'hco.kubevirt.io', 'hyperconvergeds', read, operator, status],
  ['cluster', olm, 'subscriptions catalogsources', read, operator, status],
  ['kubevirt', olm, 'installplans clusterserviceversions', read, operator, status],
  ['kubevirt', olm, 'operatorconditions operatorgroups', read, operator, status],
  ['cluster', 'packages.operators.coreos.com', 'packagemanifests', 'list', eusReads, status],
  ['catalog', 'batch', 'jobs', 'list', 'name the Job that could not unpack a bundle', status],
  ['cluster', 'olm.operatorframework.io', 'clusterextensions', 'list', operator, status],
]

const kubevirt = 'kubevirt.io'
const leases = 'coordination.k8s.io'
const crds = 'apiextensions.k8s.io'
const optional = { optional: true } as const

/** What every changing command does besides its change. */
const work: readonly Row[] = [
  ['kubevirt', '', 'configmaps', 'create', 'make the journal (create cannot be limited to a name)'],
  ['kubevirt', '', 'configmaps', 'patch', 'write the journal', { names: 'kvup-journal' }],
  ['kubevirt', leases, 'leases', 'create', 'make the lock (create cannot be limited to a name)'],
  ['kubevirt', leases, 'leases', 'patch', 'keep the lock', { names: 'kvup' }],
]

/** What every upgrade does around the roll, whoever makes it. */
const aroundRoll: readonly Row[] = [
  [
    'kubevirt',
    '',
    'configmaps',
    'get delete',
    'save the list of VMs and volumes, for the end of the run',
    { names: censusNames.join(' '), optional: true },
  ],
  [
    'cluster',
    kubevirt,
    'virtualmachineinstancereplicasets',
    'list',
    'see whether VMs without a VirtualMachine were scaled in',
    optional,
  ],
  [
    'cluster',
    kubevirt,
    'virtualmachineinstancemigrations',
    'delete',
    'only for --migrations cancel',
    optional,
  ],
  ['cluster', '', 'pods', 'list', 'see a VM that runs twice: only for --wait-workloads', optional],
  [
    'kubevirt',
    kubevirt,
    'virtualmachines',
    'create',
    'try, as a dry run, whether a VM can be made',
    optional,
  ],
  [
    'cluster',
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    'list',
    'find a webhook that is left',
    optional,
  ],
]

/** Of all but `work` each command asks for what it uses: see `workloadsAccess`. */
const workloadRights: readonly Row[] = [
  ...work,
  ['cluster', kubevirt, 'virtualmachines', 'patch', 'unblock VMs, and restore their settings', optional],
  [
    'cluster',
    kubevirt,
    'virtualmachineinstancemigrations',
    'create delete',
    'update: migrate VMs, and cancel that when asked',
    optional,
  ],
  [
    'cluster',
    'subresources.kubevirt.io',
    'virtualmachines/restart',
    'update',
    'update: restart VMs that cannot be migrated, where that is asked for',
    optional,
  ],
  ['cluster', '', 'pods', 'list', 'update: see that one launcher runs for each VM', optional],
  [
    'kubevirt',
    kubevirt,
    'virtualmachines',
    'create',
    'only for --measure: try, as a dry run, whether a VM can be made',
    optional,
  ],
  [
    'cluster',
    '',
    'persistentvolumes',
    'get',
    'before a restart: see on which nodes a volume can be used',
    optional,
  ],
]

/**
 * What sets how VMs follow. A role of its own: who may patch the KubeVirt may name another imageRegistry in it, and so run any image as root on every node. Patch cannot be
 * limited to a field.
 */
const settingsRights: readonly Row[] = [
  ['kubevirt', kubevirt, 'kubevirts', 'patch', 'pause, resume and set automatic VM updates', optional],
  [
    'kubevirt',
    'hco.kubevirt.io',
    'hyperconvergeds',
    'get patch',
    'the same, where HyperConverged owns KubeVirt',
    optional,
  ],
  [
    'cluster',
    crds,
    'customresourcedefinitions',
    'get',
    'see which version of HyperConverged is stored',
    { ...optional, names: 'hyperconvergeds.hco.kubevirt.io' },
  ],
  [
    'cluster',
    'operators.coreos.com',
    'subscriptions',
    'list',
    'change HyperConverged only while OLM does not',
    optional,
  ],
  [
    'kubevirt',
    'operators.coreos.com',
    'installplans clusterserviceversions',
    'list',
    'change HyperConverged only while OLM does not',
    optional,
  ],
]

const hco = 'hco.kubevirt.io'
/** What an upgrade by OLM does beside looking. Nothing of KubeVirt itself is written: HyperConverged would revert it. */
const olmRights: readonly Row[] = [
  ...work,
  ['cluster', hco, 'hyperconvergeds', read, 'see the state of HyperConverged'],
  ['kubevirt', hco, 'hyperconvergeds', 'patch', 'pause and resume automatic VM updates'],
  [
    'cluster',
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    'get',
    'see which version of HyperConverged is stored, and which versions a CRD gains or loses',
  ],
  ['cluster', olm, 'subscriptions', read, 'find the Subscription of HyperConverged, wherever it is'],
  [
    'kubevirt',
    olm,
    'subscriptions',
    'patch',
    'set its channel where another one leads to the target, and have OLM resolve again',
  ],
  ['kubevirt', olm, 'installplans', read, 'see what OLM would install'],
  ['kubevirt', olm, 'installplans', 'patch', 'approve exactly the right InstallPlan'],
  ['kubevirt', olm, 'clusterserviceversions', read, 'see whether the new operator is running'],
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
    'see whether OLM v1 is installed',
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
  ['catalog', '', 'configmaps', 'get', 'sum up what an InstallPlan installs, by its bundles', optional],
  ...aroundRoll,
]

const config = 'config.openshift.io'
const machines = 'machineconfiguration.openshift.io'
/** What a window of `kvup eus` does beside looking and beside what an update of the operator takes. */
const eusRights: readonly Row[] = [
  ['cluster', config, 'clusterversions', 'patch', 'set the channel, request an update and withdraw it'],
  ['cluster', config, 'clusteroperators', read, 'see the parts of the platform come to their release'],
  ['cluster', machines, 'machineconfigpools', 'patch', 'pause pools, and unpause them at the end'],
  ['cluster', '', 'nodes', read, 'see the nodes of a pool come to their release'],
  [
    'cluster',
    'machine.openshift.io',
    'machinehealthchecks',
    'get list patch',
    'pause what would replace nodes, and unpause it',
    optional,
  ],
  [
    'cluster',
    'remediation.medik8s.io',
    'nodehealthchecks',
    'get list patch',
    'pause what would replace nodes, and unpause it',
    optional,
  ],
  [
    'cluster',
    'kubevirt.io',
    'virtualmachines',
    'patch',
    'restore the settings of unblocked VMs: only for kvup eus run and abort',
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
const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'
const readVerbs = 'get list watch'
const vms = 'virtualmachines virtualmachineinstances virtualmachineinstancemigrations'
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
  ['cluster', rbac, 'rolebindings', 'list', 'see who loses a right over VMs', checks],
  [
    'cluster',
    'k8s.cni.cncf.io',
    'network-attachment-definitions',
    'list',
    'see which networks of VMs need a device',
    checks,
  ],
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
  ['cluster', kubevirt, 'kubevirts', readVerbs, 'find KubeVirt and follow its conditions'],
  [
    'cluster',
    kubevirt,
    vms,
    readVerbs,
    'count outdated VMs, wait for migrations, compare VMs before and after',
  ],
  ['kubevirt', 'apps', 'deployments daemonsets replicasets', readVerbs, 'see the components roll'],
  ['kubevirt', '', 'pods', readVerbs, 'see which pod blocks an update'],
  ['kubevirt', 'batch', 'jobs', readVerbs, 'see the install strategy Job'],
  ['kubevirt', leases, 'leases', readVerbs, 'see who leads, and whether another kvup is running'],
  ['kubevirt', '', 'configmaps', 'get', 'read the journal', { names: 'kvup-journal' }],
  ['kubevirt', '', 'pods/log', 'get', 'quote the last log line of a pod that fails', optional],
  ['kubevirt', '', 'events', readVerbs, 'say why a pod does not start', optional],
  ['cluster', '', 'events', 'list', 'say why a VM is not moved', optional],
  ['cluster', '', 'nodes', readVerbs, 'show which node blocks an update', optional],
  ['cluster', '', 'persistentvolumeclaims', readVerbs, 'compare volumes before and after', optional],
  ['cluster', 'cdi.kubevirt.io', 'datavolumes', readVerbs, 'compare volumes before and after', optional],
  ['cluster', 'apiregistration.k8s.io', 'apiservices', 'list', 'see whether the APIs answer', optional],
  [
    'cluster',
    admission,
    'validatingwebhookconfigurations mutatingwebhookconfigurations',
    'list',
    'see whether the webhooks can answer',
    optional,
  ],
  ['kubevirt', 'discovery.k8s.io', 'endpointslices', 'list', 'see whether each webhook has a pod', optional],
  ...forChecks,
  ...aboveRights,
]

const upgrade: readonly Row[] = [
  ['kubevirt', kubevirt, 'kubevirts', 'patch', 'set the tag, pause and resume automatic VM updates'],
  ...work,
  ...aroundRoll,
  ['kubevirt', '', 'pods', 'create delete', 'try the images: only for kvup check --probe-images', probes],
]

const replace = 'get patch'
const grant = 'get patch escalate bind'
const apply = 'apply the operator manifest'
const applyRoles = 'apply the roles of the operator, which have more rights than you'
const create = 'create an object that is new in the operator manifest'
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
