// Upgrades and whole paths, killed or stopped, and what the next run tells of VMs: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import type { UpgradeOptions } from '../../src/lib/upgrade/plan/upgrade-options.ts'
import { type ConfigMap, ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { readerWith } from '../../src/lib/kube/cluster.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { ApiError, interrupted } from '../../src/lib/kube/errors.ts'
import { getCensus, keepCensus, packCounts, unpack } from '../../src/lib/vms/census/saved-census.ts'
import { runningAhead } from './laptop.ts'
import { migrate, restarted } from './machines.ts'
import { mortal } from './mortal-cluster.ts'
import { all, along, inFolder, isToldToRestart, onePointFive, store, stuck } from './path.ts'
import { byTag, minute, briefly as play, second, type Stage } from './stage.ts'

const oneVm = { ...byTag, vms: [{ name: 'web-1' }] }
const twoHops = {
  methods: ['LiveMigrate'],
  workers: 1,
  controlPlanes: 1,
  vms: [{ name: 'web-1' }],
  olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }),
}
const back = { accept: ['way-back', 'downgrade', 'kubernetes-window'] }
const journal = { name: 'kvup-journal', namespace: 'kubevirt' }
const elsewhere = { host: 'other' }

const censuses = ({ simulated, home }: Stage) =>
  (simulated.store.list(ConfigMaps, { namespace: home }).items as ConfigMap[]).filter(({ metadata }) =>
    metadata.name.startsWith('kvup-census-'),
  )

function lose({ simulated }: Stage, vm = 'web-1'): void {
  simulated.store.remove(VirtualMachineInstances, { namespace: 'demo', name: vm }, { now: true })
}

function hasFinished({ simulated }: Stage, procedure: string): boolean {
  const { data = {} } = (simulated.store.read(ConfigMaps, journal) ?? {}) as Partial<ConfigMap>
  const lines = (data['entries'] ?? '').trim().split('\n')
  return lines.some((line) => line.includes(`"${procedure}"`) && line.includes('"what":"finished"'))
}

type Terminal = Parameters<Stage['upgrade']>[2]

/** Each of its calls, so that one of them can be another. */
const boundTo = (writer: Stage['cluster']['writer']): Stage['cluster']['writer'] => ({
  create: writer.create.bind(writer),
  mergePatch: writer.mergePatch.bind(writer),
  jsonPatch: writer.jsonPatch.bind(writer),
  apply: writer.apply.bind(writer),
  subresource: writer.subresource.bind(writer),
  delete: writer.delete.bind(writer),
})

/** Killed with SIGKILL as soon as that holds. */
async function killedWhen(
  stage: Stage,
  isTime: () => boolean,
  run: (terminal: Terminal) => Promise<unknown>,
): Promise<void> {
  const cluster = mortal(stage.cluster, { afterCallWhen: isTime })
  const killed = run({ cluster, host: 'dead' }).catch(() => undefined)
  await cluster.death
  await killed
}

const patched = (stage: Stage) => () => stage.kubevirt.spec?.imageTag === 'v1.8.4'
const upgradeKilled = (stage: Stage): Promise<void> =>
  killedWhen(stage, patched(stage), (terminal) => stage.upgrade('v1.8.4', {}, terminal))

const lostByDead = {
  code: 9,
  error: { reason: 'workloads-lost' },
  documents: [{ comparedWith: { by: 'jane@dead', resumed: true, late: false } }],
}

