import { censusNames } from '../workloads/kept-census.ts'
import type { Row } from './right.ts'

const kubevirt = 'kubevirt.io'
const leases = 'coordination.k8s.io'
const crds = 'apiextensions.k8s.io'
const optional = { optional: true } as const

/** What every changing command does besides its change. */
export const work: readonly Row[] = [
  ['kubevirt', '', 'configmaps', 'create', 'make the journal (create cannot be limited to a name)'],
  ['kubevirt', '', 'configmaps', 'patch', 'write the journal', { names: 'kvup-journal' }],
  ['kubevirt', leases, 'leases', 'create', 'make the lock (create cannot be limited to a name)'],
  ['kubevirt', leases, 'leases', 'patch', 'hold the lock', { names: 'kvup' }],
]

/** What every upgrade does around the roll, whoever makes it. */
export const aroundRoll: readonly Row[] = [
  [
    'kubevirt',
    '',
    'configmaps',
    'get delete',
    'keep which VMs and volumes there were, for whoever ends the run',
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
export const workloadRights: readonly Row[] = [
  ...work,
  [
    'cluster',
    kubevirt,
    'virtualmachines',
    'patch',
    'unblock VMs, and give back what they were lent',
    optional,
  ],
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
export const settingsRights: readonly Row[] = [
  ['kubevirt', kubevirt, 'kubevirts', 'patch', 'hold, restore and set how VMs follow', optional],
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
    'write HyperConverged only while OLM is not at work on it',
    optional,
  ],
  [
    'kubevirt',
    'operators.coreos.com',
    'installplans clusterserviceversions',
    'list',
    'write HyperConverged only while OLM is not at work on it',
    optional,
  ],
]
