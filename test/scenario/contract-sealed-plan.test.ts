// Sealed plans that are carried out, killed and carried on: more than 3 s of processor time.
import { parse, stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import { CustomResourceDefinitions } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { type Lease, Leases, Namespaces, type Node, Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { planAgain } from '../../src/lib/upgrade/plan/upgrade-options.ts'
import { deathsOf, drawnWrites, kill } from './killed.ts'
import type { Death } from './mortal-cluster.ts'
import { byManifest, byTag, minute, play, second, type Stage, type Terminal } from './stage.ts'

const cases = [
  { name: 'image tag', shape: byTag, to: 'v1.8.4' },
  { name: 'operator manifest', shape: byManifest, to: 'v1.9.0' },
] as const

const planned = { plan: 'plan.yaml' }
const home = { namespace: 'kubevirt' }

function edit<T extends KubeObject>(stage: Stage, kind: Kind<T>, name: string, body: object): void {
  const ref = kind.namespaced ? { ...home, name } : { name }
  stage.simulated.store.patch(kind, ref, { type: 'merge', body }, { manager: 'somebody' })
}

/** What somebody changes, and how the refusal names it. */
interface Move {
  what: string
  move: (stage: Stage) => void
  says: string
}

function editImage(stage: Stage): void {
  const path = '/spec/template/spec/containers/0/image'
  const body = [{ op: 'replace' as const, path, value: 'mirror.example/virt-operator:v1.8.3' }]
  stage.simulated.store.patch(Deployments, { ...home, name: 'virt-operator' }, { type: 'json', body })
}

const moves: readonly Move[] = [
  {
    what: 'imageTag',
    move: (stage) => stage.edit({ imageTag: 'v1.7.3' }),
    says: 'spec.imageTag of kubevirts/kubevirt in namespace kubevirt was',
  },
  {
    what: 'imageRegistry',
    move: (stage) => stage.edit({ imageRegistry: 'mirror.example/kubevirt' }),
    says: 'spec.imageRegistry of kubevirts/kubevirt in namespace kubevirt was',
  },
  {
    what: 'the update methods',
    move: (stage) =>
      stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate', 'Evict'] } }),
    says: 'was ["LiveMigrate"], is ["LiveMigrate","Evict"]',
  },
  {
    what: 'a feature gate',
    move: (stage) =>
      stage.edit({ configuration: { developerConfiguration: { featureGates: ['Snapshot'] } } }),
    says: 'spec.configuration.developerConfiguration.featureGates of kubevirts/kubevirt in namespace kubevirt was absent, is ["Snapshot"]',
  },
  {
    what: 'the operator',
    move: editImage,
    says: 'spec.template.spec.containers[virt-operator].image of deployments/virt-operator in namespace kubevirt was',
  },
  {
    what: 'the replicas of the operator',
    move: (stage) => edit(stage, Deployments, 'virt-operator', { spec: { replicas: 3 } }),
    says: 'spec.replicas of deployments/virt-operator in namespace kubevirt was 2, is 3',
  },
  {
    what: 'the stored versions of a CRD',
    move: (stage) =>
      void stage.simulated.store.patch(
        CustomResourceDefinitions,
        { name: 'virtualmachines.kubevirt.io' },
        { type: 'merge', body: { status: { storedVersions: ['v1', 'v1alpha3'] } } },
        { on: 'status' },
      ),
    says: 'storedVersions of virtualmachines.kubevirt.io was ["v1"], is ["v1","v1alpha3"]',
  },
  {
    what: 'a node that is new',
    move: (stage) =>
      stage.simulated.store.put(Nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'worker-9', labels: {} },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      } as Node),
    says: 'node worker-9 is new',
  },
  {
    what: 'a node that is gone',
    move: (stage) => void stage.simulated.store.remove(Nodes, { name: 'worker-1' }),
    says: 'node worker-1 is gone',
  },
  {
    what: 'the version of Kubernetes',
    move: (stage) => void Object.assign(stage.simulated.store.version, { gitVersion: 'v1.35.9' }),
    says: 'version of Kubernetes was v1.35.4, is v1.35.9',
  },
  {
    what: 'the KubeVirt itself, made anew under the same name',
    move: (stage) => {
      const { metadata, ...rest } = stage.kubevirt
      stage.simulated.store.put(KubeVirts, { ...rest, metadata: { ...metadata, uid: 'another' } })
    },
    says: 'metadata.uid of kubevirts/kubevirt in namespace kubevirt was',
  },
]