describe('what an upgrade that was killed saw is told by the one that goes back, also where that one is killed in its turn', () => {
  const deaths: Readonly<Record<string, (stage: Stage) => boolean>> = {
    'once it has given workload updates back': ({ methods }) => methods.length > 0,
    'once it has finished, before it told': (stage) => hasFinished(stage, 'upgrade to v1.7.0'),
  }
  test.each(Object.entries(deaths))('%s', (_, isDead) =>
    play(oneVm, async (stage) => {
      await upgradeKilled(stage)
      lose(stage)
      await stage.until(minute)
      await killedWhen(
        stage,
        () => isDead(stage),
        (terminal) => stage.upgrade('v1.7.0', back, terminal),
      )
      await stage.until(minute)
      const ended = await stage.upgrade('v1.7.0', back, elsewhere)
      expect(ended).toMatchObject(lostByDead)
      expect(ended.text).toContain('demo/web-1')
      expect(censuses(stage)).toEqual([])
      await stage.until(20 * minute)
      await restarted(stage, 'web-1')
      await stage.until(5 * minute)
      expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject({
        code: 0,
        documents: [{ comparedWith: { by: 'jane@other', resumed: false, late: false } }],
      })
    }),
  )

  test('where another upgrade left updates held before', () =>
    play(oneVm, async (stage) => {
      expect(await stage.upgrade('v1.8.0', { leavePaused: true })).toMatchObject({ code: 0 })
      await upgradeKilled(stage)
      lose(stage)
      await stage.until(minute)
      expect(await stage.upgrade('v1.8.0', back, elsewhere)).toMatchObject(lostByDead)
    }))
})

test('a census that is taken up is written again where the API server was away for a moment', () =>
  play(oneVm, async (stage) => {
    await upgradeKilled(stage)
    lose(stage)
    await stage.until(minute)
    const { writer } = stage.cluster
    let isAway = true
    const create: typeof writer.create = async (kind, object) => {
      if (isAway && object.metadata.name?.startsWith('kvup-census')) {
        isAway = false
        throw new ApiError(503, 'ServiceUnavailable', 'the server is away')
      }
      return writer.create(kind, object)
    }
    const cluster = { ...stage.cluster, writer: { ...boundTo(writer), create } }
    const ended = await stage.upgrade('v1.7.0', back, { ...elsewhere, cluster })
    expect(isAway).toBe(false)
    expect(ended).toMatchObject(lostByDead)
    expect(censuses(stage)).toEqual([])
  }))

test('where an upgrade was killed once it had given updates back, another release is not told that nothing ran before', () =>
  play(oneVm, async (stage) => {
    await killedWhen(
      stage,
      () => patched(stage)() && stage.methods.length > 0,
      (terminal) => stage.upgrade('v1.8.4', {}, terminal),
    )
    lose(stage)
    await stage.until(minute)
    const ended = await stage.upgrade('v1.7.0', back, elsewhere)
    expect(ended).toMatchObject({ code: 0, documents: [{ comparedWith: { late: true } }] })
    expect(ended.text).toContain('kvup does not know what ran before the first change')
  }))

test('the way back is ended before it changes anything, and the upgrade goes on: it tells what it saw', () =>
  play(oneVm, async (stage) => {
    await upgradeKilled(stage)
    lose(stage)
    await stage.until(minute)
    await killedWhen(
      stage,
      () => censuses(stage).some(({ data }) => data?.['run']?.includes('v1.7.0')),
      (terminal) => stage.upgrade('v1.7.0', back, terminal),
    )
    await stage.until(minute)
    expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject(lostByDead)
  }))

test('a host whose clock is behind finished it and was killed before it told: the next one tells', () =>
  play(oneVm, async (stage) => {
    const behind = { clock: runningAhead(stage.clock, -10 * minute), host: 'behind' }
    await upgradeKilled(stage)
    lose(stage)
    await stage.until(minute)
    await killedWhen(
      stage,
      () => hasFinished(stage, 'upgrade to v1.8.4'),
      (terminal) => stage.upgrade('v1.8.4', {}, { ...terminal, ...behind }),
    )
    expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject(lostByDead)
  }))

test('a path that takes up the census of a single step keeps it as its own', () =>
  play({ ...onePointFive, vms: [{ name: 'web-1' }] }, async (stage) => {
    store(stage, ...all)
    const rollsTo = (version: string) => () => stage.kubevirt.status?.targetKubeVirtVersion === version
    const single = { manifest: undefined as never, ...inFolder }
    await killedWhen(stage, rollsTo('v1.6.6'), (terminal) => stage.upgrade('v1.6.6', single, terminal))
    lose(stage)
    await stage.until(5 * second)
    await killedWhen(stage, rollsTo('v1.7.4'), (terminal) =>
      along(stage, {}, { ...terminal, host: 'second' }),
    )
    const ended = await along(stage, {}, elsewhere)
    expect(ended).toMatchObject(lostByDead)
    expect(ended.text).toContain('demo/web-1')
  }))

