import { beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { allChecks, type ReportedCheck } from '../../../src/lib/checks/check-run.ts'
import type { CheckDocument } from '../../../src/lib/output/views/check-report.ts'
import type { SnapshotPart } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { noteOf } from '../../../src/lib/engine/overrides.ts'
import { rightsOf } from '../../../src/lib/upgrade/role-rights.ts'
import { runText } from '../run-text.ts'
import { clusterOf, itemOf, judgedExample, nextMinor } from './check-example.ts'
import { ask, question, unread } from './evidence.ts'
import type { Change } from './laid-over.ts'
import { wholeCluster } from './whole-cluster.ts'

const needs = allChecks.flatMap((check) => check.needs.map((part) => [check.id, part, check] as const))
const whole = question({ snapshot: wholeCluster(), target: 'v1.9.0' })

/** Unknown is not the same as good. */
const levelOf = (blocks: boolean) => (blocks ? 'not-checked' : 'warning')

test.each(needs)('%s is not checked without %s', (id, part, check) => {
  const { serverVersion, ...rest } = wholeCluster()
  const snapshot =
    part === 'serverVersion' ? rest : { ...rest, ...(serverVersion && { serverVersion }), [part]: unread }
  const { is, findings } = ask(check, { ...whole, snapshot, target: 'v1.9.0' })
  expect(is).toBe('not-checked')
  expect(findings).toMatchObject([{ id, level: levelOf(check.blocks) }])
  expect(findings[0]?.summary).toContain(`${part}: `)
})

const stopping = new Set(['blocker', 'not-checked'])

/** What a user may not read, and which parts are unknown then. */
const resources: readonly (readonly [plural: string, parts: readonly SnapshotPart[]])[] = [
  ['deployments', ['operators', 'deployments', 'others']],
  ['daemonsets', ['daemonsets']],
  ['pods', ['pods']],
  ['leases', ['leases']],
  ['nodes', ['nodes']],
  ['customresourcedefinitions', ['crds']],
  ['apiservices', ['apiServices']],
  ['validatingwebhookconfigurations', ['webhooks']],
  ['mutatingwebhookconfigurations', ['webhooks']],
  ['endpointslices', ['endpoints']],
  ['virtualmachineinstances', ['instances', 'quotas']],
  ['virtualmachineinstancemigrations', ['migrations']],
  ['virtualmachines', ['vms']],
  ['resourcequotas', ['quotas']],
  ['poddisruptionbudgets', ['budgets']],
  ['virtualmachinesnapshots', ['dataJobs']],
  ['virtualmachineexports', ['dataJobs']],
  ['cronjobs', ['others']],
  ['clusterrolebindings', ['operatorRoles']],
  ['roles', ['operatorRoles']],
]

describe('of a user who may do everything but read', () => {
  test.each(resources)('%s', async (plural, parts) => {
    const { code, document } = await judgedExample({ user: 'jane', changes: roleWithout(plural) })
    const unknown = new Set<string>(parts)
    const wanted = allChecks.filter((check) => check.needs.some((part) => unknown.has(part)))
    const left = document.items.filter(({ is }) => is === 'not-checked')
    expect(left.map(({ id, findings }) => [id, findings[0]?.level])).toEqual(
      wanted.map(({ id, blocks }) => [id, levelOf(blocks)]),
    )
    expect(said(left).filter((text) => !text.includes(plural))).toEqual([])
    const stops = document.items.some(({ findings }) => findings.some(({ level }) => stopping.has(level)))
    expect([code, document.outcome]).toEqual(stops ? [3, 'blocked'] : [0, 'passed'])
    expect(document).toMatchObject({ status: 'partial' })
  })

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
function roleWithout(plural: string): Change[] {
  const group = 'rbac.authorization.k8s.io'
  const rules = rightsOf('kvup-operator-manifest').map(({ group: of, resources: all, verbs }) => ({
    apiGroups: [of],
    resources: all.filter((one) => one !== plural),
    verbs,
  }))
  return [
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name: 'jane' }, rules } as Change,
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'jane' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'jane' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'jane' }],
    } as Change,
  ]
}