describe.for(cases)('contract: sealed plan, $name', ({ shape, to }) => {
  test('one thing changed after the other: exit 5 with each drift, and nothing is written', async () => {
    await play(shape, async (stage) => {
      expect(await stage.plan(to)).toMatchObject({ code: 0 })
      for (const { what, move, says } of moves) {
        move(stage)
        const mark = stage.mark
        const ended = await stage.upgrade(undefined, planned)
        expect({ what, code: ended.code, reason: ended.error?.reason }).toEqual({
          what,
          code: 5,
          reason: 'drifted',
        })
        expect(ended.error?.notes.join('\n')).toContain(says)
        expect(ended.text).toContain(`kvup plan --to ${to}`)
        expect(stage.writes(mark)).toEqual([])
      }
    })
  })

  test('status, heartbeats, labels, VMs and resourceVersions may move; it takes effect as it was made, and a second time there is nothing to do', async () => {
    await play({ ...shape, vms: [{ name: 'web-1' }] }, async (stage) => {
      expect(await stage.plan(to)).toMatchObject({ code: 0 })
      stage.label({ annotations: { note: 'seen' }, labels: { team: 'a' } })
      edit(stage, Nodes, 'worker-1', { metadata: { labels: { zone: 'b' } } })
      edit(stage, Deployments, 'virt-operator', { metadata: { annotations: { note: 'seen' } } })
      await stage.until(10 * minute)
      expect(await stage.upgrade(undefined, planned)).toMatchObject({
        code: 0,
        documents: [{ outcome: 'done' }],
      })
      expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe(to)
      const mark = stage.mark
      expect(await stage.upgrade(undefined, planned)).toMatchObject({
        code: 0,
        documents: [{ outcome: 'nothing-to-do' }],
      })
      expect(stage.writes(mark)).toEqual([])
    })
  })
})

test('contract: sealed plan: what moves while a plan is made, behind what its checks saw, is drift', async () => {
  await play(byTag, async (stage) => {
    const { reader, writer, reviewer } = stage.cluster
    // Asked between the checks and the seal.
    const credentialsEnd = async () => {
      stage.edit({ configuration: { developerConfiguration: { featureGates: ['Snapshot'] } } })
      return undefined
    }
    const cluster = { reader, writer, reviewer: Object.assign(reviewer, { credentialsEnd }) }
    expect(await stage.plan('v1.8.4', {}, { cluster })).toMatchObject({ code: 0 })
    const ended = await stage.upgrade(undefined, planned)
    expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    expect(ended.text).toContain('featureGates')
    expect(stage.writes()).toEqual([])
  })
})

test('contract: sealed plan: another manifest than the one that was planned is drift', async () => {
  await play(byManifest, async (stage) => {
    expect(await stage.plan('v1.9.0')).toMatchObject({ code: 0 })
    stage.files.set('v1.9.0.yaml', `${asYaml(stage.simulated.operatorManifest('v1.9.0'))}\n# one line more\n`)
    const ended = await stage.upgrade(undefined, planned)
    expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    expect(ended.text).toContain('sha256')
    expect(stage.writes()).toEqual([])
  })
})

test('contract: sealed plan: a plan for another cluster is exit 2 that names both', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4')
    edit(stage, Namespaces, 'kube-system', {})
    const { metadata, ...rest } = stage.simulated.store.read(Namespaces, {
      name: 'kube-system',
    }) as KubeObject
    stage.simulated.store.put(Namespaces, { ...rest, metadata: { ...metadata, uid: 'another-cluster' } })
    const ended = await stage.upgrade(undefined, planned)
    expect(ended).toMatchObject({ code: 2, error: { reason: 'another-cluster' } })
    expect(ended.text).toContain('another-cluster')
  })
})

test.for(['asked', 'queueing'] as const)(
  'contract: sealed plan: what somebody changes while it is %s is drift, and nothing is written',
  async (when) => {
    await play(byTag, async (stage) => {
      await stage.plan('v1.8.4')
      const change = () => stage.edit({ imagePullPolicy: 'Always' })
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }
      if (when === 'queueing') {
        const spec = { holderIdentity: 'other', renewTime: stage.clock.now().toISOString() }
        stage.simulated.store.put(Leases, { ...lease, metadata: { ...home, name: 'kvup' }, spec } as Lease)
        stage.later(8 * second, change)
      }
      const answer = async () => {
        if (when === 'asked') change()
        return true
      }
      const ended = await stage.upgrade(undefined, planned, { answer, yes: false })
      expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
      expect(ended.error?.notes.join()).toContain('spec.imagePullPolicy')
      expect(stage.writes().filter(({ resource }) => resource === 'kubevirts')).toEqual([])
      expect(await stage.journal.entries()).toEqual([])
    })
  },
)

