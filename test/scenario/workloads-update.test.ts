// VMs that are moved in many orders, each time behind an upgrade: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { instance, migrate } from './machines.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { minute, second } from './stage.ts'
import { documentOf, labelled, madeAt, migrationsIn, outdated, overlaps } from './updates.ts'

const moving = mixedVms.filter(({ name }) => name !== 'failing')
const lasting = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ name: `vm-${i + 1}`, ...more }))

test('all that can be migrated are, one migration each, and a second run has nothing to do', async () => {
  await outdated(moving, async (stage) => {
    const ended = await stage.update()
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended)).toMatchObject({ outcome: 'done', totals: { migrated: 7, left: 3, failed: 0 } })
    expect(ended.text).toContain('demo        stuck   not moved   not migratable: a host device')
    expect(migrationsIn(stage)).toHaveLength(7)
    const makers = migrationsIn(stage).map(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'],
    )
    expect(new Set(makers)).toEqual(new Set(['kvup']))
    const mark = stage.mark
    const again = await stage.update()
    expect(documentOf(again)).toMatchObject({ outcome: 'nothing-to-do', totals: { left: 3, migrated: 0 } })
    expect(stage.writes(mark)).toEqual([])
  })
})

test('W6 it holds for its duration, says so, and gives back; what somebody else holds stays held', async () => {
  await outdated(4, async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    const observed: (readonly string[])[] = []
    const ended = await stage.update(
      {},
      {
        onEvent: ({ kind }) => void (kind === 'step-applied' && observed.push(stage.methods)),
      },
    )
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain(
      'automatic VM updates (LiveMigrate) are paused meanwhile, and resumed at the end',
    )
    expect(observed[0]).toEqual([])
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
  await outdated(
    4,
    async (stage) => {
      await stage.hold()
      expect(await stage.update()).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      expect(await stage.journal.overrides()).toHaveLength(1)
    },
    ['LiveMigrate'],
  )
})

test('no more at a time than KubeVirt takes', async () => {
  await outdated(lasting(12, { migration: '30s' }), async (stage) => {
    expect(await stage.update({ parallel: '50' })).toMatchObject({ code: 0 })
    expect(overlaps(stage)).toBe(5)
  })
})

test('a canary that fails stops it: nothing else is moved', async () => {
  await outdated([{ name: 'a', migration: 'fail' }, ...lasting(4)], async (stage) => {
    const ended = await stage.update({ canary: '1', retries: '0' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'canary-failed' } })
    expect(ended.error?.message).toContain("demo/a: operation failed: guest CPU doesn't match")
    expect(documentOf(ended)).toMatchObject({
      outcome: 'stopped',
      totals: { failed: 1, waiting: 4, migrated: 0 },
    })
    expect(migrationsIn(stage)).toHaveLength(1)
  })
})

test('a VM that failed before is not taken for the canary', async () => {
  await outdated([{ name: 'a', migration: 'fail' }, ...lasting(4)], async (stage) => {
    labelled(stage, 'a', { tier: 'a' })
    expect(await stage.update({ selector: 'tier=a', retries: '0' })).toMatchObject({ code: 3 })
    const other = await stage.update({ canary: '1', retries: '0', until: 'canary' })
    expect(other).toMatchObject({ code: 0 })
    expect(documentOf(other).items).toContainEqual(
      expect.objectContaining({ name: 'vm-1', outcome: 'migrated' }),
    )
  })
})

test('canaries that passed are not chosen again after a run was cut off', async () => {
  await outdated(lasting(5, { migration: '20s' }), async (stage) => {
    const stop = new AbortController()
    const cut = await stage.update(
      { canary: '2', pauseBetween: '10m' },
      {
        signal: stop.signal,
        onEvent: (event) => {
          if (event.kind === 'step-done' && event.step.id === 'canary') stop.abort(interrupted('SIGINT'))
        },
      },
    )
    expect(cut).toMatchObject({ code: 130 })
    const on = await stage.update({ canary: '2' })
    expect(on).toMatchObject({ code: 0 })
    expect(on.text).not.toContain('canary: ')
    expect(migrationsIn(stage)).toHaveLength(5)
  })
})

test('wave after wave, in the order that was named, with the pause between them', async () => {
  await outdated(lasting(4), async (stage) => {
    const tiers = { 'vm-1': 'prod', 'vm-2': 'dev', 'vm-3': 'prod', 'vm-4': 'test' }
    for (const [name, tier] of Object.entries(tiers)) labelled(stage, name, { tier })
    const ended = await stage.update({ waveBy: 'label=tier', waves: 'test,dev', pauseBetween: '5m' })
    expect(ended).toMatchObject({ code: 0 })
    const made = migrationsIn(stage)
    expect(made.map(({ spec }) => spec?.vmiName)).toEqual(['vm-4', 'vm-2', 'vm-1', 'vm-3'])
    const at = made.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(5 * minute)
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThan(5 * minute)
    expect((at[3] ?? 0) - (at[2] ?? 0)).toBeLessThan(minute)
  })
})

