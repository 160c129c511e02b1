// An upgrade for each odd release: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Pod,
  Pods,
} from '../../src/lib/kube/kinds/workload-kinds.ts'
import { Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { SimulationFaults } from '../../src/simulator/simulated-cluster.ts'
import { methodsOf } from '../../src/lib/vms/update-methods.ts'
import type { UpgradeReport } from '../../src/lib/upgrade/upgrade-report.ts'
import { byManifest, byTag, type Ended, minute, play, second, type Stage } from './stage.ts'

/** Releases that nobody has seen: what they do otherwise is a warning at most, and the run ends. */
const reportOf = ({ documents }: Ended): UpgradeReport => documents[0] as unknown as UpgradeReport
const warningsOf = (ended: Ended) => reportOf(ended).findings.map(({ id, level }) => `${level} ${id}`)

/** When KubeVirt said for the last time that it is done, and when the run ended. */
const doneAt = ({ film }: Stage) => {
  const bad = film.findLastIndex(
    ({ metadata, status }) =>
      metadata.generation !== status?.observedGeneration ||
      status?.conditions?.find(({ type }) => type === 'Available')?.status !== 'True' ||
      status.targetDeploymentID !== status.observedDeploymentID,
  )
  return film[bad + 1]?.at ?? Number.NaN
}

const namesOf = (stage: Stage) =>
  stage.simulated.store.list(Deployments).items.map(({ metadata }) => metadata.name)

/** The second roll comes after all; the operator looks when something of KubeVirt's changes. */
const rollOnceMore = (stage: Stage) => {
  stage.simulated.faults.set({ noMigrationNames: undefined })
  stage.label({ labels: { touched: 'true' } })
}

describe('by either, as the components are the same', () => {
  const [shape, to] = [byTag, 'v1.8.4'] as const

  test('a Deployment that nobody has heard of, whose pods bear no label kubevirt.io: it is rolled as any other, waited for where its image cannot be pulled, without a doubt', async () => {
    const unknown = { name: 'virt-novelty', since: 8 }
    const faults: SimulationFaults = { unknownComponent: unknown, unpullable: '/virt-novelty:' }
    await play({ ...shape, faults }, async (stage) => {
      stage.later(6 * minute, () => stage.simulated.faults.set({ unpullable: undefined }))
      const ended = await stage.upgrade(to)
      expect(ended.code).toBe(0)
      expect(namesOf(stage)).toContain('virt-novelty')
      const pods = stage.simulated.store.list(Pods).items as Pod[]
      const own = pods.filter(({ metadata }) => metadata.name.startsWith('virt-novelty-'))
      expect(own.map(({ metadata }) => metadata.labels?.['kubevirt.io'])).toEqual(own.map(() => undefined))
      expect(own).not.toHaveLength(0)
      expect(warningsOf(ended)).toEqual([])
      expect(stage.now - doneAt(stage)).toBeLessThanOrEqual(5 * second)
      const stalled = ended.events.filter((e) => e.kind === 'step-waiting' && e.state.is === 'stalled')
      expect(JSON.stringify(stalled)).toMatch(/virt-novelty.*cannot pull/)
    })
  })

  test('a second roll that never comes: two minutes behind KubeVirt being done it is a warning, and the run ends with 0', async () => {
    await play({ ...shape, vms: 2, faults: { noMigrationNames: true } }, async (stage) => {
      let settledAt = 0
      let doneFirst = 0
      const ended = await stage.upgrade(
        to,
        {},
        {
          onEvent(event) {
            if (event.kind === 'step-started' && event.step.id === 'healthy') doneFirst = stage.now
            if (event.kind === 'step-done' && event.step.id === 'healthy') settledAt = stage.now
          },
        },
      )
      expect(ended.code).toBe(0)
      expect(warningsOf(ended)).toEqual(['warning handler-roll-to-come'])
      expect(settledAt - doneFirst).toBeGreaterThanOrEqual(115 * second)
      expect(settledAt - doneFirst).toBeLessThanOrEqual(130 * second)
      // Not once more behind the resumption.
      expect(stage.now - settledAt).toBeLessThan(60 * second)
      expect(stage.methods).toEqual(['LiveMigrate'])
      const waited = ended.events.filter(
        (e) => e.kind === 'step-waiting' && /for 2 m at most/.test(e.state.on),
      )
      expect(waited).not.toHaveLength(0)

      const mark = stage.mark
      const again = await stage.upgrade(to)
      expect(again.code).toBe(0)
      expect(stage.writes(mark)).toEqual([])
    })
  })

  test('the further rolls before KubeVirt is done, as with one worker from v1.6.0: no doubt, and no wait behind it', async () => {
    await play({ ...shape, faults: { moreHandlerRolls: 'before done' } }, async (stage) => {
      const templates = new Set<string>()
      const stop = stage.simulated.store.watch(DaemonSets, ({ object }) => {
        templates.add(JSON.stringify((object as DaemonSet).spec?.template))
      })
      const ended = await stage.upgrade(to)
      stop()
      expect(ended.code).toBe(0)
      expect(templates.size).toBeGreaterThanOrEqual(3)
      expect(warningsOf(ended)).toEqual([])
      expect(stage.now - doneAt(stage)).toBeLessThanOrEqual(5 * second)
    })
  })

  test('a roll that begins once automatic VM updates are resumed pauses them again until it is through', async () => {
    await play({ ...shape, vms: 2, faults: { noMigrationNames: true } }, async (stage) => {
      let resumed = 0
      let rolled = 0
      const ended = await stage.upgrade(
        to,
        { waitWorkloads: true },
        {
          onEvent(event) {
            if (event.kind !== 'step-done' || event.step.id !== 'resume-workload-updates' || resumed > 0)
              return
            resumed = stage.now
            rollOnceMore(stage)
            const stop = stage.simulated.store.watch(DaemonSets, ({ object }) => {
              const { metadata, status = {} } = object as DaemonSet
              const observed = status.observedGeneration === metadata.generation
              const isWhole = status.updatedNumberScheduled === status.desiredNumberScheduled
              if (!observed || !isWhole) rolled = 0
              else if (status.numberReady === status.desiredNumberScheduled) rolled ||= stage.now
              if (stage.now - resumed > 10 * minute) stop()
            })
          },
        },
      )
      expect(ended.code).toBe(0)
      expect(resumed).toBeGreaterThan(0)
      const after = stage.film.filter(({ at }) => at > resumed)
      const pausedAt = after.find((frame) => methodsOf(frame).length === 0)?.at ?? Number.NaN
      const againAt = after.find((frame) => frame.at > pausedAt && methodsOf(frame).length > 0)?.at ?? 0
      expect(pausedAt - resumed).toBeLessThan(20 * second)
      expect(againAt - rolled).toBeGreaterThanOrEqual(30 * second)
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(warningsOf(ended)).toEqual([])
      const entries = await stage.journal.entries()
      expect(
        entries.some(({ step, text }) => step.endsWith('#1') && /pause automatic VM updates/.test(text)),
      ).toBe(true)
    })
  })

  test('a roll that begins while the run verifies keeps them paused, whatever KubeVirt says', async () => {
    await play({ ...shape, vms: 2, faults: { noMigrationNames: true } }, async (stage) => {
      let began = 0
      const ended = await stage.upgrade(
        to,
        {},
        {
          onEvent(event) {
            if (event.kind !== 'step-started' || event.step.id !== 'healthy') return
            stage.later(20 * second, () => {
              began = stage.now
              rollOnceMore(stage)
            })
          },
        },
      )
      expect(ended.code).toBe(0)
      const resumed = stage.film.find(
        ({ at, ...frame }) => at > began && methodsOf(frame as never).length > 0,
      )
      expect((resumed?.at ?? 0) - began).toBeGreaterThan(30 * second)
      expect(
        stage.film.filter(({ at }) => at > (resumed?.at ?? 0)).every((f) => methodsOf(f).length > 0),
      ).toBe(true)
    })
  })
})

test.each([
  [3, ['warning handler-roll-to-come']],
  [1, []],
] as const)(
  'from v1.6 to v1.7 on %s workers: no roll is waited for that does not come (recordings operator-v1.6.0-v1.7.0 and -1w)',
  async (workers, warnings) => {
    await play({ version: 'v1.6.0', workers, vms: 2, methods: ['LiveMigrate'] }, async (stage) => {
      const ended = await stage.upgrade('v1.7.0', { stableFor: '30s' })
      expect(ended.code).toBe(0)
      expect(warningsOf(ended).filter((one) => one.includes('handler-roll'))).toEqual(warnings)
      expect(stage.now - doneAt(stage)).toBeLessThanOrEqual(60 * second)
    })
  },
)

test('nodes that take no VM for two minutes in each roll of virt-handler (seen in real rolls) are no fault: the run ends with 0, and the VMs follow', async () => {
  await play({ ...byTag, workers: 3, vms: 2, faults: { nodesClosedFor: 2 * minute } }, async (stage) => {
    const closed = new Set<string>()
    const stop = stage.simulated.store.watch(Nodes, ({ object: { metadata } }) => {
      if (metadata.labels?.['kubevirt.io/schedulable'] === 'false') closed.add(metadata.name)
    })
    const ended = await stage.upgrade('v1.8.4', { waitWorkloads: true })
    stop()
    expect(ended.code).toBe(0)
    expect(closed.size).toBe(3)
    expect(warningsOf(ended)).toEqual([])
    const bad = ended.events.filter((e) => e.kind === 'step-waiting' && e.state.is === 'stalled')
    expect(bad).toEqual([])
    const labels = 'kubevirt.io/outdatedLauncherImage'
    expect(stage.simulated.store.list(VirtualMachineInstances, { labels }).items).toEqual([])
  })
})

test('killed while it is paused for a second time: the next run resumes them', async () => {
  await play({ ...byTag, vms: 2, faults: { noMigrationNames: true } }, async (stage) => {
    const killer = new AbortController()
    const ended = await stage
      .upgrade(
        'v1.8.4',
        { waitWorkloads: true },
        {
          signal: killer.signal,
          onEvent(event) {
            if (event.kind === 'step-done' && event.step.id === 'resume-workload-updates') rollOnceMore(stage)
            if (event.kind === 'step-applied' && /pause automatic VM updates again/.test(event.change))
              killer.abort(Object.assign(new Error('killed'), { name: 'AbortError' }))
          },
        },
      )
      .catch((error: unknown) => error as Error)
    expect(ended).toBeInstanceOf(Error)
    expect(stage.methods).toEqual([])
    await stage.until(2 * minute)
    const again = await stage.upgrade('v1.8.4')
    expect(again.code).toBe(0)
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('somebody’s copy of a component, stamps and all, that never gets ready keeps no run from ending', async () => {
  await play(byTag, async (stage) => {
    const { store } = stage.simulated
    const api = (store.list(Deployments).items as Deployment[]).find(
      ({ metadata }) => metadata.name === 'virt-api',
    )
    if (!api) throw new Error('no virt-api')
    const labels = { app: 'copy' }
    const { writer } = stage.cluster
    await writer.create(Deployments, {
      apiVersion: api.apiVersion,
      kind: api.kind,
      metadata: { name: 'copy', namespace: stage.home, ...pick(api) },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          ...api.spec?.template,
          metadata: { ...api.spec?.template?.metadata, labels },
          spec: {
            containers: [{ name: 'copy', image: 'quay.io/nobody/has:this' }],
            nodeSelector: { no: 'node' },
          },
        },
      },
    })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.code).toBe(0)
    expect(warningsOf(ended)).toEqual(['warning component-not-listed'])
  })
})

const edit = (stage: Stage, virtLauncher = 4) =>
  stage.edit({ configuration: { developerConfiguration: { logVerbosity: { virtLauncher } } } })

/** Until the operator has failed once, as it does right behind its own done (recording operator-v1.8.4-v1.9.0). */
async function untilItFails(stage: Stage): Promise<void> {
  stage.label({ labels: { touched: 'true' } })
  const failed = () =>
    stage.film.at(-1)?.status?.conditions?.some(({ reason }) => reason === 'DeploymentFailed') === true
  for (let i = 0; i < minute / second && !failed(); i++) await stage.clock.sleep(second)
  const { metadata, status } = stage.film.at(-1) ?? {}
  expect([failed(), metadata?.generation]).toEqual([true, status?.observedGeneration])
}

describe('an edit of the KubeVirt resource that virt-operator is acting on', () => {
  test('check waits for it, and judges then; upgrade waits for it and goes on', async () => {
    await play(byManifest, async (stage) => {
      edit(stage)
      const ended = await stage.check('v1.9.0', { accept: ['launcher-age'] })
      expect(JSON.stringify(ended.documents)).not.toContain('KubeVirt is Updating')
      expect(ended.text).toContain('virt-operator is acting on an edit of the KubeVirt resource')
      expect(ended.took).toBeGreaterThan(second)
      expect(ended.took).toBeLessThan(minute)
      edit(stage, 5)
      expect((await stage.upgrade('v1.9.0', { stableFor: '5s' })).code).toBe(0)
    })
  })

  test('nor is an upgrade refused that begins in a failure of the operator which heals: check waits for it as well', async () => {
    await play({ ...byManifest, faults: { blipAfterReady: true } }, async (stage) => {
      await untilItFails(stage)
      const ended = await stage.check('v1.9.0', { accept: ['launcher-age'] })
      expect(ended.text).toContain('virt-operator is trying again what failed')
      expect(JSON.stringify(ended.documents)).not.toContain('KubeVirt is Updating')
    })
    await play({ ...byManifest, faults: { blipAfterReady: true } }, async (stage) => {
      await untilItFails(stage)
      expect((await stage.upgrade('v1.9.0', { stableFor: '5s' })).code).toBe(0)
    })
  })

  test('a failure that lasts is no such moment: exit 3, without a wait for more', async () => {
    await play(byManifest, async (stage) => {
      stage.simulated.faults.set({ withoutRights: true })
      edit(stage)
      await stage.clock.sleep(15 * second)
      const ended = await stage.upgrade('v1.9.0')
      expect(ended.code).toBe(3)
      expect(ended.took).toBeLessThanOrEqual(2 * minute)
    })
  })

  test('where virt-operator does not act on it, it is judged after a while: not settled, exit 3', async () => {
    await play(byManifest, async (stage) => {
      stage.simulated.faults.set({ stopped: true })
      edit(stage)
      const ended = await stage.upgrade('v1.9.0')
      expect(ended.error?.reason).toBe('healthy-now')
      expect(ended.code).toBe(3)
      expect(ended.took).toBeGreaterThanOrEqual(90 * second)
      // A suspect Lease is watched for some seconds besides.
      expect(ended.took).toBeLessThan(3 * minute)
    })
  })
})

const pick = ({ metadata: { labels, annotations } }: Deployment) => ({
  labels: { ...labels, 'app.kubernetes.io/managed-by': 'somebody' },
  annotations: { ...annotations },
})

test('a release that the table does not know, by its manifest: one warning, and it works', async () => {
  await play({ ...byManifest, version: 'v1.9.0' }, async (stage) => {
    const ended = await stage.upgrade('v1.10.0')
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done', to: 'v1.10.0' }] })
    expect(ended.text.match(/^warning .*/gmu)?.map((line) => line.replace(/ +/u, ' '))).toEqual([
      'warning v1.10.0 is not a KubeVirt release that kvup knows (release-unknown)',
    ])
    expect(stage.kubevirt.status).toMatchObject({
      observedKubeVirtVersion: 'v1.10.0',
      targetKubeVirtVersion: 'v1.10.0',
    })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
    const writes = stage.writes().length
    expect(await stage.upgrade('v1.10.0')).toMatchObject({
      code: 0,
      documents: [{ outcome: 'nothing-to-do' }],
    })
    expect(stage.writes()).toHaveLength(writes)
  })
})
