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

/** What a word of the tables makes of a right. */
const limits: Readonly<Record<string, Partial<Right>>> = {
  '': {},
  optional: { optional: true },
  status: { optional: true, onlyStatus: true },
  checks: { optional: true, onlyChecks: true },
  probes: { optional: true, onlyProbes: true },
}

/** Lines of `scope | group | resources | verbs | why | limit | names`, as in `Right`; words are separated by blanks. */
const table = (text: string): readonly Right[] => text.trim().split('\n').map(rightOf)

const scopes: ReadonlySet<unknown> = new Set<Right['scope']>(['cluster', 'kubevirt', 'catalog'])

function rightOf(line: string): Right {
  const [scope, group = '', resources = '', verbs = '', why = '', limit = '', names = ''] = line
    .split('|')
    .map((cell) => cell.trim())
  const only = limits[limit]
  if (only === undefined || !scopes.has(scope) || why === '')
    throw new Error(`a right that is not whole: ${line}`)
  return {
    scope: scope as Right['scope'],
    group: group === 'core' ? '' : group,
    resources: resources.split(' '),
    verbs: verbs.split(' '),
    why,
    names: names.split(' ').filter((name) => name !== ''),
    optional: false,
    onlyChecks: false,
    onlyProbes: false,
    onlyStatus: false,
    ...only,
  }
}

const layers = 'show the state of the platform, on OKD and OpenShift'
const operator = 'show the state of the operator of HyperConverged'
/** Of what an EUS upgrade alone reads. */
export const eusReads = 'show what an EUS upgrade needs'
/** What has to be acknowledged, and the certificate that paused pools miss before 4.14. */
const eusConfigMaps = 'admin-gates admin-acks kube-apiserver-to-kubelet-client-ca'

const byRoute = 'say which alerts fire, by the Route with `--alerts=route`'

/** What is above KubeVirt: `kvup status` shows it, `kvup eus plan` plans by it, and nothing else fails for lack of it. */
const aboveRights: readonly Right[] = table(`
  cluster | config.openshift.io | clusterversions clusteroperators | get list watch | ${layers} | status
  cluster | machineconfiguration.openshift.io | machineconfigpools | get list watch | ${layers} | status
  cluster | config.openshift.io | infrastructures | list | ${eusReads} | status
  cluster | core | services/proxy | get | say which alerts fire | status | ${alertsProxy}
  cluster | config.openshift.io | ingresses | get | ${byRoute} | status | cluster
  cluster | route.openshift.io | routes | get | ${byRoute} | status | thanos-querier
  cluster | core | configmaps | get | ${byRoute} | status | default-ingress-cert
  cluster | k8s.cni.cncf.io | network-attachment-definitions | list | find VMs on networks of type cnv-bridge | status
  cluster | core | configmaps | get | ${eusReads} | status | ${eusConfigMaps}
  cluster | apiserver.openshift.io | apirequestcounts | list | ${eusReads} | status
  cluster | machine.openshift.io | machinehealthchecks | get | ${eusReads} | status
  cluster | remediation.medik8s.io | nodehealthchecks | get | ${eusReads} | status
  cluster | nodemaintenance.medik8s.io | nodemaintenances | list | ${eusReads} | status
  cluster | nodemaintenance.kubevirt.io | nodemaintenances | list | ${eusReads} | status
  cluster | hco.kubevirt.io | hyperconvergeds | get list watch | ${operator} | status
  cluster | operators.coreos.com | subscriptions catalogsources | get list watch | ${operator} | status
  kubevirt | operators.coreos.com | installplans clusterserviceversions | get list watch | ${operator} | status
  kubevirt | operators.coreos.com | operatorconditions operatorgroups | get list watch | ${operator} | status
  cluster | packages.operators.coreos.com | packagemanifests | list | ${eusReads} | status
  catalog | batch | jobs | list | name the Job that could not unpack a bundle | status
  cluster | olm.operatorframework.io | clusterextensions | list | ${operator} | status
`)