test('a VM that failed once is tried again after its back-off', async () => {
  await outdated([{ name: 'a', migration: 'fail-once' }], async (stage) => {
    const ended = await stage.update()
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended).items).toMatchObject([{ outcome: 'migrated', name: 'a' }])
    const [first, second_] = migrationsIn(stage).map(({ metadata, status }) => ({
      made: Date.parse(metadata.creationTimestamp ?? ''),
      ended: Date.parse(status?.migrationState?.endTimestamp ?? ''),
    }))
    expect((second_?.made ?? 0) - (first?.ended ?? 0)).toBeGreaterThanOrEqual(20 * second)
  })
})

test('cut off in its back-off, a VM is told to have failed, and why', async () => {
  await outdated([{ name: 'a', migration: 'fail-once' }], async (stage) => {
    const stop = new AbortController()
    const onEvent = (event: { kind: string; state?: { on: string } }) => {
      if (event.state?.on === 'the back-off of demo/a') stop.abort(interrupted('SIGINT'))
    }
    const ended = await stage.update({}, { signal: stop.signal, onEvent })
    expect(ended).toMatchObject({ code: 130 })
    const [item] = documentOf(ended).items
    expect(item).toMatchObject({ outcome: 'waiting', failures: 1 })
    expect(item?.why).toMatch(/^failed once, kvup retries it: \S/u)
  })
})

test('nothing that gets any further is a stall: exit 4, as --stalled-after of an upgrade ends', async () => {
  await outdated([{ name: 'a', migration: 'hang' }], async (stage) => {
    const ended = await stage.update({ stalledAfter: '5m' })
    expect(ended).toMatchObject({ code: 4, error: { reason: 'update-stalled' } })
    expect(documentOf(ended).totals.moving).toBe(1)
  })
})

test('never a second migration where one is active: somebody else began it', async () => {
  await outdated(lasting(2, { migration: '60s' }), async (stage) => {
    await migrate(stage, 'vm-1', 'mine')
    expect(await stage.update()).toMatchObject({ code: 0 })
    const made = migrationsIn(stage).map(
      ({ metadata, spec }) => `${metadata.name.slice(0, 4)} ${spec?.vmiName}`,
    )
    expect(made.sort()).toEqual(['kvup vm-2', 'mine vm-1'])
  })
})

test('W3 a restart is done when the new instance is ready on the new launcher; W2 the loss of data is accepted by name', async () => {
  await outdated(moving, async (stage) => {
    const refused = await stage.update({ restartUnmigratable: true })
    expect(refused).toMatchObject({ code: 3, error: { reason: 'data-loss' } })
    expect(refused.error?.object).toContain('demo/pet (containerDisk root)')
    const before = instance(stage, 'pet')?.metadata.uid
    const asked: string[] = []
    const ended = await stage.update(
      { restartUnmigratable: true, accept: ['data-loss'] },
      {
        answer: async (question) => asked.push(question) > 0,
      },
    )
    expect(ended).toMatchObject({ code: 0 })
    expect(asked).toEqual(['Migrate 7 VMs and restart 3, which interrupts them?'])
    expect(ended.text).toContain('restart: demo/pet')
    expect(documentOf(ended).totals).toMatchObject({ migrated: 7, restarted: 3, left: 0 })
    expect(instance(stage, 'pet')?.metadata.uid).not.toBe(before)
    expect(instance(stage, 'pet')?.status).toMatchObject({ phase: 'Running' })
  })
})

test('W3 the first that does not come back stops it', async () => {
  await outdated([...lasting(2, { notMigratable: 'DisksNotLiveMigratable' })], async (stage) => {
    stage.simulated.faults.set({ unschedulable: '^virt-launcher-vm-1-' })
    const ended = await stage.update({
      restartUnmigratable: true,
      accept: ['data-loss'],
      parallel: '1',
      restartTimeout: '3m',
    })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'did-not-come-back' } })
    expect(documentOf(ended).items).toMatchObject([
      { name: 'vm-1', outcome: 'failed' },
      { name: 'vm-2', outcome: 'waiting', why: 'waits for its turn' },
    ])
  })
})

