import type { Scenario } from './scenario.ts'

const tagged = { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag' } as const
const toTag = { to: 'v1.8.4', method: 'image-tag' } as const
/** What does not heal is given up after three minutes. */
const givenUp = { flags: ['--timeout', '3m'] } as const
/** What would keep an upgrade from beginning: it is there before, and its risk is taken. */
const knownNode = ['--accept', 'node-ready', '--accept', 'settled-now'] as const
const toManifest = { to: 'v1.9.0', method: 'operator-manifest' } as const

/** Upgrades that stall or fail, and some that heal. */
export const troubleScenarios: readonly Scenario[] = [
  {
    name: 'wrong-tag',
    title: 'A tag that does not exist: the CR shows nothing, the Job of the install strategy hangs.',
    cluster: { version: 'v1.8.4', method: 'image-tag' },
    faults: { unpullable: ':v1\\.8\\.5$' },
    upgrade: { to: 'v1.8.5', method: 'image-tag', ...givenUp },
  },
  {
    name: 'missing-image',
    title: 'The mirror lacks one image of the release: everything else is rolled, then nothing moves.',
    cluster: { version: 'v1.8.4' },
    faults: { unpullable: '/virt-template-apiserver:' },
    upgrade: { ...toManifest, ...givenUp },
  },
  {
    name: 'slow-mirror',
    title: 'virt-handler cannot be pulled for two minutes, then it can.',
    cluster: tagged,
    faults: { unpullable: '/virt-handler:v1\\.8\\.4$' },
    later: [{ after: 120_000, faults: { unpullable: undefined } }],
    upgrade: toTag,
  },
  {
    name: 'denied-registry',
    title: 'The registry does not let this cluster pull virt-api: the last component hangs.',
    cluster: tagged,
    faults: { denied: '/virt-api:v1\\.8\\.4$' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'broken-job',
    title: 'The Job of the install strategy fails again and again, until it is given up.',
    cluster: tagged,
    faults: { crashing: '/virt-operator:v1\\.8\\.5$' },
    upgrade: { to: 'v1.8.5', method: 'image-tag', ...givenUp },
  },
  {
    name: 'quota-used-up',
    title: 'A ResourceQuota lets no further pod be: only an event says so.',
    cluster: tagged,
    faults: { quota: 'kubevirt' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'stored-version',
    title: 'A CRD still stores a version that the new release drops: the API server refuses it.',
    cluster: { version: 'v1.8.4' },
    faults: { storedVersion: { crd: 'virtualmachineexports.export.kubevirt.io', version: 'v1alpha1' } },
    upgrade: { ...toManifest, flags: ['--accept', 'crd-stored-versions', ...givenUp.flags] },
  },
  {
    name: 'frozen-status',
    title: 'virt-operator cannot write its status: everything rolls, and the CR says nothing of it.',
    cluster: tagged,
    faults: { statusTooLarge: true },
    upgrade: { ...toTag, flags: ['--timeout', '15m'] },
  },
  {
    name: 'canary-crash',
    title: 'The first new virt-handler ends again and again: the update stops at one node.',
    cluster: tagged,
    faults: { crashing: '/virt-handler:v1\\.8\\.4$' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'unschedulable',
    title: 'No control-plane node has room for the new virt-api.',
    cluster: tagged,
    faults: { unschedulable: '^virt-api-' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'not-ready-node',
    title: 'A node has been NotReady from before: virt-handler can never be whole.',
    cluster: tagged,
    faults: { notReady: ['worker-2'] },
    upgrade: { ...toTag, flags: [...knownNode, ...givenUp.flags] },
  },
  {
    name: 'node-comes-back',
    title: 'A node is NotReady for the first three minutes.',
    cluster: tagged,
    faults: { notReady: ['worker-2'] },
    later: [{ after: 180_000, faults: { notReady: undefined } }],
    upgrade: { ...toTag, flags: knownNode },
  },
  {
    name: 'old-operator',
    title: 'imageTag newer than the operator: forbidden, and it does not heal.',
    cluster: { version: 'v1.7.0', method: 'image-tag' },
    upgrade: { ...toTag, flags: ['--accept', 'operator-not-older', '--timeout', '3m'] },
  },
  {
    name: 'operator-without-rights',
    title: "The operator's ClusterRole lacks a rule.",
    cluster: tagged,
    faults: { withoutRights: true },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'operator-stopped',
    title: 'virt-operator hangs: nobody holds its Lease, nobody acts on the CR.',
    cluster: tagged,
    faults: { stopped: true },
    upgrade: { ...toTag, ...givenUp },
  },
]