/** As far as the tests change it. */
interface SavedPlan {
  pausedMethods: string[]
  request: { to: string }
  accepted: { id: string }[]
  steps: object[]
  seal: { cluster: string; facts: { leaves: Record<string, unknown> }[] }
}

const edits: readonly [string, (plan: SavedPlan) => void][] = [
  ['the target', (plan) => (plan.request.to = 'v1.8.3')],
  ['the methods that are paused', (plan) => (plan.pausedMethods = [])],
  ['an accepted risk', (plan) => plan.accepted.push({ id: 'evictions' })],
  ['a fact', (plan) => (plan.seal.facts[0]!.leaves['spec.imageTag'] = 'v1.6.0')],
  ['a step', (plan) => plan.steps.pop()],
  ['the cluster', (plan) => (plan.seal.cluster = 'mine')],
]

test('contract: sealed plan: what is edited by hand is exit 2', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4')
    const whole = stage.files.get('plan.yaml') ?? ''
    for (const [what, change] of edits) {
      const plan = parse(whole) as SavedPlan
      change(plan)
      stage.files.set('plan.yaml', stringify(plan))
      const { code, error } = await stage.upgrade(undefined, planned)
      expect({ what, code, reason: error?.reason }).toEqual({ what, code: 2, reason: 'plan-edited' })
    }
    expect(stage.writes()).toEqual([])
  })
})

test('contract: sealed plan: written as JSON, or in another order, it is the same plan', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4')
    const plan = parse(stage.files.get('plan.yaml') ?? '') as Record<string, unknown>
    stage.files.set('plan.yaml', JSON.stringify(Object.fromEntries(Object.entries(plan).toReversed())))
    expect(await stage.upgrade(undefined, planned)).toMatchObject({ code: 0 })
  })
})

test('contract: sealed plan: --to, --accept and flags that would make another plan are refused before anything is read', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4')
    const mark = stage.mark
    expect(await stage.upgrade('v1.8.4', { ...planned, method: 'auto' })).toMatchObject({ code: 2 })
    for (const more of [
      { accept: ['evictions'] },
      { leavePaused: true },
      { stableFor: '1s' },
      { method: 'operator-manifest' },
    ] as const)
      expect(
        await stage.upgrade(undefined, {
          ...planned,
          ...more,
          accept: [...('accept' in more ? more.accept : [])],
        }),
      ).toMatchObject({
        code: 2,
        error: { reason: 'contradiction' },
      })
    expect(stage.requests(mark)).toEqual([])
  })
})

test('contract: sealed plan: accepted risks come from the plan, with reason and who', async () => {
  const vms = [{ name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' }] as const
  const many = { ...byTag, methods: ['LiveMigrate', 'Evict'], vms } as const
  await play(many, async (stage) => {
    expect(await stage.plan('v1.8.4')).toMatchObject({ code: 3 })
    expect(await stage.upgrade(undefined, planned)).toMatchObject({ code: 3 })
    expect(await stage.plan('v1.8.4', { accept: ['evictions=agreed with shop'] })).toMatchObject({ code: 0 })
    const plan = parse(stage.files.get('plan.yaml') ?? '') as { accepted: unknown }
    expect(plan.accepted).toEqual([{ id: 'evictions', reason: 'agreed with shop', by: 'jane@here' }])
    expect(await stage.upgrade(undefined, planned)).toMatchObject({ code: 0 })
  })
})

const preparing = (shape: Parameters<typeof play>[0], to: string) => (act: (stage: Stage) => Promise<void>) =>
  play(shape, async (stage) => {
    expect(await stage.plan(to, { stableFor: '5s' })).toMatchObject({ code: 0 })
    await act(stage)
  })
const run = (stage: Stage, terminal: Terminal) => stage.upgrade(undefined, planned, terminal)

describe.for(cases)('contract: sealed plan, half executed, $name', ({ shape, to }) => {
  const lifted = { ...byTag, version: 'v1.8.4', operator: 'v1.8.4' } as const
  const played = to === 'v1.9.0' ? lifted : shape

  test('killed behind a write it goes on by itself, elsewhere', async () => {
    const prepare = preparing(played, to)
    const deaths = await deathsOf(prepare, run)
    expect(deaths.written.length).toBeGreaterThan(4)
    for (const [world, [death]] of drawnWrites(deaths, 2))
      await prepare(async (stage) => {
        await kill(stage, run, death as Death)
        const resumed = await run(stage, { host: 'other' })
        expect({ world, code: resumed.code, notes: resumed.error?.notes }).toEqual({ world, code: 0 })
        expect(await stage.journal.overrides()).toEqual([])
      })
  })

  test('what somebody else did meanwhile is drift', async () => {
    await play(shape, async (stage) => {
      await stage.plan(to)
      const stopped = await stage.upgrade(undefined, { ...planned, until: 'pause-workload-updates' })
      expect(stopped).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      stage.edit({ imagePullPolicy: 'Always' })
      const ended = await stage.upgrade(undefined, planned)
      expect(ended).toMatchObject({ code: 5 })
      expect(ended.error?.notes).toEqual([
        'spec.imagePullPolicy of kubevirts/kubevirt in namespace kubevirt was IfNotPresent, is Always',
      ])
    })
  })

  test('the same change by somebody else, before its step began, is drift', async () => {
    await play(shape, async (stage) => {
      await stage.plan(to)
      stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
      expect(await stage.upgrade(undefined, planned)).toMatchObject({ code: 5 })
    })
  })
})

/** Whoever asks it for nodes is refused. */
function withoutNodes(cluster: Cluster): Cluster {
  const reader = new Proxy(cluster.reader, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...call: { plural?: string }[]) => {
        if (call[0]?.plural === 'nodes')
          return Promise.reject(new ApiError(403, 'Forbidden', 'nodes is forbidden'))
        return Reflect.apply(member, target, call) as unknown
      }
    },
  })
  return { ...cluster, reader }
}

