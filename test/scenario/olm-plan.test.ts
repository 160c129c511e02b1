import { expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { HyperConvergeds, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { PlanDocument } from '../../src/lib/upgrade/plan/plan-document.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { play, type Stage } from './stage.ts'
import type { AuditRecord } from '../../src/simulator/api/api-request.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const brief = { stableFor: '5s' }

const planOf = ({ documents }: { documents: readonly unknown[] }) => documents[0] as PlanDocument

const isPatch = ({ verb, resource }: AuditRecord) => verb === 'patch' && resource === 'hyperconvergeds'

test('--dry-run shows each step and changes nothing; of the server it asks whether it would take it', () =>
  play(okd, async (stage) => {
    const before = JSON.stringify(stage.kubevirt.spec)
    const ended = await stage.upgrade('1.18.1', { ...brief, dryRun: 'client' })
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
    expect(stage.requests().filter(isPatch)).toEqual([])
    const asked = await stage.upgrade('1.18.1', { ...brief, dryRun: 'server' })
    expect(planOf(asked).steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id))
    expect(stage.requests().filter(isPatch)).not.toEqual([])
    expect(stage.writes()).toEqual([])
  }))

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

test('channel and HyperConverged are not as they were sealed: exit 5, and nothing is done', () =>
  play(okd, async (stage) => {
    expect((await stage.plan('1.18.1', brief)).code).toBe(0)
    edit(stage, Subscriptions, { channel: 'stable-v1.19' })
    edit(stage, HyperConvergeds, { liveMigrationConfig: { parallelMigrationsPerCluster: 9 } })
    await stage.until(20_000)
    const mark = stage.mark
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended.code).toBe(5)
    expect(ended.text).toContain('spec.channel of subscriptions/hco-operatorhub')
    expect(ended.text).toContain(
      'spec.liveMigrationConfig.parallelMigrationsPerCluster of hyperconvergeds/kubevirt-hyperconverged',
    )
    expect(stage.writes(mark)).toEqual([])
  }))

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
