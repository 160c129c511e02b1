// Upgrades that wait for VMs that fail: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Access } from '../../src/lib/kube/cluster.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { coveredBy, type Seal, sealPlan } from '../../src/lib/engine/sealed-plan.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { Killed, mortal } from './mortal-cluster.ts'
import { byTag, minute, briefly as play, second, type Stage } from './stage.ts'

const wait = { waitWorkloads: true } as const
const three = { ...byTag, workers: 3 } as const
const failing: readonly VmShape[] = [
  { name: 'bad-1', migration: 'fail' },
  { name: 'bad-2', migration: 'fail' },
  { name: 'bad-3', migration: 'fail' },
  { name: 'good-1' },
]

const kubeVirtWrites = (stage: Stage, mark: number) =>
  stage.writes(mark).filter(({ resource }) => resource === 'kubevirts')

/** What made their migrations fail is mended. */
function mend(stage: Stage): void {
  for (const { metadata } of stage.simulated.store.list(VirtualMachineInstances).items) {
    const annotations = Object.fromEntries(Object.keys(metadata.annotations ?? {}).map((key) => [key, null]))
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const
    stage.simulated.store.patch(VirtualMachineInstances, metadata, patch, { manager: 'test' })
  }
}

test('W5 --wait-workloads: VMs that fail for one reason make it hold again, and no upgrade gives that back, of this release or the next', async () => {
  await play({ ...three, vms: failing }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', wait)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'too-many-failures' } })
    expect(ended.error?.message).toMatch(
      /3 VMs failed for one reason: operation failed: guest CPU .*on worker-.*with machine .*harvester issue 11615/,
    )
    expect(ended.error?.message).toContain('automatic VM updates are paused again')
    const remedy = ended.error?.remedy.join('\n')
    expect(remedy).toMatch(
      /update --canary 1[^]*kvup workloads resume-updates[^]*continues once they are restored/,
    )
    expect(stage.methods).toEqual([])
    const override = { id: 'workload-updates', was: { value: ['LiveMigrate'] }, object: { kind: 'KubeVirt' } }
    expect(await stage.journal.overrides()).toMatchObject([override])

    const mark = stage.mark
    const again = await stage.upgrade('v1.8.4', wait)
    expect(again).toMatchObject({ code: 3, error: { reason: 'paused-for-harm' } })
    expect(again.error?.remedy.join()).toMatch(
      /kvup history.*update --canary 1.*kvup workloads resume-updates/,
    )
    const unwaited = await stage.upgrade('v1.8.4')
    // It ends the run that was cut off: what ran before that one is compared.
    expect(unwaited).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
    expect(unwaited.text).toContain('kvup workloads resume-updates')
    expect(kubeVirtWrites(stage, mark)).toEqual([])
    expect((await stage.plan('v1.8.4', wait)).text).toContain(
      'automatic VM updates stay paused: VMs came to harm',
    )

    const next = await stage.upgrade('v1.9.0')
    expect(next).toMatchObject({ code: 0, documents: [{ outcome: 'done', workloads: { paused: true } }] })
    expect(next.text).toContain('automatic VM updates stay paused: VMs came to harm')
    expect(stage.methods).toEqual([])
    expect(await stage.journal.overrides()).toHaveLength(1)

    mend(stage)
    expect(await stage.restore()).toMatchObject({ code: 0 })
    expect(await stage.upgrade('v1.9.0', wait)).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
})

test('W5 --wait-workloads: the last VM that runs twice is seen, also where nothing was held before', async () => {
  await play({ ...three, vms: [{ name: 'a', migration: 'split' }] }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { ...wait, pauseUpdates: false })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'two-launchers' } })
    expect(ended.error?.message).toMatch(/two launchers run for demo\/a, .*kubevirt issue 18670/)
    expect(stage.methods).toEqual([])
    expect(await stage.journal.overrides()).toHaveLength(1)
  })
})

