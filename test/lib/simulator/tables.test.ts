import { describe, expect, it, test } from 'vitest'
import type { Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { OperatorCondition } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Deployment, ReplicaSet } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { Condition } from '../../../src/lib/kube/object.ts'
import { nextIn, parseCatalog } from '../../../src/lib/releases/catalog-path.ts'
import { patchedForUpgrade } from '../../../src/simulator/hyperconverged/hyperconverged-crd.ts'
import {
  aggregated,
  failedConditions,
  healthOf,
  initialConditions,
  type Told,
  troubleOf,
} from '../../../src/simulator/hyperconverged/hyperconverged-status.ts'
import { nextMoves } from '../../../src/simulator/machinery/apps-controllers.ts'
import { share } from '../../../src/simulator/machinery/owned-pods.ts'
import { contentOf, headOf, nextEntry, servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { waitOf } from '../../../src/simulator/olm/csv-controller.ts'
import { type EntryShape, ocpOlm, okdOlm, okdStableOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { kubeletSkew } from '../../../src/simulator/openshift/cluster-operators.ts'
import { compareReleases, sameMinor } from '../../../src/simulator/openshift/openshift-shape.ts'
import { scenarios } from '../../../src/simulator/scenarios.ts'
import { backOffUntil } from '../../../src/simulator/virt-operator/migration-controller.ts'
import { evictionVerdict } from '../../../src/simulator/virt-operator/virt-api.ts'

/** Judging functions of the simulator, one table each; what they do in a cluster is told by the stories. */

const good: Condition[] = [
  { type: 'Available', status: 'True' },
  { type: 'Progressing', status: 'False' },
  { type: 'Degraded', status: 'False' },
]

function saying(component: string, type = '', status = '', message = 'so it is'): Told {
  const said = { type, status: status as 'True', message }
  return { component, conditions: [...good.filter((c) => c.type !== type), ...(type === '' ? [] : [said])] }
}

/** `Status/Reason` of each. */
const short = (conditions: readonly Condition[]) =>
  conditions
    .map(({ status, reason = '' }) => `${status}/${reason.replace('ReconcileCompleted', 'ok')}`)
    .join(' ')

test.each([
  ['KubeVirt', undefined, 'True/ok True/ok False/ok False/ok True/ok', 'healthy'],
  [
    'CDI Progressing True',
    undefined,
    'True/ok True/ok True/CDIProgressing False/ok False/CDIProgressing',
    'warning',
  ],
  // Not upgradeable wins over progressing, whoever comes first.
  [
    'SSP Upgradeable False, CDI Progressing True',
    undefined,
    'True/ok True/ok True/CDIProgressing False/ok False/SSPNotUpgradeable',
    'warning',
  ],
  [
    'CDI Degraded True',
    undefined,
    'True/ok False/HCODegraded False/ok True/CDIDegraded False/HCODegraded',
    'error',
  ],
  ['CDI Available False', undefined, 'True/ok False/CDINotAvailable False/ok False/ok True/ok', 'error'],
  [
    'KubeVirt Degraded True, CDI Degraded True',
    undefined,
    'True/ok False/HCODegraded False/ok True/CDIDegraded False/HCODegraded',
    'error',
  ],
  // In upgrade mode Upgradeable stays True where no component says otherwise.
  ['KubeVirt', '1.18.1', 'True/ok True/ok True/HCOUpgrading False/ok True/ok', 'healthy'],
  [
    'CDI Available False',
    '1.18.1',
    'True/ok False/CDINotAvailable True/HCOUpgrading False/ok True/ok',
    'healthy',
  ],
  [
    'CDI Degraded True',
    '1.18.1',
    'True/ok False/HCODegraded True/HCOUpgrading True/CDIDegraded False/HCODegraded',
    'error',
  ],
])(
  'ocp 1.5: %s, in an upgrade to %s: the conditions of HyperConverged and its health',
  (words, to, expected, health) => {
    const told = words.split(', ').map((one) => saying(...(one.split(' ') as [string])))
    const conditions = aggregated(troubleOf(told), to)
    expect(short(conditions)).toBe(expected)
    expect(healthOf(conditions, to !== undefined)).toBe(health)
  },
)

test('ocp 1.5: one without conditions, a new one, one after an error; and the words', () => {
  const lacking = aggregated(troubleOf([{ component: 'SSP', conditions: [] }]), undefined)
  expect(short(lacking)).toBe('True/ok False/SSPConditions True/SSPConditions False/ok False/SSPConditions')
  expect(short(initialConditions)).toBe('Unknown/Init False/Init True/Init False/Init Unknown/Init')
  expect(short(failedConditions('no'))).toBe(`False/ReconcileFailed${' Unknown/StatusUnknown'.repeat(4)}`)
  const messages = [
    aggregated(troubleOf([]), '1.18.1'),
    aggregated(troubleOf([saying('CDI', 'Progressing', 'True', 'rolling')]), undefined),
  ]
  expect(messages.map(([, , progressing]) => progressing?.message)).toEqual([
    'HCO is now upgrading to version 1.18.1',
    'CDI is progressing: rolling',
  ])
})

const top = (seconds: number) => ({
  liveMigrationConfig: { completionTimeoutPerGiB: seconds, progressTimeout: 150 },
})
const below = (seconds: number) => ({ virtualization: top(seconds), security: {} })

test.each([
  ['the default of old', top(150), '1.18.1 1.19.0', top(20)],
  ['in v1', below(150), '1.18.1 1.19.0', below(20)],
  ['on OpenShift', top(150), '4.22.3 4.23.0', top(20)],
  ['on OpenShift 5', top(150), '4.22.3 5.0.1', top(20)],
  ['what somebody set', top(300), '1.18.1 1.19.0', top(300)],
  ['a release that does not do it', top(150), '1.17.3 1.18.1', top(150)],
  ['from a release that has done it', top(150), '1.19.0 1.19.1', top(150)],
  ['4.20 is no 1.20', top(150), '4.18.13 4.20.1', top(150)],
])('ocp 1.2: an upgrade rewrites the spec: %s', (_, spec, hop, expected) => {
  const [from = '', to = ''] = hop.split(' ')
  expect(patchedForUpgrade(spec, from, to)).toEqual(expected)
})

const set = (name: string, replicas: number, availableReplicas = replicas): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: { replicas },
  status: { availableReplicas },
})
const deployment = (replicas: number, rollingUpdate?: object): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'it' },
  spec: { replicas, ...(rollingUpdate && { strategy: { rollingUpdate } }) },
})
const noSurge = deployment(4, { maxSurge: 0, maxUnavailable: '50%' })