/** What every changing command does besides its change. */
const work: readonly Right[] = table(`
  kubevirt | core | configmaps | create | make the journal (create cannot be limited to a name)
  kubevirt | core | configmaps | patch | write the journal | | kvup-journal
  kubevirt | coordination.k8s.io | leases | create | make the lock (create cannot be limited to a name)
  kubevirt | coordination.k8s.io | leases | patch | keep the lock | | kvup
`)

/** What every upgrade does around the roll, whoever makes it. */
const aroundRoll: readonly Right[] = table(`
  kubevirt | core | configmaps | get delete | save the list of VMs and volumes, for the end of the run | optional | ${censusNames.join(' ')}
  cluster | kubevirt.io | virtualmachineinstancereplicasets | list | see whether VMs without a VirtualMachine were scaled in | optional
  cluster | kubevirt.io | virtualmachineinstancemigrations | delete | only for --migrations cancel | optional
  cluster | core | pods | list | see a VM that runs twice: only for --wait-workloads | optional
  kubevirt | kubevirt.io | virtualmachines | create | try, as a dry run, whether a VM can be made | optional
  cluster | admissionregistration.k8s.io | validatingwebhookconfigurations | list | find a webhook that is left | optional
`)

/** Of all but `work` each command asks for what it uses: see `workloadsAccess`. */
const workloadRights: readonly Right[] = [
  ...work,
  ...table(`
  cluster | kubevirt.io | virtualmachines | patch | unblock VMs, and restore their settings | optional
  cluster | kubevirt.io | virtualmachineinstancemigrations | create delete | update: migrate VMs, and cancel that when asked | optional
  cluster | subresources.kubevirt.io | virtualmachines/restart | update | update: restart VMs that cannot be migrated, where that is asked for | optional
  cluster | core | pods | list | update: see that one launcher runs for each VM | optional
  kubevirt | kubevirt.io | virtualmachines | create | only for --measure: try, as a dry run, whether a VM can be made | optional
  cluster | core | persistentvolumes | get | before a restart: see on which nodes a volume can be used | optional
`),
]

/**
 * What sets how VMs follow. A role of its own: who may patch the KubeVirt may name another imageRegistry in it, and so run any image as root on every node. Patch cannot be
 * limited to a field.
 */
const settingsRights: readonly Right[] = table(`
  kubevirt | kubevirt.io | kubevirts | patch | pause, resume and set automatic VM updates | optional
  kubevirt | hco.kubevirt.io | hyperconvergeds | get patch | the same, where HyperConverged owns KubeVirt | optional
  cluster | apiextensions.k8s.io | customresourcedefinitions | get | see which version of HyperConverged is stored | optional | hyperconvergeds.hco.kubevirt.io
  cluster | operators.coreos.com | subscriptions | list | change HyperConverged only while OLM does not | optional
  kubevirt | operators.coreos.com | installplans clusterserviceversions | list | change HyperConverged only while OLM does not | optional
`)

/** What an upgrade by OLM does beside looking. Nothing of KubeVirt itself is written: HyperConverged would revert it. */
const olmRights: readonly Right[] = [
  ...work,
  ...table(`
  cluster | hco.kubevirt.io | hyperconvergeds | get list watch | see the state of HyperConverged
  kubevirt | hco.kubevirt.io | hyperconvergeds | patch | pause and resume automatic VM updates
  cluster | apiextensions.k8s.io | customresourcedefinitions | get | see which version of HyperConverged is stored, and which versions a CRD gains or loses
  cluster | operators.coreos.com | subscriptions | get list watch | find the Subscription of HyperConverged, wherever it is
  kubevirt | operators.coreos.com | subscriptions | patch | set its channel where another one leads to the target, and have OLM resolve again
  kubevirt | operators.coreos.com | installplans | get list watch | see what OLM would install
  kubevirt | operators.coreos.com | installplans | patch | approve exactly the right InstallPlan
  kubevirt | operators.coreos.com | clusterserviceversions | get list watch | see whether the new operator is running
  kubevirt | operators.coreos.com | operatorconditions | get list | see whether the operator lets itself be replaced
  cluster | config.openshift.io | clusterversions | get list watch | update no operator while the platform is updated
  cluster | machineconfiguration.openshift.io | machineconfigpools | get list watch | update no operator while the control plane is rolled
  cluster | packages.operators.coreos.com | packagemanifests | get list | see what the catalog offers | optional
  cluster | olm.operatorframework.io | clusterextensions | list | see whether OLM v1 is installed | optional
  cluster | rbac.authorization.k8s.io | clusterroles | get | say which cluster roles are new | optional
  catalog | core | configmaps | get | sum up what an InstallPlan installs, by its bundles | optional
`),
  ...aroundRoll,
]

