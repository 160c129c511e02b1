import { rightsOf } from '../../../../src/lib/upgrade/role-rights.ts'
import { type CheckExample, checkExample } from '../check-example.ts'
import type { Change } from '../laid-over.ts'
import { change, home, kubevirt, type Row } from './row.ts'

const patched = (patch: object) => kubevirt({ spec: { customizeComponents: { patches: [patch] } } })
const operatorContainer = (fields: object) =>
  home('Deployment', 'virt-operator', {
    spec: { template: { spec: { containers: [{ name: 'virt-operator', ...fields }] } } },
  })
const cdi = checkExample('cdi-beside/failing.json').changes ?? []
const joining: CheckExample = { cluster: 'updating-canary-passed', run: 'check --to v1.8.4' }

/** What the role of kvup-operator-manifest allows, but for what can be done without. */
function onlyWhatItTakes(): Change[] {
  const rules = rightsOf('kvup-operator-manifest')
    .filter(({ optional, onlyChecks }) => onlyChecks || !optional)
    .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources: [...resources], verbs }))
  const nodes = { apiGroups: [''], resources: ['nodes'], verbs: ['list'] }
  const rbac = 'rbac.authorization.k8s.io'
  return [
    { ...change('ClusterRole', 'jane', { rules: [...rules, nodes] }), apiVersion: `${rbac}/v1` },
    {
      ...change('ClusterRoleBinding', 'jane', {
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'jane' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'jane' }],
      }),
      apiVersion: `${rbac}/v1`,
    },
  ]
}

const probing = 'check --to v1.9.0 --manifest rbac-diff/kubevirt-operator.yaml --probe-images --yes'
const silent = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }

/** As virt-operator v1.9 leaves it behind. */
const exportsOfV19 = change('CustomResourceDefinition', 'virtualmachineexports.export.kubevirt.io', {
  spec: {
    versions: [
      { name: 'v1', served: true, storage: true },
      { name: 'v1beta1', served: true, storage: false },
    ],
  },
  status: { storedVersions: ['v1beta1', 'v1'] },
})