test('nothing begins before a window opens; one that opens too late is a usage error', async () => {
  await outdated(2, async (stage) => {
    const opens = new Date(stage.now + 2 * 60 * minute)
    const day = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][opens.getUTCDay()]
    const clock = opens.toISOString().slice(11, 14)
    const window = [`${day} ${clock}00-24:00 UTC`]
    const late = await stage.update({ window, timeout: '1h' })
    expect(late).toMatchObject({ code: 2, error: { reason: 'window-never-opens' } })
    expect(await stage.update({ window })).toMatchObject({ code: 0 })
    for (const { metadata } of migrationsIn(stage))
      expect(metadata.creationTimestamp?.slice(11, 14)).toBe(clock)
  })
})

test('W4 two of one value are never under way together, and the next waits for the soak', async () => {
  await outdated(lasting(3), async (stage) => {
    for (const name of ['vm-1', 'vm-3']) labelled(stage, name, { role: 'db' })
    expect(await stage.update({ apartBy: 'role', soak: '2m' })).toMatchObject({ code: 0 })
    const made = new Map(migrationsIn(stage).map((one) => [one.spec?.vmiName, one]))
    const ended = Date.parse(made.get('vm-1')?.status?.migrationState?.endTimestamp ?? '')
    expect(madeAt(made.get('vm-3')) - ended).toBeGreaterThanOrEqual(2 * minute)
    expect(madeAt(made.get('vm-2'))).toBeLessThanOrEqual(ended)
  })
})

test('W4 without a label VMs that keep away from each other are kept apart', async () => {
  const anti = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  }
  await outdated(lasting(2, { migration: '30s' }), async (stage) => {
    for (const name of ['vm-1', 'vm-2']) labelled(stage, name, { app: 'db' }, { affinity: anti })
    expect(await stage.update({ soak: '0s' })).toMatchObject({ code: 0 })
    expect(overlaps(stage)).toBe(1)
  })
})

test('W5 while KubeVirt moves VMs itself, failures with one reason make it hold again, and both ways on are named', async () => {
  await outdated(
    [...lasting(4, { migration: 'fail' }), ...lasting(2).map(({ name }) => ({ name: `good-${name}` }))],
    async (stage) => {
      stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
      const ended = await stage.update({ watchOnly: true, maxFailures: '3' })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'too-many-failures' } })
      expect(ended.error?.message).toMatch(
        /VMs failed for one reason: operation failed: guest CPU .*on worker-.*harvester issue 11615/,
      )
      expect(ended.error?.message).toContain('automatic VM updates are paused again')
      expect(ended.error?.remedy.join()).toMatch(
        /kvup workloads update --canary 1.*kvup workloads resume-updates/,
      )
      expect(stage.methods).toEqual([])
      expect(await stage.journal.overrides()).toMatchObject([
        { id: 'workload-updates', was: { value: ['LiveMigrate'] } },
      ])
    },
  )
})

test('W5 two launchers for one VMI make it hold again as well', async () => {
  await outdated([{ name: 'a', migration: 'split' }, ...lasting(3, { migration: 'hang' })], async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    const ended = await stage.update({ watchOnly: true })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'two-launchers' } })
    expect(ended.error?.message).toContain('kubevirt issue 18670')
    expect(stage.methods).toEqual([])
  })
})

test('W6 --watch-only holds nothing while all is well, and makes no migration', async () => {
  await outdated(6, async (stage) => {
    expect(await stage.update({ watchOnly: true })).toMatchObject({
      code: 3,
      error: { reason: 'nobody-moves' },
    })
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    const mark = stage.mark
    const ended = await stage.update({ watchOnly: true })
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended).totals).toMatchObject({ migrated: 6 })
    expect(new Set(stage.writes(mark).map(({ resource }) => resource))).toEqual(
      new Set(['configmaps', 'leases']),
    )
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('Ctrl-C leaves what runs to KubeVirt, or cancels it where that was requested', async () => {
  for (const cancelRunning of [false, true])
    await outdated(lasting(3, { migration: '120s' }), async (stage) => {
      const stop = new AbortController()
      const onEvent = (event: { kind: string }) => {
        if (event.kind === 'step-waiting') stage.later(20_000, () => stop.abort(interrupted('SIGINT')))
      }
      const ended = await stage.update({ cancelRunning }, { signal: stop.signal, onEvent })
      expect(ended).toMatchObject({ code: 130 })
      expect(ended.text).toContain('goes on')
      await stage.until(5 * minute)
      const left = migrationsIn(stage).filter(({ status }) => status?.phase === 'Succeeded')
      expect(left).toHaveLength(cancelRunning ? 0 : 3)
      expect(await stage.update()).toMatchObject({ code: 0 })
    })
})