/** What a window of `kvup eus` does beside looking and beside what an update of the operator takes. */
const eusRights: readonly Right[] = table(`
  cluster | config.openshift.io | clusterversions | patch | set the channel, request an update and withdraw it
  cluster | config.openshift.io | clusteroperators | get list watch | see the parts of the platform come to their release
  cluster | machineconfiguration.openshift.io | machineconfigpools | patch | pause pools, and unpause them at the end
  cluster | core | nodes | get list watch | see the nodes of a pool come to their release
  cluster | machine.openshift.io | machinehealthchecks | get list patch | pause what would replace nodes, and unpause it | optional
  cluster | remediation.medik8s.io | nodehealthchecks | get list patch | pause what would replace nodes, and unpause it | optional
  cluster | kubevirt.io | virtualmachines | patch | restore the settings of unblocked VMs: only for kvup eus run and abort | optional
  cluster | core | configmaps | get | read the admin gates | optional | admin-gates admin-acks
  cluster | operators.coreos.com | catalogsources | get list | see whether the catalog is the new one
  cluster | core | pods | list | see whether the pod of the catalog is the new one
`)

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
const dataJobs = 'see what moves or copies disks now'
const nodeUpkeep = 'see who else stops or reboots nodes'

const forChecks: readonly Right[] = table(`
  cluster | apps | controllerrevisions | get | see what changed since a VM was started | checks
  cluster | apiextensions.k8s.io | customresourcedefinitions | list | compare stored versions with the target | checks
  cluster | core | resourcequotas | list | see whether a migration target has room | checks
  cluster | core | pods | list | say why the target pod of a migration waits | checks
  cluster | policy | poddisruptionbudgets | list | say which VMs may not be evicted | checks
  cluster | migrations.kubevirt.io | migrationpolicies | list | say how long migrations take | checks
  cluster | core | namespaces | get | tell clusters apart by a uid | checks | kube-system
  cluster | rbac.authorization.k8s.io | clusterrolebindings | list | see what virt-operator may do | checks
  cluster | rbac.authorization.k8s.io | clusterroles | get | see what virt-operator may do | checks
  kubevirt | rbac.authorization.k8s.io | rolebindings | list | see what virt-operator may do | checks
  kubevirt | rbac.authorization.k8s.io | roles | get | see what virt-operator may do | checks
  cluster | rbac.authorization.k8s.io | rolebindings | list | see who loses a right over VMs | checks
  cluster | k8s.cni.cncf.io | network-attachment-definitions | list | see which networks of VMs need a device | checks
  cluster | snapshot.kubevirt.io | virtualmachinesnapshots virtualmachinerestores | list | ${dataJobs} | checks
  cluster | clone.kubevirt.io | virtualmachineclones | list | ${dataJobs} | checks
  cluster | export.kubevirt.io | virtualmachineexports | list | ${dataJobs} | checks
  cluster | backup.kubevirt.io | virtualmachinebackups | list | ${dataJobs} | checks
  cluster | apps | deployments | list | find a descheduler | checks | descheduler
  cluster | batch | cronjobs | list | find a descheduler | checks | descheduler
  cluster | operator.openshift.io | kubedeschedulers | list | find a descheduler | checks
  cluster | machine.openshift.io | machinehealthchecks | list | ${nodeUpkeep} | checks
  cluster | cluster.x-k8s.io | machinehealthchecks | list | ${nodeUpkeep} | checks
  cluster | remediation.medik8s.io | nodehealthchecks | list | ${nodeUpkeep} | checks
  cluster | machineconfiguration.openshift.io | machineconfigpools | list | ${nodeUpkeep} | checks
`)