it.each([
  ['one more before any fewer', deployment(2), set('new', 0), [set('old', 2)], ['new 1']],
  ['nothing while the new one is not available', deployment(2), set('new', 1, 0), [set('old', 2)], []],
  ['an old one for each new one that is', deployment(2), set('new', 1), [set('old', 2)], ['old 1']],
  ['the next new one', deployment(2), set('new', 1), [set('old', 1)], ['new 2']],
  ['the last old one', deployment(2), set('new', 2), [set('old', 1)], ['old 0']],
  ['through', deployment(2), set('new', 2), [set('old', 0)], []],
  ['broken old ones first', deployment(2), set('new', 1), [set('old', 1), set('broken', 1, 0)], ['broken 0']],
  ['maxUnavailable without surge', noSurge, set('new', 0), [set('old', 4)], ['old 2']],
  ['fewer replicas', deployment(1), set('new', 3), [], ['new 1']],
])('a rolling update: %s', (...[, wanted, current, old, moves]) => {
  expect(nextMoves(wanted, current, old).map(({ set: s, to }) => `${s.metadata.name} ${to}`)).toEqual(moves)
})

it('percentages are rounded as the field asks', () => {
  const shares = [
    share('10%', 3, 'up'),
    share('25%', 2, 'down'),
    share(2, 9, 'up'),
    share(undefined, 9, 'up'),
  ]
  expect(shares).toEqual([1, 0, 2, 1])
})

const entry = (version: string, more: Partial<EntryShape> = {}): EntryShape => ({
  name: `o.v${version}`,
  version,
  ...more,
})
const after = (version: string, replaces: string) => entry(version, { replaces: `o.v${replaces}` })
const chain = [entry('1.0.0'), after('1.1.0', '1.0.0'), after('1.2.0', '1.1.0')]
const range = (skipRange: string, version = '2.0.0') => [entry(version, { skipRange })]
const skipping = [
  entry('1.0.0'),
  after('1.1.0', '1.0.0'),
  entry('1.2.0', { replaces: 'o.v1.0.0', skips: ['o.v1.1.0'] }),
]
const round = [after('1.0.0', '1.1.0'), after('1.1.0', '1.0.0')]