test('a journal that was deleted while updates are paused hides no loss', () =>
  play(oneVm, async (stage) => {
    await upgradeKilled(stage)
    lose(stage)
    await stage.until(minute)
    stage.simulated.store.remove(ConfigMaps, journal)
    expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject(lostByDead)
  }))

test('where the census was deleted as well, nobody says that VMs are as they were', () =>
  play(oneVm, async (stage) => {
    await upgradeKilled(stage)
    stage.simulated.store.remove(ConfigMaps, journal)
    for (const { metadata } of censuses(stage))
      stage.simulated.store.remove(ConfigMaps, { name: metadata.name, namespace: stage.home })
    const ended = await stage.upgrade('v1.8.4', {}, elsewhere)
    expect(ended).toMatchObject({ code: 0, documents: [{ comparedWith: { late: true } }] })
    expect(ended.text).toContain('kvup does not know what ran before the first change')
  }))

test('a hold that was killed is no upgrade whose beginning is not known', () =>
  play(oneVm, async (stage) => {
    await killedWhen(
      stage,
      () => stage.methods.length === 0,
      (terminal) => stage.hold({}, terminal),
    )
    const ended = await stage.upgrade('v1.8.4', {}, elsewhere)
    expect(ended).toMatchObject({ code: 0, documents: [{ comparedWith: { late: false } }] })
  }))

/** A cluster that is `mischief` from the moment at which kvup says what helps, and a path that is interrupted a little later. */
async function interruptedWhereTold(
  stage: Stage,
  { lost, mischief }: { lost: boolean; mischief: (isOn: () => boolean) => Partial<Stage['cluster']> },
) {
  store(stage, ...all)
  const stop = new AbortController()
  let isOn = false
  const onEvent = (event: RunEvent) => {
    if (isOn || !isToldToRestart(event)) return
    isOn = true
    if (lost) lose(stage)
    stage.later(5 * second, () => stop.abort(interrupted('SIGINT')))
  }
  const cluster = mortal({ ...stage.cluster, ...mischief(() => isOn) }, { afterCallWhen: () => isGone })
  let isGone = false
  const ended = await along(stage, {}, { cluster, onEvent, signal: stop.signal })
  // The process is gone once it has said its last words.
  isGone = true
  isOn = false
  await stage.until(5 * second)
  await restarted(stage, 'stuck')
  await stage.until(3 * minute)
  return ended
}

/** Of the API server: reads of that kind fail. */
const failing = (stage: Stage, kindName: string, status: number) => (isOn: () => boolean) => {
  const { reader } = stage.cluster
  const pages: typeof reader.pages = (kind, options) => {
    if (isOn() && kind.kind === kindName)
      throw new ApiError(status, 'ServiceUnavailable', 'the server is busy')
    return reader.pages(kind, options)
  }
  return { reader: readerWith(reader, { pages }) }
}

const slowDelete =
  ({ cluster: { writer }, clock }: Stage) =>
  () => ({
    writer: {
      ...boundTo(writer),
      delete: async (...asked: Parameters<typeof writer.delete>) => {
        const done = await writer.delete(...asked)
        if (asked[1].name.startsWith('kvup-census')) await clock.sleep(1200)
        return done
      },
    },
  })

const slowList = (stage: Stage) => (isOn: () => boolean) => {
  const { reader } = stage.cluster
  const pages = async function* (kind, options) {
    if (isOn() && kind.kind === 'PersistentVolumeClaim') await stage.clock.sleep(second)
    yield* reader.pages(kind, options)
  } as typeof reader.pages
  return { reader: readerWith(reader, { pages }) }
}

const oneLost = 'stopped where you asked, but 1 VM lost its VMI: demo/web-1 (restarted)'

