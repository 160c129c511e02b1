// 7 s: each kind of cluster has another way, and it is played to its end.
import { describe, expect, test } from 'vitest'
import { type EusPlanOptions, planEus } from '../../../src/commands/eus/eus-status.ts'
import { ClusterOperators, Infrastructures } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { type Ended, minute, play, type Stage, type Terminal } from '../stage.ts'
import {
  borrowedFields,
  doneSteps,
  eus418,
  eusAbortOn,
  eusRunOn,
  platformOf,
  serveFiles,
} from './window-stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

const pools = (master: number, worker: number) => [
  { name: 'master', nodes: master },
  { name: 'worker', nodes: worker },
]
/** Its graph leads to 4.20 by a patch of 4.19 only. */
const okd = {
  methods: ['LiveMigrate'],
  vms: 2,
  openshift: {
    ...okd419,
    pools: pools(1, 2),
    healthChecks: [{ kind: 'MachineHealthCheck', name: 'workers', pool: 'worker' }] as const,
  },
  olm: okdOlm({ installed: '1.15.2', channel: 'stable-v1.15' }),
}
/** At its last patch already. */
const last419 = {
  ...okd,
  vms: 0,
  openshift: { ...okd.openshift, version: '4.19.0-okd-scos.16', pools: pools(1, 1) },
}
const compact = { ...eus418, vms: 2, openshift: { ...ocp418to420, pools: pools(3, 0), healthChecks: [] } }
const single = {
  ...eus418,
  vms: [
    { name: 'web' },
    { name: 'job', runStrategy: 'Once' },
    { name: 'pet', notMigratable: 'DisksNotLiveMigratable' },
  ],
  openshift: {
    ...ocp418to420,
    pools: pools(1, 0),
    topology: 'SingleReplica' as const,
    healthChecks: [],
  },
}
const managed = { ...compact, openshift: { ...ocp418to420, pools: pools(1, 1), healthChecks: [] } }

async function planOn(stage: Stage, options: Partial<EusPlanOptions> = {}): Promise<Ended> {
  return stage.perform((cx) => planEus(cx, { accept: [], ...options }), { commandLine: 'kvup eus plan' })
}

const planOf = ({ documents }: Ended) => documents.at(-1) as unknown as EusPlanDocument
const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const ownGraph = { graphFile: 'own.json' }

function runOkd(stage: Stage, options: Partial<EusRunOptions> = {}, terminal: Terminal = {}) {
  stage.files.set('own.json', servedGraph(okd419))
  return eusRunOn(stage, { ...ownGraph, ...options }, terminal)
}

const before = (ended: Ended, one: string, other: string) => {
  const steps = doneSteps(ended)
  expect(steps).toEqual(expect.arrayContaining([one, other]))
  expect(steps.indexOf(one)).toBeLessThan(steps.indexOf(other))
}