test.each<[string, EntryShape[], string, string | undefined]>([
  ['replaces leads one step on', chain, '1.0.0', '1.1.0'],
  ['and from there to the head', chain, '1.1.0', '1.2.0'],
  ['nothing leads on from the head', chain, '1.2.0', undefined],
  ['nor from what no edge names', chain, '0.9.0', undefined],
  ['what is skipped is left out: of two the one nearer to the head', skipping, '1.0.0', '1.2.0'],
  [
    'skips leads on from what it skips',
    [entry('1.1.0'), entry('1.2.0', { skips: ['o.v1.1.0'] })],
    '1.1.0',
    '1.2.0',
  ],
  ['a skipRange takes in what no channel has', range('>=1.0.0 <1.2.0', '1.2.0'), '1.1.7', '1.2.0'],
  ['but not its own bound', range('>=1.0.0 <1.2.0', '1.3.0'), '1.2.0', undefined],
  ['of alternatives one is enough', range('<1.0.0 || 1.5.0'), '1.5.0', '2.0.0'],
  ['a range that cannot be read has nothing in it', range('any'), '1.5.0', undefined],
  ['edges that go round', round, '1.0.0', '1.1.0'],
])('ocp 2.6: %s', (_, entries, installed, next) => {
  expect(nextEntry(entries, entry(installed))?.version).toBe(next)
})

test('ocp 2.6: the head is what nothing replaces or skips; edges that go round have none', () => {
  expect([chain, [], round].map((entries) => headOf(entries)?.version)).toEqual([
    '1.2.0',
    undefined,
    undefined,
  ])
})

test.each([
  ['OpenShift', ocpOlm(), '4.20'],
  ['a channel for each minor', okdOlm(), undefined],
  ['community-operators', okdStableOlm(), '4.22'],
] as const)('what is read of the catalog file leads where OLM goes: %s', (_, shape, minor) => {
  const [pack] = parseCatalog(servedCatalog(shape, minor), 'catalog.yaml')
  const channels = contentOf(shape, minor)[0]?.channels ?? []
  const all = shape.channels.flatMap(({ entries }) => entries)
  const paths = channels.flatMap(({ name, entries }) =>
    all.map((from) => {
      const channel = pack?.channels.find((one) => one.name === name)
      const byFile = channel && nextIn(channel, { csv: from.name, version: from.version })?.name
      return [nextEntry(entries, from)?.name, byFile]
    }),
  )
  expect(paths.filter(([byOlm]) => byOlm !== undefined).length).toBeGreaterThan(2)
  expect(paths.filter(([byOlm, byFile]) => byOlm !== byFile)).toEqual([])
})

const of = (more: Partial<OperatorCondition>): OperatorCondition => ({
  apiVersion: 'operators.coreos.com/v2',
  kind: 'OperatorCondition',
  metadata: { name: 'o.v1', generation: 3 },
  ...more,
})
const own = (status: 'True' | 'False', observedGeneration: number) => ({
  status: { conditions: [{ type: 'Upgradeable', status, message: 'busy', observedGeneration }] },
})
const override = (status: 'True' | 'False') => ({
  spec: { overrides: [{ type: 'Upgradeable', status, message: 'not now' }] },
})

test.each<[string, OperatorCondition | undefined, RegExp | undefined]>([
  ['a missing object lets it be replaced', undefined, undefined],
  ['so does one that says nothing', of({}), undefined],
  ['and one that says True', of(own('True', 3)), undefined],
  ['False holds, in its words', of(own('False', 3)), /not upgradeable: busy$/],
  ['True of an older generation is a no', of(own('True', 2)), /"Upgradeable"="True" is outdated/],
  ['an override wins over False', of({ ...own('False', 3), ...override('True') }), undefined],
  ['and over True', of({ ...own('True', 3), ...override('False') }), /not now/],
  ['and over what is outdated', of({ ...own('True', 2), ...override('True') }), undefined],
])('ocp 2.5: %s', (_, condition, hold) => {
  expect(waitOf(condition) ?? 'no hold').toMatch(hold ?? /^no hold$/)
})

const node = (kubeletVersion: string, index: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `worker-${index}` },
  status: { nodeInfo: { kubeletVersion } },
})

