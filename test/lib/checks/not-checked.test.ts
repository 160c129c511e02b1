import { beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { allChecks, type ReportedCheck, runChecks } from '../../../src/lib/checks/check-run.ts'
import type { CheckDocument } from '../../../src/lib/output/views/check-report.ts'
import type { SnapshotPart } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { noteOf } from '../../../src/lib/engine/overrides.ts'
import { rightsOf } from '../../../src/lib/upgrade/role-rights.ts'
import { runText } from '../run-text.ts'
import type { CustomResourceDefinition } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { Known } from '../../../src/lib/kube/known.ts'
import type { Check, CheckedSnapshot } from '../../../src/lib/checks/check-definition.ts'
import { readLayerParts } from '../../../src/lib/openshift/layer-parts.ts'
import { clusterOf, itemOf, judgedExample, layered, nextMinor, roleOfJane } from './check-example.ts'
import { ask, known, ofVersion, question, unread } from './evidence.ts'
import type { Change } from './laid-over.ts'
import { nodes, tally, wholeCluster } from './whole-cluster.ts'
import fixture from './not-checked.json' with { type: 'json' }

const needs = allChecks.flatMap((check) => check.needs.map((part) => [check.id, part, check] as const))

/** With all layers that there are. */
const { cluster: withLayers } = clusterOf(layered)
const layers = await readLayerParts(withLayers.reader, {
  onPlatform: true,
  managed: true,
  alerts: async () => ({ known: true, items: [] }),
})
const wholeSnapshot = (): CheckedSnapshot => ({ ...wholeCluster(), ...layers })
const whole = question({ snapshot: wholeSnapshot(), target: 'v1.9.0' })

/** Unknown is not the same as good. */
const levelOf = (blocks: boolean) => (blocks ? 'not-checked' : 'warning')

test.each(needs)('%s is not checked without %s', (id, part, check) => {
  const { serverVersion, ...rest } = wholeSnapshot()
  const snapshot =
    part === 'serverVersion' ? rest : { ...rest, ...(serverVersion && { serverVersion }), [part]: unread }
  const { is, findings } = ask(check, { ...whole, snapshot, target: 'v1.9.0' })
  expect(is).toBe('not-checked')
  expect(findings).toMatchObject([{ id, level: levelOf(check.blocks) }])
  expect(findings[0]?.summary).toBe(
    `${check.unchecked}: ${part === 'serverVersion' ? 'kvup did not read the version of the API server' : 'nodes is forbidden'}`,
  )
})

/** What becomes of a check whose part was not asked for; undefined: nothing is told of it, for its layer is not there. */
function becomesWithout({ layers: own = [], needsProbes }: Check, part: string): string | undefined {
  const roots: Readonly<Record<string, string>> = {
    platform: 'clusterVersion',
    operator: 'hyperconverged',
    olm: 'subscriptions',
  }
  if (own.some((layer) => roots[layer] === part)) return undefined
  return needsProbes && part === 'probes' ? 'skipped' : 'not-checked'
}

/** A part that was never asked for, by whatever omission. */
test.each(needs)('%s is not passed where %s was not asked for', (_, part, check) => {
  const { [part]: _gone, ...rest } = wholeSnapshot()
  const results = runChecks([check], { ...whole, snapshot: rest as CheckedSnapshot })
  const became = results.map(({ is }) => is)
  expect(became).toEqual(becomesWithout(check, part) === undefined ? [] : [becomesWithout(check, part)])
})

/** Of these an empty list says that others were looked at. */
const mustHaveSome = new Set<string>(fixture.mustHaveSome)
const unheld = needs.filter(([, part]) => mustHaveSome.has(part))

test.each(unheld)('%s is not passed where no %s were found at all', (_, part, check) => {
  const snapshot = { ...wholeSnapshot(), [part]: { known: true, items: [] } } as CheckedSnapshot
  // Where it is found, it is a fault by itself.
  expect(['not-checked', 'found']).toContain(ask(check, { ...whole, snapshot, target: 'v1.9.0' }).is)
})

type Without = Parameters<typeof ask>[1]

const nodesWith = (nodeInfo: object): Without => ({
  snapshot: {
    ...wholeSnapshot(),
    nodes: known(
      ...nodes({
        'worker-1': (node) => Object.assign(node.status ?? {}, { nodeInfo }),
      }),
    ),
  },
})
const changed = (parts: Partial<CheckedSnapshot>): Without => ({ snapshot: { ...wholeSnapshot(), ...parts } })
const first = <T>(part: Known<T> | undefined): T => {
  const [item] = part?.known ? part.items : []
  if (item === undefined) throw new Error('there is none')
  return item
}
const withoutStatus = <T extends object>(item: T): T => ({ ...item, status: {} })
const operandCrd = (parts: Partial<CustomResourceDefinition>): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cdis.cdi.kubevirt.io' },
  ...parts,
})
const neverDone: Without = {
  rolloutStatus: { ...whole.rolloutStatus, observed: {} },
}
const ofUnknownMinor: Without = { target: 'v1.99.0' }
/** They name a trait of nodes that this kvup cannot look for. */
const ofNewerData: Without = {
  releases: {
    ...whole.releases,
    shifts: [{ id: 'x', in: 'v1.9', summary: 'nodes of another kind are given up', nodes: 'constructor' }],
  },
}
const severalSubscriptions = [
  'the one Subscription that counts',
  changed({ subscriptions: known(first(layers.subscriptions), first(layers.subscriptions)) }),
] as const
const updatingPlatform: readonly [string, Without] = [
  'a platform that stands still',
  changed({
    clusterVersion: known({
      ...first(layers.clusterVersion),
      status: {
        desired: { version: '4.19.2' },
        history: [{ state: 'Partial', version: '4.19.2', startedTime: '2026-11-22T21:00:00Z' }],
        conditions: [{ type: 'Progressing', status: 'True', message: 'Working towards 4.19.2' }],
      },
    }),
  }),
]
/** A release that takes no right by the data. */
const untoldRights: Without = {
  snapshot: { ...ofVersion('v1.7.4', wholeCluster()), ...layers },
  target: 'v1.8.4',
}
/**
 * What is missing inside of a part, or beside all of them: then nothing found is no pass. Each check has a row here, or says why nothing can be missing in what it
 * reads but the whole part: what is not there is a value, as in a list of migrations, or a finding of its own.
 */