describe('night E10: OKD, where pools follow each hop', () => {
  test('what the plan promises is what the run does: the patch that comes first, the minor, its operator; and nothing is paused', () =>
    play(okd, async (stage) => {
      stage.files.set('own.json', servedGraph(okd419))
      const plan = planOf(await planOn(stage, ownGraph))
      expect(plan).toMatchObject({ mode: 'rolling', to: '4.20', pools: [] })
      const fields = borrowedFields(stage)
      const ended = await runOkd(stage)
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.0-okd-scos.4')
      const [patch, minor] = plan.hops.map(({ platform: { version = '' } }) => version)
      expect([patch, minor]).toEqual(['4.19.0-okd-scos.16', '4.20.0-okd-scos.4'])
      before(ended, `platform-${patch}`, 'request-4.20')
      before(ended, 'request-4.20', 'operator-4.20')
      // The workers are through before the next release is asked for, and before the operator follows.
      before(ended, 'rolled-worker-4.19.0-okd-scos.16', 'request-4.20')
      before(ended, 'rolled-worker', 'approve-1.16.0')
      const ids = doneSteps(ended)
      expect(ids).toHaveLength(new Set(ids).size)
      expect(borrowedFields(stage)).toEqual(fields)
      expect(await stage.journal.overrides()).toEqual([])
      const mark = stage.mark
      expect(await runOkd(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    }))

  test('night E7: health checks are paused while nodes reboot, here too, and abort gives them back', () =>
    play(last419, async (stage) => {
      await runOkd(stage, { until: 'accepted-4.20' })
      expect(borrowedFields(stage).machineHealth).toEqual(['kvup'])
      expect((await eusAbortOn(stage, ownGraph)).error).toBeUndefined()
      expect(borrowedFields(stage).machineHealth).toEqual([undefined])
    }))

  test('night E5: a VM that blocks the drains is named before anything is borrowed', () =>
    play({ ...okd, vms: [{ name: 'stuck', notMigratable: 'DisksNotLiveMigratable' }] }, async (stage) => {
      const ended = await runOkd(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-block-drains' } })
      expect(ended.text).toContain('demo/stuck')
      expect(ended.text).toContain('kvup workloads unblock --all')
      expect(ended.text).not.toContain('--accept')
      expect(await stage.journal.overrides()).toEqual([])
    }))
})

describe('night E10: a compact cluster, minor by minor', () => {
  test('cut off in the first minor, or between two, the same line goes on to the end', () =>
    play({ ...compact, vms: 0 }, async (stage) => {
      const refused = await eusRunOn(stage, { pauseBefore: ['platform-4.20'] })
      expect(refused).toMatchObject({ code: 2, error: { reason: 'step-not-held' } })
      expect(refused.error?.message).toBe('platform-4.20 cannot be held: --pause-before request-4.20')
      expect(stage.writes()).toEqual([])
      expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      expect(await eusRunOn(stage, { pauseBefore: ['request-4.20'] })).toMatchObject({ code: 0 })
      expect(versionOf(stage)).toBe('4.19.14')
      expect((await eusRunOn(stage, { until: 'accepted-4.20' })).error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.5')
    }))

  test('a sealed plan goes through all of them, each a window of its own, to where it says; again there is nothing to do', () =>
    play(compact, async (stage) => {
      serveFiles(stage)
      const files = { graphFile: 'graph.json', catalogFile: 'catalog.yaml' }
      const planned = await planOn(stage, { ...files, toFile: 'plan.yaml' })
      expect(planOf(planned)).toMatchObject({ mode: 'rolling', topology: 'compact', to: '4.20' })
      const fields = borrowedFields(stage)
      const ended = await eusRunOn(stage, { plan: 'plan.yaml' })
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.20.5')
      expect(ended.documents).toHaveLength(1)
      expect(ended.documents[0]).toMatchObject({ from: '4.18', to: '4.20', outcome: 'done' })
      expect(doneSteps(ended).filter((id) => id === 'resume-workload-updates')).toHaveLength(2)
      expect(borrowedFields(stage)).toEqual(fields)
      const mark = stage.mark
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    }))
})

describe('night E10: a single node', () => {
  test('each VM is listed with what becomes of it; what does not come back is never taken by --yes alone', () =>
    play(single, async (stage) => {
      const planned = await planOn(stage)
      const loses = ['containerDisk root']
      expect(planOf(planned).outages).toEqual([
        { vm: 'demo/job', afterwards: 'stays-down', loses },
        { vm: 'demo/pet', afterwards: 'comes-back', loses },
        { vm: 'demo/web', afterwards: 'comes-back', loses },
      ])
      expect(planned.text).toMatch(
        /3 VMs are down while the node reboots[^\n]*Not running as before afterwards: demo\/job/u,
      )
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vm-outages' } })
      expect(stage.writes(mark)).toEqual([])
    }))

  test('VMs that nothing can move are not waited for: they are named, with what helps', () =>
    play(single, async (stage) => {
      const ended = await eusRunOn(stage, { to: '4.19', accept: ['vm-outages'] })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-that-stay' } })
      expect(ended.took).toBeLessThan(6 * 60 * minute)
      expect(ended.text).toContain('kvup workloads restart')
    }))

  test('accepted, it goes hop by hop; the report names those that were restarted and the one that is gone', () =>
    play(single, async (stage) => {
      const accept = ['vm-outages', 'vms-that-stay']
      const ended = await eusRunOn(stage, { accept, to: '4.19' })
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.19.17')
      const instances = stage.simulated.store.list(VirtualMachineInstances).items as VirtualMachineInstance[]
      const running = instances.filter(({ status }) => status?.phase === 'Running')
      expect(running.map(({ metadata }) => metadata.name).toSorted()).toEqual(['pet', 'web'])
      expect(ended.documents.at(-1)).toMatchObject({
        differences: { restarted: ['demo/pet', 'demo/web'], vanished: ['demo/job'] },
        changes: expect.arrayContaining([
          expect.objectContaining({
            name: 'pet',
            what: 'restarted',
            lost: false,
            why: 'evicted, which was accepted',
          }),
        ]) as object[],
      })
    }))
})

/** Azure Red Hat OpenShift brings its operator along. */
const manage = (stage: Stage) =>
  stage.cluster.writer.create(ClusterOperators, {
    apiVersion: ClusterOperators.apiVersion,
    kind: 'ClusterOperator',
    metadata: { name: 'aro' },
    spec: {},
  } as never)

describe('night E10: whose platform it is', () => {
  test('a managed one: refused, its owner named, nothing written, and no --accept offered or taken', () =>
    play(managed, async (stage) => {
      await manage(stage)
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'not-ours-to-update' } })
      expect(ended.text).toContain('Azure Red Hat OpenShift')
      expect(ended.text).not.toContain('--accept')
      expect(await eusRunOn(stage, { accept: ['not-ours-to-update'] })).toMatchObject({ code: 2 })
      expect(stage.writes(mark)).toEqual([])
    }))

  test('a hosted control plane: the HostedCluster is named, and nothing is written, whatever is accepted', () =>
    play(managed, async (stage) => {
      const hosted = { status: { controlPlaneTopology: 'External' } }
      await stage.cluster.writer.mergePatch(Infrastructures, { name: 'cluster' }, hosted, 'status')
      const mark = stage.mark
      const planned = await planOn(stage)
      expect(planned.text).toContain('updated by the HostedCluster in the management cluster')
      const ended = await eusRunOn(stage, { accept: ['pools-not-updated'] })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'not-ours-to-update' } })
      expect(ended.text).not.toContain('--accept')
      expect(stage.writes(mark)).toEqual([])
    }))
})
