import { expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { HyperConvergeds, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { PlanDocument } from '../../src/lib/upgrade/plan/plan-document.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { play, type Stage } from './stage.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const brief = { stableFor: '5s' }

const planOf = ({ documents }: { documents: readonly unknown[] }) => documents[0] as PlanDocument

test.each(['client', 'server'])('--dry-run=%s shows each step and changes nothing', (dryRun) =>
  play(okd, async (stage) => {
    const before = JSON.stringify(stage.kubevirt.spec)
    const ended = await stage.upgrade('1.18.1', { ...brief, dryRun })
    expect(ended.code).toBe(0)
    expect(stage.writes()).toEqual([])
    expect(JSON.stringify(stage.kubevirt.spec)).toBe(before)
    const { steps, operator, to } = planOf(ended)
    expect(to).toBe('v1.8.4')
    expect(operator).toMatchObject({ from: '1.17.3', to: '1.18.1', hops: [{ channel: 'stable-v1.18' }] })
    expect(steps.map(({ id }) => id)).toEqual([
      'gate',
      'pause-workload-updates',
      'migrations-in-flight',
      'gate-1.18.1',
      'set-channel-1.18.1',
      'install-plan-1.18.1',
      'approve-1.18.1',
      'plan-complete-1.18.1',
      'csv-succeeded-1.18.1',
      'hyperconverged-at-1.18.1',
      'operands-rolled-1.18.1',
      'healthy',
      'virt-controller-leads',
      'resume-workload-updates',
      'workload-updates-passed-on',
      'healthy-again',
    ])
    expect(steps[0]).toMatchObject({ state: 'already-so' })
    const byId = (id: string) => steps.find((step) => step.id === id)
    expect(byId('pause-workload-updates')?.overrides).toMatchObject([{ value: ['LiveMigrate'] }])
    expect(byId('set-channel-1.18.1')?.change).toContain('from stable-v1.17 to stable-v1.18')
    const sent = stage
      .requests()
      .filter(({ verb, resource }) => verb === 'patch' && resource === 'hyperconvergeds')
    expect(sent.length > 0).toBe(dryRun === 'server')
  }),
)

test('a dry run judges the gate, for nothing is changed before it', () =>
  play({ ...okd, faults: { held: 'a backup is under way' } }, async (stage) => {
    await stage.until(60_000)
    const { steps } = planOf(await stage.upgrade('1.18.1', { ...brief, dryRun: 'client' }))
    expect(steps[0]).toMatchObject({ id: 'gate', state: 'waits' })
    expect(steps[0]?.on).toContain('to let it be replaced')
  }))

test('a sealed plan takes effect as it is, also after it was stopped halfway', () =>
  play(okd, async (stage) => {
    expect((await stage.plan('1.18.1', brief)).code).toBe(0)
    const half = await stage.upgrade(undefined, { plan: 'plan.yaml', until: 'approve-1.18.1' })
    expect(half).toMatchObject({ code: 0, documents: [{ outcome: 'stopped-before' }] })
    expect((await stage.upgrade(undefined, { plan: 'plan.yaml' })).code).toBe(0)
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  }))

const edits: readonly [what: string, edit: (stage: Stage) => void, says: string][] = [
  [
    'the channel',
    (stage) => edit(stage, Subscriptions, { channel: 'stable-v1.19' }),
    'spec.channel of subscriptions/hco-operatorhub',
  ],
  [
    'the HyperConverged',
    (stage) => edit(stage, HyperConvergeds, { liveMigrationConfig: { parallelMigrationsPerCluster: 9 } }),
    'spec.liveMigrationConfig.parallelMigrationsPerCluster of hyperconvergeds/kubevirt-hyperconverged',
  ],
]

test.each(edits)('%s is not as it was sealed: exit 5, and nothing is done', (_, change, says) =>
  play(okd, async (stage) => {
    expect((await stage.plan('1.18.1', brief)).code).toBe(0)
    change(stage)
    await stage.until(20_000)
    const mark = stage.mark
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended.code).toBe(5)
    expect(ended.text).toContain(says)
    expect(stage.writes(mark)).toEqual([])
  }),
)

function edit<T extends KubeObject>({ simulated }: Stage, kind: Kind<T>, spec: object): void {
  const [found] = simulated.store.list(kind).items
  if (found)
    simulated.store.patch(
      kind,
      found.metadata,
      { type: 'merge', body: { spec } },
      { manager: 'kubectl-edit' },
    )
}
