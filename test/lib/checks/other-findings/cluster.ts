import { checkExample } from '../check-example.ts'
import { bundle, certificate } from '../machinery/ca-text.ts'
import { change, home, kubevirt, node, type Row, vmi } from './row.ts'

const lease = (spec: object) => home('Lease', 'virt-controller', { spec })
const validator = (clientConfig: object) =>
  change('ValidatingWebhookConfiguration', 'virt-operator-validator', {
    webhooks: [{ name: 'kubevirt-update-validator.kubevirt.io', clientConfig }],
  })
const job = (kind: string, apiVersion: string, status: object) => ({
  ...change(kind, 'job', { status }, 'demo'),
  apiVersion,
})
const cdi = checkExample('cdi-beside/failing.json').changes ?? []
const ending = bundle(certificate(new Date('2026-01-01T00:22:51Z'), { since: 6.5, left: 0.5 }))

const ofMachine = (type: string) =>
  change('VirtualMachineInstance', 'web-1', { spec: { domain: { machine: { type } } } }, 'demo')

const editors = {
  ...change('ClusterRoleBinding', 'vm-editors', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kubevirt.io:edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'editors' }],
  }),
  apiVersion: 'rbac.authorization.k8s.io/v1',
}

const plugged = checkExample('hotplugged-volumes/failing.json').changes ?? []
const hotplugGate = {
  spec: { configuration: { developerConfiguration: { featureGates: ['HotplugVolumes'] } } },
}
const ofHyperConverged = { metadata: { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' } } }

/** Of what writes go through, nodes and VMs. */
export const ofTheCluster: readonly Row[] = [
  [
    'hotplugged-volumes',
    'no target is named',
    ['info hotplugged-volumes'],
    { run: 'check', changes: plugged },
  ],
  [
    'hotplugged-volumes',
    'HyperConverged leaves out the gate that is listed',
    ['info hotplugged-volumes'],
    { run: 'check', changes: [...plugged, kubevirt({ ...hotplugGate, ...ofHyperConverged })] },
  ],
  ['hotplugged-volumes', 'the gate is listed', [], { changes: [...plugged, kubevirt(hotplugGate)] }],
  [
    'webhooks-answering',
    'one that an operator has left behind',
    ['blocker webhooks-answering'],
    {
      changes: [
        {
          ...change('ValidatingWebhookConfiguration', 'virt-operator-tmp-webhookx7k2p', {
            webhooks: [
              {
                name: 'virt-operator-tmp-webhook.kubevirt.io',
                failurePolicy: 'Fail',
                clientConfig: { service: { namespace: 'kubevirt', name: 'virt-operator-tmp-webhook' } },
              },
            ],
          }),
          apiVersion: 'admissionregistration.k8s.io/v1',
        },
      ],
    },
  ],
  [
    'webhooks-answering',
    'no CA',
    ['blocker webhooks-answering'],
    { changes: [validator({ caBundle: null })] },
  ],
  [
    'webhooks-answering',
    'a CA that is none',
    ['blocker webhooks-answering'],
    { changes: [validator({ caBundle: 'bm9uZQ==' })] },
  ],
  [
    'certificates',
    'nobody renews it',
    ['warning certificates'],
    { changes: [validator({ caBundle: ending })] },
  ],
  [
    'api-services',
    'not judged yet',
    ['blocker api-services'],
    {
      changes: [change('APIService', 'v1.subresources.kubevirt.io', { status: { conditions: null } })],
    },
  ],
  [
    'leader-leases',
    'nobody holds it',
    ['blocker leader-leases'],
    { changes: [lease({ holderIdentity: '' })] },
  ],
  [
    'leader-leases',
    'a pod that is not there',
    ['blocker leader-leases'],
    {
      changes: [
        lease({
          holderIdentity: 'virt-controller-dzsfmwgtgp-xxxxx',
          renewTime: '2026-01-01T00:21:51.657000Z',
        }),
      ],
    },
  ],
  [
    'leader-leases',
    'no Lease',
    ['blocker leader-leases'],
    { changes: [{ ...home('Lease', 'virt-controller', {}), $patch: 'delete' }] },
  ],
  [
    'node-schedulable',
    'cordoned',
    ['warning node-schedulable'],
    { changes: [node('worker-2', { spec: { unschedulable: true } })] },
  ],
  [
    'control-plane-label',
    'nodePlacement frees the components, and the operator needs it',
    ['blocker control-plane-label'],
    {
      changes: [
        ...(checkExample('control-plane-label/failing.json').changes ?? []),
        kubevirt({ spec: { infra: { nodePlacement: {} } } }),
      ],
    },
  ],
  [
    'new-gates',
    'a kubelet that is too old',
    ['blocker new-gates'],
    {
      changes: [
        kubevirt({ spec: { configuration: { developerConfiguration: { disabledFeatureGates: [] } } } }),
        node('worker-1', { status: { nodeInfo: { kubeletVersion: 'v1.34.2' } } }),
      ],
    },
  ],
  [
    'room-for-surge',
    'its limit of pods is reached',
    ['warning room-for-surge'],
    { changes: [node('cp-1', { status: { allocatable: { pods: '2' } } })] },
  ],
  [
    'data-jobs-in-flight',
    'CDI fills a disk',
    ['warning data-jobs-in-flight'],
    { changes: [...cdi, job('DataVolume', 'cdi.kubevirt.io/v1beta1', { phase: 'ImportInProgress' })] },
  ],
  [
    'data-jobs-in-flight',
    'an export that can be downloaded',
    ['warning data-jobs-in-flight'],
    { changes: [job('VirtualMachineExport', 'export.kubevirt.io/v1beta1', { phase: 'Ready' })] },
  ],
  [
    'data-jobs-in-flight',
    'frozen file systems',
    ['blocker data-jobs-in-flight'],
    { changes: [vmi({ fsFreezeStatus: 'frozen' })] },
  ],
  [
    'others-active',
    'a cordoned node with a VM',
    ['warning others-active'],
    { changes: [node('worker-1', { spec: { unschedulable: true } })] },
  ],
  [
    'others-active',
    'a pool changes a node',
    ['warning others-active'],
    {
      changes: [
        node('worker-2', {
          metadata: {
            annotations: {
              'machineconfiguration.openshift.io/currentConfig': 'rendered-worker-1',
              'machineconfiguration.openshift.io/desiredConfig': 'rendered-worker-2',
            },
          },
        }),
      ],
    },
  ],
  [
    'others-active',
    'an autoscaler takes a node away',
    ['warning others-active'],
    {
      changes: [
        node('worker-2', {
          spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
        }),
      ],
    },
  ],
  [
    'launcher-age',
    'a digest that tells nothing',
    ['info launcher-age'],
    {
      changes: [
        vmi({
          launcherContainerImageVersion: `quay.io/kubevirt/virt-launcher@sha256:${'1'.repeat(64)}`,
        }),
      ],
    },
  ],
  [
    'vms-that-stay',
    'Evict does something to it',
    ['warning vms-that-stay'],
    {
      changes: [
        ...(checkExample('vms-that-stay/failing.json').changes ?? []),
        kubevirt({ spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'] } } }),
      ],
    },
  ],
  [
    'pending-changes',
    'nothing will carry it out',
    ['warning pending-changes'],
    {
      changes: [
        ...(checkExample('pending-changes/failing.json').changes ?? []),
        kubevirt({ spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'] } } }),
      ],
    },
  ],
  [
    'migration-quota',
    'memory',
    ['warning migration-quota'],
    {
      changes: [
        change(
          'ResourceQuota',
          'pods',
          {
            status: { hard: { 'requests.memory': '256Mi' }, used: { pods: '1', 'requests.memory': '200Mi' } },
          },
          'demo',
        ),
      ],
    },
  ],
  [
    'cpu-vendors',
    'another node of that vendor is there',
    ['info cpu-vendors'],
    {
      installed: 'v1.6.3',
      kubernetes: 'v1.33.2',
      run: 'check --to v1.6.4',
      changes: [
        node('cp-1', { metadata: { labels: { 'cpu-vendor.node.kubevirt.io/AMD': 'true' } } }),
        node('worker-1', { metadata: { labels: { 'cpu-vendor.node.kubevirt.io/Intel': 'true' } } }),
        node('worker-2', { metadata: { labels: { 'cpu-vendor.node.kubevirt.io/Intel': 'true' } } }),
      ],
    },
  ],
  ['machine-types', 'no node tells its own', ['info machine-types'], { changes: [ofMachine('pc-q35-9.1')] }],
  ['machine-types', 'no node tells its own, and it is an alias', [], { changes: [ofMachine('q35')] }],
  [
    'machine-types',
    'the QEMU of the target has it no longer',
    ['info machine-types', 'warning machine-types'],
    {
      installed: 'v1.7.4',
      kubernetes: 'v1.34.2',
      run: 'check --to v1.8.4',
      changes: [ofMachine('pc-q35-4.1')],
    },
  ],
  [
    'machine-types',
    'the QEMU of the target still has it',
    ['info machine-types'],
    {
      installed: 'v1.7.4',
      kubernetes: 'v1.34.2',
      run: 'check --to v1.8.4',
      changes: [ofMachine('pc-q35-4.2')],
    },
  ],
  [
    'node-support',
    'a node of an architecture that is given up',
    ['warning node-support'],
    {
      installed: 'v1.6.6',
      kubernetes: 'v1.33.9',
      run: 'check --to v1.7.4',
      changes: [node('worker-2', { status: { nodeInfo: { architecture: 'ppc64le' } } })],
    },
  ],
  [
    'node-support',
    'a kubelet that does not start on cgroup v1',
    [],
    {
      changes: [node('worker-2', { status: { nodeInfo: { osImage: 'Rocky Linux 8.10 (Green Obsidian)' } } })],
    },
  ],
  [
    'network-resources',
    'the gate is decided on',
    [],
    { changes: (checkExample('network-resources/failing.json').changes ?? []).slice(1) },
  ],
  [
    'screenshot-rights',
    'of the whole cluster, in the next minor',
    ['warning screenshot-rights'],
    { installed: 'v1.7.4', kubernetes: 'v1.34.2', run: 'check --to v1.8.4', changes: [editors] },
  ],
  ['screenshot-rights', 'it is gone already', [], { changes: [editors] }],
  [
    'qemu-jump',
    'which QEMU comes is not in the data',
    ['info qemu-jump'],
    { installed: 'v1.9.0', run: 'check --to v1.10.0' },
  ],
]