describe('ocp 3.4: how far kubelets may be behind', () => {
  test.each<readonly [string, number, string, string]>([
    ['4.18', 0, 'True', 'VersionsSynced'],
    ['4.18', 1, 'False', 'VersionUnsupportedNextUpgrade'],
    ['4.18', 2, 'False', 'VersionUnsupportedNextUpgrade'],
    ['4.18', 3, 'False', 'VersionUnsupported'],
    ['4.19', 1, 'True', 'VersionSupportedNextUpgrade'],
    ['4.19', 2, 'False', 'VersionUnsupported'],
    ['4.22', 1, 'False', 'VersionUnsupportedNextUpgrade'],
    ['4.23', 1, 'True', 'VersionSupportedNextUpgrade'],
    ['4.23', 2, 'False', 'VersionUnsupported'],
    ['5.0', 1, 'True', 'VersionSupportedNextUpgrade'],
    ['5.1', 2, 'True', 'VersionSupportedNextUpgrade'],
    ['5.2', 2, 'False', 'VersionUnsupportedNextUpgrade'],
    ['5.2', 3, 'False', 'VersionUnsupportedNextUpgrade'],
    ['5.2', 4, 'False', 'VersionUnsupported'],
    ['4.18', -1, 'Unknown', 'VersionAhead'],
  ])('%s, %i behind: %s %s', (version, behind, status, reason) => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    const nodes = [node('v1.33.1', 0), node(`v1.${33 - behind}.4`, 1)]
    const found = kubeletSkew({ platform: { major, minor }, server: '1.33.1' }, nodes)
    expect(found).toMatchObject({ status, reason: `KubeletMinor${reason}` })
  })

  test.each([
    [1, 'Kubelet version (1.31.7) on node worker-0 is'],
    [3, 'on nodes worker-0, worker-1, and worker-2 are'],
    [4, 'on 4 nodes are'],
  ])('%i nodes: up to three are named', (count, words) => {
    const nodes = Array.from({ length: count }, (_, i) => node('v1.31.7', i))
    const found = kubeletSkew({ platform: { major: 4, minor: 20 }, server: '1.33.1' }, nodes)
    expect(found.message).toContain(words)
  })
})

test.each<readonly [string, '<' | '=' | '>', string]>([
  ['4.18.9', '<', '4.18.21'],
  ['4.19.0-okd-scos.10', '<', '4.19.0-okd-scos.16'],
  ['4.19.0-okd-scos.16', '>', '4.19.0'],
  ['4.20.0-okd-scos.4', '>', '4.19.0-okd-scos.16'],
  ['4.19.14', '=', '4.19.14'],
  ['5.0.0', '>', '4.23.7'],
])('ocp 3.7: %s %s %s', (a, sign, b) => {
  expect(Math.sign(compareReleases(a, b))).toBe({ '<': -1, '=': 0, '>': 1 }[sign])
})

test('a minor is one of its major', () => {
  expect(sameMinor('4.19.0-okd-scos.16', '4.19.14')).toBe(true)
  expect(sameMinor('4.0.1', '5.0.1')).toBe(false)
})

it.each([
  [undefined, true, { is: 'allowed' }],
  ['None', false, { is: 'allowed' }],
  ['LiveMigrate', true, { is: 'denied', evacuates: true }],
  ['LiveMigrate', false, { is: 'denied', evacuates: false }],
  ['LiveMigrateIfPossible', true, { is: 'denied', evacuates: true }],
  ['LiveMigrateIfPossible', false, { is: 'allowed' }],
  ['External', true, { is: 'denied', evacuates: false }],
])('an eviction with strategy %s and migratable %s', (strategy, migratable, verdict) => {
  expect(evictionVerdict({ name: 'vm', strategy, migratable })).toMatchObject(verdict)
})

const ended = (at: number, phase: string, by = 'kubevirt.io/workloadUpdateMigration') => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name: 'move-vm', namespace: 'demo', annotations: { [by]: '' } },
  spec: { vmiName: 'vm' },
  status: { phase, migrationState: { endTimestamp: new Date(at * 1000).toISOString() } },
})

it('the back-off doubles from 20 s to 320 s, forgets failures before a success, and counts what KubeVirt makes itself alone', () => {
  const failures = [1, 2, 3, 4, 5, 6].map((at) => ended(at, 'Failed'))
  expect([1, 2, 5, 6].map((n) => backOffUntil(failures.slice(0, n)) / 1000)).toEqual([21, 42, 325, 326])
  expect(backOffUntil([...failures.slice(0, 2), ended(9, 'Succeeded')])).toBe(0)
  const by = ['kubevirt.io/evacuationMigration', 'kubevirt.io/workloadUpdateMigration', 'of-mine']
  expect(backOffUntil(by.map((one, at) => ended(at, 'Failed', one))) / 1000).toBe(41)
  expect(backOffUntil([ended(1, 'Failed', 'of-mine')])).toBe(0)
})

it('every scenario has a name of its own that can be typed, and a sentence', () => {
  const names = scenarios.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/u.test(name))).toEqual([])
  expect(scenarios.filter(({ title }) => !title.endsWith('.'))).toEqual([])
})