const inside: Readonly<Record<string, string | readonly (readonly [what: string, without: Without])[]>> = {
  ...fixture.whole,
  'kubernetes-window': [
    ['a version that says no minor', changed({ serverVersion: { gitVersion: '', major: '', minor: '' } })],
  ],
  'known-bad': [
    ['a release to come from', neverDone],
    ['data of that minor', ofUnknownMinor],
  ],
  'zero-downtime-since': [['a release to come from', neverDone]],
  'crd-stored-versions': [['data of that minor, and a manifest', ofUnknownMinor]],
  'defaults-that-shift': [['a release to come from', neverDone]],
  'version-in-step': [
    [
      'the release of the platform',
      changed({ clusterVersion: known(withoutStatus(first(layers.clusterVersion))) }),
    ],
    [
      'the version of the operator',
      changed({
        hyperconverged: known(withoutStatus(first(layers.hyperconverged))),
        subscriptions: known(withoutStatus(first(layers.subscriptions))),
      }),
    ],
    [
      'data of the operator',
      {
        ...changed({
          hyperconverged: known({
            ...first(layers.hyperconverged),
            status: { versions: [{ name: 'operator', version: '1.99.0' }] },
          }),
        }),
        releases: { ...whole.releases, hyperconverged: [] },
      },
    ],
  ],
  'hyperconverged-not-good': [updatingPlatform],
  'approval-manual': [severalSubscriptions],
  'channel-not-in-catalog': [
    ['what the catalog offers', changed({ packageManifests: known() })],
    ['channels', changed({ packageManifests: known(withoutStatus(first(layers.packageManifests))) })],
    severalSubscriptions,
  ],
  'catalog-not-healthy': [severalSubscriptions],
  'one-operator-group': [severalSubscriptions],
  'operator-held': [severalSubscriptions],
  'leftover-stored-versions': [
    [
      'the versions of a CRD',
      changed({ crds: known(operandCrd({ status: { storedVersions: ['v1beta1'] } })) }),
    ],
    [
      'what a CRD has stored',
      changed({ crds: known(operandCrd({ spec: { versions: [{ name: 'v1', storage: true }] } })) }),
    ],
  ],
  'platform-not-upgradeable': [
    ['every condition', changed({ clusterVersion: known(withoutStatus(first(layers.clusterVersion))) })],
  ],
  'cluster-operators-degraded': [updatingPlatform],
  'bridge-networks': [
    [
      'the release of the platform',
      changed({ clusterVersion: known(withoutStatus(first(layers.clusterVersion))) }),
    ],
  ],
  rights: [
    [
      'the answer to an optional question',
      changed({ rights: known({ what: 'list rolebindings', optional: true }) }),
    ],
  ],
  'rbac-diff': [['the manifest, and data of a right', untoldRights]],
  'new-gates': [
    ['a kubelet version', nodesWith({ containerRuntimeVersion: 'containerd://2.3.2' })],
    ['a container runtime', nodesWith({ kubeletVersion: 'v1.35.4' })],
    [
      'the number of the runtime',
      nodesWith({ kubeletVersion: 'v1.35.4', containerRuntimeVersion: 'containerd://' }),
    ],
    ['a release to come from', neverDone],
    ['data of that minor', ofUnknownMinor],
  ],
  'version-skew': [['a kubelet version', nodesWith({})]],
  'launcher-age': [['the launchers of VMs', changed({ instances: known(tally({ launchers: {} })) })]],
  'hotplugged-volumes': [['a release to come from', neverDone]],
  'qemu-jump': [['a release to come from', neverDone]],
  'vms-that-change': [['a release to come from', neverDone]],
  'cpu-vendors': [['a release to come from', neverDone]],
  'machine-types': [['a release to come from', neverDone]],
  'node-support': [
    ['a release to come from', neverDone],
    ['what tells which nodes a change is about', ofNewerData],
  ],
  'operator-environment': [['a release to come from', neverDone]],
  'screenshot-rights': [['a release to come from', neverDone]],
  'network-resources': [['a release to come from', neverDone]],
}

