import type { PlanDocument } from '../../../src/lib/upgrade/plan/plan-document.ts'

const waits = { estimate: 20_000, risk: { undo: 'none', safeToLeave: 'always' } }
const image = (version: string) => `quay.io/kubevirt/virt-operator:${version}`
const container = 'spec.template.spec.containers[virt-operator]'

/** One of each thing that a plan can say. */
export const samplePlan: PlanDocument = {
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'UpgradePlan',
  dryRun: 'auto',
  pending: true,
  kubevirt: { name: 'kubevirt', namespace: 'kubevirt' },
  from: 'v1.8.4',
  to: 'v1.9.0',
  method: 'operator-manifest',
  pausedMethods: ['LiveMigrate'],
  said: ['consoles and VNC sessions drop once, when virt-api is replaced; VMs keep running'],
  findings: [
    { id: 'fyi', level: 'info', summary: 'virt-handler rolls a second time', remedy: [] },
    { id: 'odd', level: 'warning', summary: 'node-7 is cordoned', remedy: ['kubectl uncordon node-7'] },
    { id: 'evictions', level: 'blocker', summary: 'VMs may be shut down: 3 of 211', remedy: ['do not'] },
    {
      id: 'manifest-conflicts',
      level: 'blocker',
      summary: 'another tool owns fields: helm has spec.replicas of Deployment virt-operator',
      remedy: ['change it in that tool'],
    },
  ],
  accepted: [{ id: 'evictions', reason: 'maintenance window', by: 'jane@here' }],
  steps: [
    { ...waits, id: 'nothing', title: 'wait for running migrations', state: 'already-so' },
    {
      ...waits,
      id: 'pause-workload-updates',
      title: 'pause automatic VM updates',
      state: 'would-change',
      change: 'set workloadUpdateMethods of kubevirt from LiveMigrate to none, and save the value',
      changes: [
        {
          object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace: 'kubevirt', name: 'kubevirt' },
          is: 'changed',
          fields: [
            { path: 'spec.workloadUpdateStrategy.workloadUpdateMethods', from: ['LiveMigrate'], to: [] },
          ],
          by: 'client',
        },
      ],
      overrides: [
        {
          override: 'workload-updates',
          path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
          value: ['LiveMigrate'],
          restoredBy: 'resume-workload-updates',
        },
      ],
      risk: { undo: 'kvup restore-settings', safeToLeave: 'days; hotplug waits while held' },
      time: { lowSeconds: 1, highSeconds: 5, atMostSeconds: 300, basis: 'guess' },
    },
    {
      ...waits,
      id: 'apply-operator-manifest',
      title: 'apply the operator manifest',
      state: 'would-change',
      change: 'apply v1.9.0.yaml (sha256 5e91033dbb4128d2…): 3 objects change, 1 are new',
      changes: [
        {
          object: {
            apiVersion: 'apiextensions.k8s.io/v1',
            kind: 'CustomResourceDefinition',
            name: 'kubevirts.kubevirt.io',
          },
          is: 'changed',
          fields: [{ path: 'spec.versions[v1].schema', from: '10 fields', to: '11 fields: 1 added' }],
          by: 'server',
        },
        {
          object: {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            name: 'kubevirt-operator',
          },
          is: 'changed',
          fields: [{ path: 'rules[0].verbs', from: ['get', 'patch'], to: ['get'] }],
          by: 'server',
        },
        {
          object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kubevirt', name: 'new-one' },
          is: 'created',
          fields: [{ path: 'data.a', to: '1' }],
          by: 'server',
        },
        {
          object: {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            namespace: 'kubevirt',
            name: 'virt-operator',
          },
          is: 'changed',
          fields: [
            { path: `${container}.image`, from: image('v1.8.4'), to: image('v1.9.0') },
            { path: `${container}.env[OLD].value`, from: '1' },
            { path: `${container}.env[TEXT].value`, from: 'two\nlines', to: '' },
            { path: 'metadata.labels["app.kubernetes.io/version"]', to: 'v1.9.0' },
          ],
          by: 'server',
        },
      ],
      risk: { undo: 'apply the objects that were saved before', safeToLeave: 'the operator goes on' },
    },
    {
      ...waits,
      id: 'virt-operator',
      title: 'virt-operator',
      state: 'depends',
      dependsOn: 'apply-operator-manifest',
      time: { lowSeconds: 30, highSeconds: 90, atMostSeconds: 900, basis: 'own-pods' },
    },
    { ...waits, id: 'healthy', title: 'settle', state: 'waits', on: 'virt-handler to be ready' },
    {
      ...waits,
      id: 'stuck',
      time: { lowSeconds: 0, highSeconds: 0, atMostSeconds: 86_400, basis: 'guess' },
      title: 'a step that cannot go on',
      state: 'waits',
      refused: { reason: 'budget', message: 'a budget stands in the way' },
    },
    {
      ...waits,
      id: 'resume-workload-updates',
      title: 'resume automatic VM updates',
      state: 'depends',
      dependsOn: 'pause-workload-updates',
      risk: { undo: 'kvup upgrade --leave-paused leaves them held', safeToLeave: 'always' },
    },
  ],
  time: {
    lowSeconds: 240,
    highSeconds: 420,
    basis: 'own-rollouts',
    says: "4 to 7 min, from this cluster's own rollouts; the last upgrade with kvup took about 5 min",
  },
  manifest: {
    origin: 'v1.9.0.yaml',
    sha256: '5e91033dbb4128d20011223344556677',
    objects: [
      { kind: 'CustomResourceDefinition', name: 'kubevirts.kubevirt.io', is: 'changed' },
      { kind: 'ClusterRole', name: 'kubevirt-operator', is: 'changed' },
      { kind: 'ConfigMap', namespace: 'kubevirt', name: 'new-one', is: 'created' },
      { kind: 'Deployment', namespace: 'kubevirt', name: 'virt-operator', is: 'changed' },
    ],
    rights: [
      {
        kind: 'ClusterRole',
        role: 'kubevirt-operator',
        gained: ['get', 'list', 'watch', 'create', 'update'].map((verb) => `${verb} backups.kubevirt.io`),
        lost: ['get secrets', 'patch virtualmachineinstances.kubevirt.io'],
        lostWhileRunning: ['patch virtualmachineinstances.kubevirt.io'],
      },
    ],
    crds: [
      {
        name: 'kubevirts.kubevirt.io',
        versionsAdded: ['v2'],
        versionsRemoved: ['v1alpha3'],
        storageFrom: 'v1alpha3',
        storageTo: 'v1',
        schemas: [{ version: 'v1', from: '10 fields', to: '11 fields: 1 added' }],
      },
    ],
    left: ['ClusterRole kubevirt-old'],
    unseen: 'The roles of virt-handler are not in the manifest.',
  },
  seal: {
    uid: '7bd6',
    at: '2026-11-21T07:31:29.259Z',
    by: 'jane@here',
    cluster: '7035a6be-177e-417c-99df-76fefbeaecdf',
  },
  next: [],
}