test('contract: sealed plan: what could not be sealed is said, when the plan is made and when it takes effect', async () => {
  await play(byTag, async (stage) => {
    const made = await stage.plan('v1.8.4', {}, { cluster: withoutNodes(stage.cluster) })
    expect({ code: made.code, error: made.error?.message }).toEqual({ code: 0 })
    expect(made.text).toContain('the seal is without nodes: kvup does not notice a change of it: ')
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('plan.yaml is sealed without nodes: kvup does not notice a change of it: ')
  })
})

test('a sealed plan that is blocked: the line that helps makes it anew with the risk taken', async () => {
  await play({ ...byTag, version: 'v1.7.4' }, async (stage) => {
    expect(await stage.plan('v1.7.0', { stableFor: '45s', toFile: 'my plan.yaml' })).toMatchObject({
      code: 3,
    })
    const sealed = { plan: 'my plan.yaml' }
    for (const more of [{}, { dryRun: 'client' as const }]) {
      const ended = await stage.upgrade(undefined, { ...sealed, ...more })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'downgrade' } })
      expect(ended.error?.remedy.at(-1)).toBe(
        "kvup plan --to v1.7.0 --method image-tag --stable-for 45s --accept downgrade --to-file 'my plan.yaml'     makes a plan that takes the risk",
      )
    }
    expect(stage.writes()).toEqual([])
  })
})

test('drift: every difference is said once, and the plan is made anew by the flags that it was made with', async () => {
  await play(byTag, async (stage) => {
    await stage.plan('v1.8.4', { leavePaused: true, accept: ['patch-skipped=it is tested'] })
    stage.edit({ imagePullPolicy: 'Always' })
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended.code).toBe(5)
    expect(ended.text.match(/was IfNotPresent, is Always/gu)).toHaveLength(1)
    expect(ended.error?.remedy[0]).toMatch(
      /^kvup plan --to v1\.8\.4 --method image-tag --leave-paused --accept 'patch-skipped=it is tested' --to-file plan\.yaml {3,}makes a new plan/u,
    )
  })
})

test('of standard input there is no file to write over; what no flag says is left out', () => {
  const request = {
    to: 'v1.8.4',
    method: 'operator-manifest',
    manifest: 'o.yaml',
    manifestSha256: 'f'.repeat(64),
  }
  const silent = {
    stableFor: '30s',
    migrations: 'wait',
    migrationsTimeout: '30m',
    pauseUpdates: true,
    follow: false,
  }
  const sealed = { request: { ...request, ...silent }, accepted: [], file: 'standard input' }
  expect(planAgain(sealed)).toBe('kvup plan --to v1.8.4 --method operator-manifest --manifest o.yaml -o yaml')
  expect(planAgain({ ...sealed, request: { to: 'v1.8.4', pauseUpdates: false } })).toBe(
    'kvup plan --to v1.8.4 --no-pause-updates -o yaml',
  )
})