/** Of the way, what is installed, and rights. */
export const ofTheInstallation: readonly Row[] = [
  [
    'images-pullable',
    'only virtctl guestfs lacks its image',
    ['warning images-pullable'],
    { run: probing, pulls: { denied: '/libguestfs-tools:' } },
  ],
  [
    'images-pullable',
    'no node of a pool is ready',
    ['blocker images-not-tried', 'warning images-not-tried'],
    { run: probing, changes: [change('Node', 'worker-1', silent), change('Node', 'worker-2', silent)] },
  ],
  [
    'hop-supported',
    'nothing was ever settled',
    ['warning never-healthy'],
    { changes: [kubevirt({ status: { observedKubeVirtVersion: null } })] },
  ],
  ['hop-supported', 'a step back', ['blocker downgrade'], { run: 'check --to v1.7.4' }],
  [
    'crd-stored-versions',
    'a step back that the CRDs do not take',
    ['blocker no-way-back'],
    { installed: 'v1.9.0', run: 'check --to v1.8.4', changes: [exportsOfV19] },
  ],
  [
    'hop-supported',
    'the next major',
    ['warning major-step', 'not-checked release-unknown'],
    { installed: 'v1.9.0', run: 'check --to v2.0.0' },
  ],
  [
    'hop-supported',
    'over a minor of which no release is known',
    ['blocker minor-skipped', 'not-checked release-unknown'],
    { installed: 'v1.8.4', run: 'check --to v1.11.0' },
  ],
  ['hop-supported', 'not from the last patch', ['warning patch-skipped'], { installed: 'v1.8.2' }],
  [
    'hop-supported',
    'a pre-release',
    ['warning pre-release', 'not-checked release-unknown'],
    { run: 'check --to v1.9.0-rc.1' },
  ],
  [
    'hop-supported',
    'a release that is not in the data',
    ['not-checked release-unknown'],
    { run: 'check --to v1.9.3' },
  ],
  [
    'hop-supported',
    'a minor that is newer than the data',
    ['not-checked release-unknown'],
    { installed: 'v1.9.0', run: 'check --to v1.10.0' },
  ],
  [
    'hop-supported',
    'before updates begin',
    ['blocker from-unsupported', 'not-checked release-unknown'],
    checkExample('zero-downtime-since/failing.json'),
  ],
  [
    'kubernetes-window',
    'too new now, and not after',
    ['warning kubernetes-window'],
    { kubernetes: 'v1.36.1' },
  ],
  [
    'kubernetes-window',
    'too new before and after',
    ['warning kubernetes-window', 'warning kubernetes-window'],
    { kubernetes: 'v1.37.0' },
  ],
  [
    'known-bad',
    'v1.6 to v1.7',
    ['info issue-16264', 'info issue-18670'],
    checkExample('cannot-be-undone/failing.json'),
  ],
  ['known-bad', 'a step between patches', [], { run: 'check --to v1.8.5' }],
  [
    'node-drained',
    'the node takes pods again, and the mark was left behind',
    ['blocker node-drained'],
    {
      changes: [
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachineInstance',
          metadata: { name: 'web-1', namespace: 'demo' },
          status: { evacuationNodeName: 'worker-1' },
        } as Change,
      ],
    },
  ],
  ['healthy-now', 'the same update is under way', ['info healthy-now'], joining],
  [
    'healthy-now',
    'a VM that was started does not run',
    ['warning vms-not-running'],
    {
      changes: [
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachineInstance',
          metadata: { name: 'web-1', namespace: 'demo' },
          status: {
            phase: 'Scheduling',
            conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
          },
        } as Change,
      ],
    },
  ],
  ['mixed-identifiers', 'the same update is under way', ['info mixed-identifiers'], joining],
  [
    'manager',
    'HyperConverged',
    ['blocker managed-by-hyperconverged'],
    { changes: [kubevirt({ metadata: { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' } } })] },
  ],
  [
    'manager',
    'OLM',
    ['blocker managed-by-olm'],
    {
      changes: [
        home('Deployment', 'virt-operator', {
          metadata: { labels: { 'olm.owner': 'kubevirt-operator.v1.8.4' } },
        }),
      ],
    },
  ],
  [
    'manager',
    'Helm',
    ['blocker managed-by-helm'],
    { changes: [kubevirt({ metadata: { annotations: { 'meta.helm.sh/release-name': 'virt' } } })] },
  ],
  [
    'operator-not-older',
    'a digest that tells nothing',
    ['blocker operator-unknown'],
    {
      changes: [
        operatorContainer({
          image: `quay.io/kubevirt/virt-operator@sha256:${'0'.repeat(64)}`,
          env: [
            { name: 'VIRT_OPERATOR_IMAGE', $patch: 'delete' },
            { name: 'KUBEVIRT_VERSION', $patch: 'delete' },
          ],
        }),
      ],
    },
  ],
  [
    'operator-not-older',
    'an operator that runs its own strategy',
    ['blocker operator-runs-own-strategy'],
    { installed: 'v1.5.3', operator: 'v1.6.6', run: 'check --to v1.6.5 --method image-tag' },
  ],
  [
    'operator-not-older',
    'a manifest that is older',
    ['blocker operator-goes-back'],
    { run: 'check --to v1.7.4' },
  ],
  [
    'operator-not-older',
    'a tag that stays pinned',
    ['blocker pinned-tag'],
    {
      installed: 'v1.5.3',
      run: 'check --to v1.6.6',
      changes: [kubevirt({ spec: { imageTag: 'v1.5.2' } })],
    },
  ],
  [
    'operator-not-older',
    'one patch older',
    ['warning operator-not-older'],
    { run: 'check --to v1.8.5 --method image-tag' },
  ],
  [
    'customize-components',
    'a list item by its number',
    ['warning customize-components'],
    {
      changes: [
        patched({
          resourceType: 'DaemonSet',
          resourceName: 'virt-handler',
          type: 'json',
          patch: '[{"op":"remove","path":"/spec/template/spec/containers/0/args/3"}]',
        }),
      ],
    },
  ],
  [
    'customize-components',
    'what is not installed',
    ['warning customize-components'],
    {
      changes: [
        patched({
          resourceType: 'Deployment',
          resourceName: 'virt-old',
          type: 'merge',
          patch: '{"spec":{}}',
        }),
      ],
    },
  ],
  [
    'customize-components',
    'any other',
    ['info customize-components'],
    {
      changes: [
        patched({
          resourceType: 'Deployment',
          resourceName: 'virt-api',
          type: 'merge',
          patch: '{"spec":{"replicas":3}}',
        }),
      ],
    },
  ],
  [
    'last-applied-size',
    'of what lies in a namespace',
    ['warning last-applied-size', 'warning last-applied-size'],
    {
      changes: [
        kubevirt({ metadata: { annotations: { note: 'x'.repeat(250_000) } } }),
        home('Deployment', 'virt-operator', { metadata: { annotations: { note: 'x'.repeat(250_000) } } }),
      ],
    },
  ],
  [
    'cdi-beside',
    'HyperConverged keeps it in step',
    [],
    {
      changes: [
        ...cdi,
        kubevirt({ metadata: { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' } } }),
      ],
    },
  ],
  [
    'rights',
    'only what can be done without',
    ['warning rights-optional'],
    { user: 'jane', changes: onlyWhatItTakes() },
  ],
  [
    'operator-rights',
    'no manifest to compare with',
    ['info operator-rights'],
    checkExample('operator-not-older/failing.json'),
  ],
  [
    'operator-rights',
    'the role holds all of it',
    [],
    {
      ...checkExample('operator-rights/failing.json'),
      run: 'check --to v1.9.0 --method image-tag --manifest rbac-diff/kubevirt-operator.yaml',
    },
  ],
]