const view: readonly Right[] = [
  ...table(`
  cluster | kubevirt.io | kubevirts | get list watch | find KubeVirt and follow its conditions
  cluster | kubevirt.io | virtualmachines virtualmachineinstances virtualmachineinstancemigrations | get list watch | count outdated VMs, wait for migrations, compare VMs before and after
  kubevirt | apps | deployments daemonsets replicasets | get list watch | see the components roll
  kubevirt | core | pods | get list watch | see which pod blocks an update
  kubevirt | batch | jobs | get list watch | see the install strategy Job
  kubevirt | coordination.k8s.io | leases | get list watch | see who leads, and whether another kvup is running
  kubevirt | core | configmaps | get | read the journal | | kvup-journal
  kubevirt | core | pods/log | get | quote the last log line of a pod that fails | optional
  kubevirt | core | events | get list watch | say why a pod does not start | optional
  cluster | core | events | list | say why a VM is not moved | optional
  cluster | core | nodes | get list watch | show which node blocks an update | optional
  cluster | core | persistentvolumeclaims | get list watch | compare volumes before and after | optional
  cluster | cdi.kubevirt.io | datavolumes | get list watch | compare volumes before and after | optional
  cluster | apiregistration.k8s.io | apiservices | list | see whether the APIs answer | optional
  cluster | admissionregistration.k8s.io | validatingwebhookconfigurations mutatingwebhookconfigurations | list | see whether the webhooks can answer | optional
  kubevirt | discovery.k8s.io | endpointslices | list | see whether each webhook has a pod | optional
`),
  ...forChecks,
  ...aboveRights,
]

const upgrade: readonly Right[] = [
  ...table(`
  kubevirt | kubevirt.io | kubevirts | patch | set the tag, pause and resume automatic VM updates
`),
  ...work,
  ...aroundRoll,
  ...table(`
  kubevirt | core | pods | create delete | try the images: only for kvup check --probe-images | probes
`),
]

const apply = 'apply the operator manifest'
const applyRoles = 'apply the roles of the operator, which have more rights than you'
const create = 'create an object that is new in the operator manifest'
const left = 'list what an older operator manifest left behind'

const operatorManifest: readonly Right[] = table(`
  cluster | core | namespaces | get patch | ${apply} | | $namespace
  cluster | apiextensions.k8s.io | customresourcedefinitions | get patch | ${apply} | | kubevirts.kubevirt.io
  cluster | scheduling.k8s.io | priorityclasses | get patch | ${apply} | | kubevirt-cluster-critical
  cluster | rbac.authorization.k8s.io | clusterroles | get patch escalate bind | ${applyRoles} | | kubevirt-operator kubevirt.io:operator
  cluster | rbac.authorization.k8s.io | clusterrolebindings | get patch | ${apply} | | kubevirt-operator
  kubevirt | core | serviceaccounts | get patch | ${apply} | | kubevirt-operator
  kubevirt | rbac.authorization.k8s.io | roles | get patch escalate bind | ${applyRoles} | | kubevirt-operator
  kubevirt | rbac.authorization.k8s.io | rolebindings | get patch | ${apply} | | kubevirt-operator-rolebinding
  kubevirt | apps | deployments | get patch | ${apply} | | virt-operator
  cluster | rbac.authorization.k8s.io | clusterroles clusterrolebindings | create | ${create} | optional
  cluster | scheduling.k8s.io | priorityclasses | create | ${create} | optional
  kubevirt | rbac.authorization.k8s.io | roles rolebindings | create | ${create} | optional
  kubevirt | core | serviceaccounts | create | ${create} | optional
  cluster | rbac.authorization.k8s.io | clusterroles clusterrolebindings | list | ${left} | optional
  kubevirt | rbac.authorization.k8s.io | roles rolebindings | list | ${left} | optional
  kubevirt | core | serviceaccounts | list | ${left} | optional
`)

const rowsOf: Readonly<Record<RoleName, readonly Right[]>> = {
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
  return lesserRoles[role].flatMap((lesser) => rowsOf[lesser])
}