test('W5 two VMs that fail are waited for', async () => {
  await play({ ...three, vms: failing.slice(1) }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { ...wait, timeout: '20m' })
    expect(ended).toMatchObject({ code: 4 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

/** As whoever may do all but these. */
function without(stage: Stage, refused: (access: Access) => boolean) {
  const { reviewer } = stage.cluster
  const can: typeof reviewer.can = async (access) =>
    refused(access) ? { allowed: false, reason: '' } : reviewer.can(access)
  return { ...stage.cluster, reviewer: { ...reviewer, can } }
}

test('W5 --wait-workloads: the right to hold is asked for before the first write, that to see launchers is a warning', async () => {
  await play({ ...three, vms: 1 }, async (stage) => {
    const options = { ...wait, pauseUpdates: false }
    const unheld = without(stage, ({ resource, verb }) => resource === 'kubevirts' && verb === 'patch')
    expect(await stage.upgrade('v1.8.4', options, { cluster: unheld })).toMatchObject({ code: 7 })
    expect(stage.writes()).toEqual([])
    const blind = without(
      stage,
      ({ resource, verb, namespace }) => resource === 'pods' && verb === 'list' && namespace === undefined,
    )
    const asked = { cluster: blind, answer: async () => false }
    const goingOn = 'not allowed to list pods: going on without'
    expect((await stage.upgrade('v1.8.4', options, asked)).text).toContain(goingOn)
    expect((await stage.upgrade('v1.8.4', {}, asked)).text).not.toContain(goingOn)
  })
})

test('W5 --dry-run and the plan say what may be written while it is waited for VMs', async () => {
  await play({ ...three, vms: 2 }, async (stage) => {
    const dry = await stage.upgrade('v1.8.4', { ...wait, dryRun: 'client' })
    expect(stage.writes()).toEqual([])
    for (const said of [dry, await stage.plan('v1.8.4', wait)]) {
      expect(said.text).toContain('if 3 of them fail for one reason, or one VM runs twice')
      const steps = (said.documents[0] as { steps?: object[] }).steps
      expect(steps?.at(-1)).toMatchObject({
        id: 'workloads',
        state: 'depends',
        risk: { undo: 'kvup workloads resume-updates, where kvup had to pause updates again' },
      })
    }
    expect((await stage.plan('v1.8.4')).text).not.toContain('runs twice')
  })
})

test('W5 --follow writes nothing: it stops and names the commit that holds', async () => {
  const flux = { labels: { 'kustomize.toolkit.fluxcd.io/name': 'platform' } }
  await play({ ...three, methods: [], vms: failing }, async (stage) => {
    stage.label(flux)
    stage.later(30 * second, () => stage.edit({ imageTag: 'v1.8.4' }, 'kustomize-controller'))
    const methods = ['LiveMigrate']
    const strategy = { workloadUpdateStrategy: { workloadUpdateMethods: methods } }
    stage.later(8 * minute, () => stage.edit(strategy, 'kustomize-controller'))
    const ended = await stage.upgrade('v1.8.4', { ...wait, follow: true, stableFor: '8m' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'too-many-failures' } })
    expect(ended.text).toContain('commit workloadUpdateMethods: []')
    expect(kubeVirtWrites(stage, 0)).toEqual([])
    expect(stage.methods).toEqual(methods)
  })
})

/** As it was sealed before there was a guard. */
function withoutGuard(file: string): string {
  const plan = parse(file) as { said: string[]; steps: object[]; seal: Seal }
  const said = plan.said.filter((line) => !line.includes('runs twice'))
  const risk = { undo: 'none', safeToLeave: 'always: KubeVirt continues by itself' }
  const steps = plan.steps.map((step, i) => (i === plan.steps.length - 1 ? { ...step, risk } : step))
  expect(said).toHaveLength(plan.said.length - 1)
  const { digest: _, ...seal } = plan.seal
  const old = { ...plan, said, steps }
  return stringify({ ...old, seal: sealPlan(seal, coveredBy(old)) })
}

test('W5 a plan that was sealed before there was a guard takes effect with it, and goes on once workload updates are given back', async () => {
  await play({ ...three, vms: failing }, async (stage) => {
    expect(await stage.plan('v1.8.4', wait)).toMatchObject({ code: 0 })
    stage.files.set('plan.yaml', withoutGuard(stage.files.get('plan.yaml') ?? ''))
    const planned = { plan: 'plan.yaml' }
    const first = await stage.upgrade(undefined, planned)
    expect(first).toMatchObject({ code: 3, error: { reason: 'too-many-failures' } })
    const again = await stage.upgrade(undefined, planned)
    expect(again).toMatchObject({ code: 3, error: { reason: 'paused-for-harm' } })
    expect(stage.methods).toEqual([])
    mend(stage)
    expect(await stage.restore()).toMatchObject({ code: 0 })
    expect(await stage.upgrade(undefined, planned)).toMatchObject({ code: 0 })
  })
})

const brief = { ...wait, stableFor: '5s' } as const
const lasting = (stage: Stage) => stage.writes().filter(({ resource }) => resource !== 'leases')

test('W5 killed around the hold of the guard, the next run leaves it held as well; right before it, the next run holds', async () => {
  let held = 0
  await play({ ...three, vms: failing }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', brief)).toMatchObject({ code: 3 })
    held = lasting(stage).findLastIndex(({ resource }) => resource === 'kubevirts') + 1
  })
  for (const writes of [held - 1, held, held + 1])
    await play({ ...three, vms: failing }, async (stage) => {
      const cluster = mortal(stage.cluster, { afterCallWhen: () => lasting(stage).length >= writes })
      const killed = stage
        .upgrade('v1.8.4', brief, { cluster, host: 'dead' })
        .catch((error: unknown) => error)
      await cluster.death
      expect(await killed).toBeInstanceOf(Killed)
      expect(await stage.journal.overrides()).toHaveLength(writes < held ? 0 : 1)
      const next = await stage.upgrade('v1.8.4', brief, { host: 'other' })
      const reason = writes < held ? 'too-many-failures' : 'paused-for-harm'
      expect(next).toMatchObject({ code: 3, error: { reason } })
      expect(stage.methods).toEqual([])
      expect(await stage.restore()).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
    })
})

test('W5 where pods may not be listed everywhere, nobody is taken for one that runs twice, and it ends', async () => {
  await play({ ...three, vms: [{ name: 'a', migration: 'split' }] }, async (stage) => {
    const { reader } = stage.cluster
    const pages: typeof reader.pages = (kind, where = {}) => {
      if (kind.plural === 'pods' && where.labels?.includes('created-by'))
        throw new ApiError(403, 'Forbidden', 'pods is forbidden')
      return reader.pages(kind, where)
    }
    const blind = new Proxy(reader, {
      get: (target, name) => (name === 'pages' ? pages : bound(target, name)),
    })
    const cluster = { ...stage.cluster, reader: blind }
    expect(await stage.upgrade('v1.8.4', wait, { cluster })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

function bound(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name)
  return typeof member === 'function' ? (member.bind(target) as unknown) : member
}