describe('Ctrl-C between two steps: what was lost is told then or by the next run, and what was restarted as kvup said is no loss, where', () => {
  const mischiefs: Readonly<
    Record<string, (stage: Stage) => (isOn: () => boolean) => Partial<Stage['cluster']>>
  > = {
    'the census is deleted slowly': slowDelete,
    'reading takes longer than there is time': slowList,
    'VMIs cannot be read (503)': (stage) => failing(stage, 'VirtualMachineInstance', 503),
    'VMs cannot be read (429)': (stage) => failing(stage, 'VirtualMachine', 429),
  }
  test.each(Object.entries(mischiefs).map(([what, mischief], at) => [what, at % 2 === 0, mischief] as const))(
    '%s; something was lost: %s',
    (_, lost, mischief) =>
      play({ ...onePointFive, vms: [stuck, { name: 'web-1' }] }, async (stage) => {
        const first = await interruptedWhereTold(stage, { lost, mischief: mischief(stage) })
        expect(first.code).toBe(130)
        const ended = await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)
        expect(ended.code).toBe(lost ? 9 : 0)
        expect(ended.error?.message).toBe(lost ? oneLost : undefined)
      }),
  )
})

test('what was lost is told at an end between two steps and again at the end, for who is killed there has told nothing', () =>
  play({ ...onePointFive, vms: [stuck, { name: 'web-1' }] }, async (stage) => {
    store(stage, ...all)
    let isTold = false
    const onEvent = (event: RunEvent) => {
      if (isTold || !isToldToRestart(event)) return
      isTold = true
      lose(stage)
    }
    const first = await along(stage, {}, { onEvent })
    expect(first).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
    expect(first.error?.notes.join('\n')).toContain('1 VM lost its VMI: demo/web-1 (restarted)')
    expect(first.error?.remedy).toContainEqual(
      expect.stringMatching(/^virtctl restart stuck -n demo {5}restarts the guest/u),
    )
    expect(censuses(stage)).toHaveLength(1)
    await stage.until(minute)
    await restarted(stage, 'stuck')
    await stage.until(3 * minute)
    const ended = await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)
    expect(ended.code).toBe(9)
    expect(ended.error?.message).toMatch(/1 VM lost its VMI: demo\/web-1 \(restarted\)$/)
  }))

test('where VMs are only counted, an end between two steps says where fewer run', () =>
  play({ ...onePointFive, vms: [{ name: 'web-1', runStrategy: 'Manual' }, stuck] }, async (stage) => {
    store(stage, ...all)
    await stage.start('web-1')
    const rolls = () => stage.kubevirt.status?.targetKubeVirtVersion === 'v1.6.6'
    await killedWhen(stage, rolls, (terminal) => along(stage, {}, terminal))
    const found = await getCensus(stage.cluster.reader, 'kubevirt')
    if (found.is !== 'whole') throw new Error('no census')
    const known = unpack(found.packed)
    if (known?.is !== 'by-name') throw new Error('no names')
    await keepCensus(stage.cluster, 'kubevirt', { origin: found.origin, packed: packCounts(known.census) })
    lose(stage)
    await stage.until(5 * second)
    const ended = await along(stage, {}, elsewhere)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
    expect(ended.text).toContain('demo: 2 VMs ran before, 1 run now')
    expect(censuses(stage)).toHaveLength(1)
  }))