test('every check says what can be missing inside of what it reads', () => {
  expect(Object.keys(inside).toSorted()).toEqual(allChecks.map(({ id }) => id).toSorted())
})

const insides = Object.entries(inside).flatMap(([id, rows]) =>
  typeof rows === 'string' ? [] : rows.map(([what, without]) => [id, what, without] as const),
)

test.each(insides)('%s is not checked without %s', (id, _, without) => {
  const check = allChecks.find((one) => one.id === id)
  if (check === undefined) throw new Error(`there is no ${id}`)
  const { target: _target, ...asked } = whole
  const { is, findings } = ask(check, { ...asked, target: 'v1.9.0', ...without })
  expect(is).toBe('not-checked')
  expect(findings).toMatchObject([{ id, level: 'warning' }])
  // Why not; a line to type only where it brings what is missing.
  expect(findings[0]?.summary).toMatch(
    /^.+ (?:was|were) not (?:checked|compared|counted|looked for|looked up|tried): \S.+$/su,
  )
  expect(findings[0]?.remedy.join('\n')).not.toContain('kvup explain')
})

test('what vms-that-stay and the forecast say of nodes is one: a VM that no other node takes does not follow', () => {
  const stay = allChecks.find(({ id }) => id === 'vms-that-stay')!
  const placed = new Map([
    ['a', { labels: { zone: 'gone' }, node: 'worker-1', vms: { count: 1, names: ['demo/web-1'] } }],
  ])
  const installation = { ...whole.installation, workloadUpdateMethods: ['LiveMigrate'] }
  const { is, findings } = ask(stay, {
    installation,
    ...changed({ instances: known(tally({ placed })) }),
    target: 'v1.9.0',
  })
  expect(is).toBe('found')
  expect(findings[0]?.summary).toContain('1 running VM finds no other node: demo/web-1')
})

const stopping = new Set(['blocker', 'not-checked'])