describe('a restart while an upgrade stands where nothing rolls is no loss:', () => {
  const stops: Readonly<Record<string, Partial<UpgradeOptions>>> = {
    'told to stop before the hold of the next step': { pauseBefore: ['pause-workload-updates-v1.7.4'] },
    'told to stop before the first change': { pauseBefore: ['apply-operator-manifest-v1.6.6'] },
  }
  test.each(Object.entries(stops))('%s', (_, stop) =>
    play({ ...onePointFive, vms: [{ name: 'web-1' }] }, async (stage) => {
      store(stage, ...all)
      const first = await along(stage, stop)
      expect(first).toMatchObject({ code: 0, documents: [{ outcome: 'stopped-before' }] })
      await stage.until(10 * minute)
      await restarted(stage, 'web-1')
      await stage.until(3 * minute)
      const ended = await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)
      expect(ended).toMatchObject({ code: 0, documents: [{ comparedWith: { late: false } }] })
      expect(ended.text).not.toContain('lost')
    }),
  )

  test('HyperConverged, told to stop before the approval', () =>
    play(twoHops, async (stage) => {
      expect(
        await stage.upgrade('1.18.1', { stableFor: '5s', pauseBefore: ['approve-1.18.1'] }),
      ).toMatchObject({ code: 0 })
      expect(censuses(stage)).toEqual([])
      await stage.until(minute)
      await restarted(stage, 'web-1')
      await stage.until(3 * minute)
      expect(await stage.upgrade('1.18.1', { stableFor: '5s' }, elsewhere)).toMatchObject({
        code: 0,
        documents: [{ comparedWith: { late: false } }],
      })
    }))

  test('told to stop once KubeVirt has settled; weeks later its owner goes on to another release', () =>
    play(oneVm, async (stage) => {
      expect(await stage.upgrade('v1.7.4', { until: 'healthy' })).toMatchObject({ code: 0 })
      await restarted(stage, 'web-1')
      await stage.until(5 * minute)
      expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject({ code: 0 })
    }))

  const waiting = { ...byTag, vms: [{ name: 'busy', migration: 'hang' as const }, { name: 'web-1' }] }
  test('ended while it waited for a migration before the first change', () =>
    play(waiting, async (stage) => {
      await migrate(stage, 'busy')
      const stop = new AbortController()
      stage.later(30 * second, () => stop.abort(interrupted('SIGINT')))
      const first = await stage.upgrade('v1.8.4', { migrationsTimeout: '2m' }, { signal: stop.signal })
      expect(first.code).toBe(130)
      await stage.until(10 * minute)
      await restarted(stage, 'web-1')
      await stage.until(10 * minute)
      expect(await stage.upgrade('v1.8.4', { migrations: 'cancel' }, elsewhere)).toMatchObject({ code: 0 })
    }))

  test('what was lost is told by the run that was told to stop, and not by those that go on', () =>
    play({ ...onePointFive, vms: [{ name: 'web-1' }] }, async (stage) => {
      store(stage, ...all)
      let isLost = false
      const onEvent = (event: RunEvent) => {
        if (isLost || event.kind !== 'step-started' || event.step.id !== 'virt-handler-v1.6.6') return
        isLost = true
        lose(stage)
      }
      expect(await along(stage, { until: 'gate-v1.7.4' }, { onEvent })).toMatchObject({ code: 9 })
      await stage.until(60 * minute)
      expect(await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)).toMatchObject({ code: 0 })
    }))
})

test('resumed in the middle of a roll and told to stop before a step that was done long ago: what is lost then is lost', () =>
  play(oneVm, async (stage) => {
    await upgradeKilled(stage)
    const until = 'pause-workload-updates'
    expect(await stage.upgrade('v1.8.4', { until }, { host: 'second' })).toMatchObject({ code: 0 })
    expect(censuses(stage)).toHaveLength(1)
    lose(stage)
    await stage.until(5 * minute)
    expect(await stage.upgrade('v1.8.4', {}, elsewhere)).toMatchObject(lostByDead)
  }))

test('a path that was cut off and brought to its end by an upgrade with --leave-paused is over: updates stay paused', () =>
  play({ ...onePointFive, version: 'v1.6.6', vms: [stuck] }, async (stage) => {
    store(stage, ...all, 'v1.8.3')
    const held = { manifest: undefined as never, ...inFolder, leavePaused: true }
    const rolls = () => stage.kubevirt.status?.targetKubeVirtVersion === 'v1.7.4'
    await killedWhen(stage, rolls, (terminal) => along(stage, {}, terminal))
    expect(await stage.upgrade('v1.7.4', held, elsewhere)).toMatchObject({ code: 0 })
    await stage.until(60 * minute)
    expect(await stage.upgrade('v1.8.3', held, elsewhere)).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual([])
  }))

test('a path that was cut off and is resumed to another patch of its last minor waits for VMs as well', () =>
  play({ ...onePointFive, version: 'v1.6.6', vms: [stuck] }, async (stage) => {
    store(stage, ...all, 'v1.8.3')
    expect(await along(stage, { via: 'v1.7.4', until: 'healthy-v1.7.4' })).toMatchObject({ code: 0 })
    const options = { manifest: undefined as never, ...inFolder }
    const ended = await stage.upgrade('v1.8.3', options, elsewhere)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.7.4')
  }))