describe('of a user who may do everything but read', () => {
  /** What the user may not read, and which parts are unknown then. */
  test.each<[plural: string, parts: SnapshotPart[]]>(fixture.resources as never)(
    '%s',
    async (plural, parts) => {
      const { code, document } = await judgedExample({ user: 'jane', changes: roleWithout(plural) })
      const unknown = new Set<string>(parts)
      const wanted = allChecks.filter(
        (check) => check.layers === undefined && check.needs.some((part) => unknown.has(part)),
      )
      const left = document.items.filter(({ is }) => is === 'not-checked')
      expect(left.map(({ id, findings }) => [id, findings[0]?.level])).toEqual(
        wanted.map(({ id, blocks }) => [id, levelOf(blocks)]),
      )
      expect(said(left).filter((text) => !text.includes(plural))).toEqual([])
      const stops = document.items.some(({ findings }) => findings.some(({ level }) => stopping.has(level)))
      expect([code, document.outcome]).toEqual(stops ? [3, 'blocked'] : [0, 'passed'])
      expect(document).toMatchObject({ status: 'partial' })
    },
  )

  /** What was borrowed is said by a note on the KubeVirt itself. */
  test.each([
    ['noted there', 'passed', saved],
    ['not noted', 'found', {}],
  ])(
    'configmaps: whether empty methods are borrowed is known all the same, %s',
    async (_, is, annotations) => {
      const changes = [...roleWithout('configmaps'), holding(annotations)]
      const { document } = await judgedExample({ user: 'jane', changes })
      expect(itemOf(document, 'methods-empty-without-override').is).toBe(is)
      expect(document.items.filter((item) => item.is === 'not-checked')).toEqual([])
      expect(document).toMatchObject({ status: 'complete' })
    },
  )

  test('KubeVirts: then there is nothing to judge', async () => {
    const place = clusterOf({ user: 'jane', changes: roleWithout('kubevirts') })
    const { code, out } = await runText(nextMinor.split(' '), place)
    expect([code, out]).toEqual([7, ''])
  })
})

describe('of what kubectl has printed', () => {
  let document: CheckDocument
  beforeAll(async () => {
    const { cluster, clock } = clusterOf({})
    const saved = await runText(['snapshot', '-o', 'json'], { cluster, clock })
    const { items } = JSON.parse(saved.out) as { items: { kind: string }[] }
    const stdin = items.filter(({ kind }) => kind !== 'SnapshotIndex').map((one) => stringify(one))
    const place = { cluster, clock, stdin: stdin.join('---\n') }
    const { out } = await runText([...nextMinor.split(' '), '--from', '-', '-o', 'json'], place)
    document = JSON.parse(out) as CheckDocument
  })

  test('the version of the API server and what a user may do cannot be told', () => {
    const unknown = document.items.filter(({ is }) => is === 'not-checked').map(({ id }) => id)
    expect(unknown).toEqual(expect.arrayContaining(['kubernetes-window', 'rights']))
    expect(document.outcome).toBe('blocked')
  })

  test('what it holds is judged as ever', () => {
    const judged = document.items.filter(({ is }) => is !== 'not-checked')
    expect(judged.filter(({ is }) => is === 'found').map(({ id }) => id)).toEqual([
      'known-bad',
      'rbac-diff',
      'cannot-be-undone',
    ])
  })
})

const uid = '5d1f8b0e-0000-4000-8000-000000000001'

const saved = noteOf({
  id: 'workload-updates',
  procedure: 'upgrade to v1.9.0',
  object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace: 'kubevirt', name: 'kubevirt', uid },
  path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
  was: { present: true, value: ['LiveMigrate'] },
  by: 'anna@laptop',
  at: '2026-11-18T17:40:00Z',
})

const said = (items: readonly ReportedCheck[]) =>
  items.flatMap(({ findings }) => findings.map(({ summary }) => summary))

/** The KubeVirt with its methods emptied. */
const holding = (annotations: Readonly<Record<string, string>>) =>
  ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt', uid, annotations },
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: [] } },
  }) as Change

/** The role of kvup-operator-manifest, all of it but one resource. */
const roleWithout = (plural: string): Change[] =>
  roleOfJane(
    rightsOf('kvup-operator-manifest').map(({ group, resources: all, verbs }) => ({
      apiGroups: [group],
      resources: all.filter((one) => one !== plural),
      verbs: [...verbs],
    })),
  )
