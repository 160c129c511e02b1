// Upgrades that are killed and resumed: more than 3 s of processor time.
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type ConfigMap, ConfigMaps, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Killed, mortal } from './mortal-cluster.ts'
import { eusRunOn, twoWorkers418 } from './eus/window-stage.ts'
import { restarted } from './machines.ts'
import { byTag, minute, briefly as play, second, type Stage } from './stage.ts'

const vms = ['gone', 'again', 'down', 'well'].map((name) => ({
  name,
  runStrategy: name === 'down' ? 'Manual' : 'Always',
}))
const shape = { ...byTag, vms }
const demo = (name: string) => ({ name, namespace: 'demo' })

/** What happens to one VM. Only of the first is an owner seen to have done it. */
const events: Readonly<Record<'gone' | 'again' | 'down', (stage: Stage) => void>> = {
  gone: ({ simulated: { store } }) => void store.remove(VirtualMachines, demo('gone')),
  again: ({ simulated: { store } }) =>
    void store.remove(VirtualMachineInstances, demo('again'), { now: true }),
  down: ({ simulated: { store } }) => void store.remove(VirtualMachineInstances, demo('down'), { now: true }),
}
type Event = keyof typeof events

const told: Readonly<Record<Event, object>> = {
  gone: { kind: 'VirtualMachine', namespace: 'demo', name: 'gone', what: 'deleted', lost: false },
  again: { kind: 'VirtualMachine', namespace: 'demo', name: 'again', what: 'restarted', lost: true },
  down: { kind: 'VirtualMachine', namespace: 'demo', name: 'down', what: 'stopped', lost: true },
}

/** Starts the one that does not start by itself, so that it runs before. */
async function whole(stage: Stage): Promise<void> {
  await stage.start('down')
}

const failure: Readonly<Record<Event, string | undefined>> = {
  gone: undefined,
  again: 'KubeVirt v1.8.4 is installed, but 1 VM lost its VMI: demo/again (restarted)',
  down: 'KubeVirt v1.8.4 is installed, but 1 VM lost its VMI: demo/down (stopped)',
}

const censuses = ({ simulated, home }: Stage) =>
  (simulated.store.list(ConfigMaps, { namespace: home }).items as ConfigMap[]).filter(({ metadata }) =>
    metadata.name.startsWith('kvup-census-'),
  )

/** One that is taken off while a run goes on is lost where that run is killed. */
const drops = (stage: Stage) =>
  stage.writes().filter(({ verb, name }) => verb === 'delete' && name === 'kvup-census-1')

const patched = (stage: Stage): boolean => stage.kubevirt.spec?.imageTag === 'v1.8.4'

/** Killed with SIGKILL once the tag was set and `atDeath` has happened; resumed by somebody else, elsewhere. */
async function killedOnce(
  stage: Stage,
  at: { first?: () => void; between?: () => void; after?: () => void },
) {
  const cluster = mortal(stage.cluster, {
    afterCallWhen: () => {
      if (!patched(stage)) return false
      at.first?.()
      return true
    },
  })
  const killed = stage.upgrade('v1.8.4', {}, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  await stage.until(5 * second)
  at.between?.()
  await stage.until(5 * second)
  if (at.after) stage.later(25 * second, at.after)
  const ended = await stage.upgrade('v1.8.4', {}, { host: 'other' })
  expect(await killed).toBeInstanceOf(Killed)
  return ended
}

const changesIn = (ended: Awaited<ReturnType<Stage['upgrade']>>) =>
  (ended.documents[0] as unknown as { changes: object[] }).changes

test.each([
  ['again', 'first'],
  ['again', 'after'],
  ['gone', 'between'],
  ['down', 'between'],
] as const)('what became of a VM is told by whoever ends the run: %s, %s', async (event, when) => {
  await play(shape, async (stage) => {
    await whole(stage)
    const ended = await killedOnce(stage, { [when]: () => events[event](stage) })
    expect(changesIn(ended)).toEqual([expect.objectContaining(told[event])])
    expect(ended.code).toBe(event === 'gone' ? 0 : 9)
    expect(ended.text).toContain(`demo/${event}`)
    expect(ended.text).not.toMatch(/are unchanged|kept running/u)
    expect(ended.text).toContain('when jane@dead began')
    expect(ended.error?.message).toBe(failure[event])
    expect(ended.documents[0]).toMatchObject({
      outcome: 'done',
      comparedWith: { by: 'jane@dead', resumed: true, late: false },
    })
    expect(censuses(stage)).toEqual([])
    expect(drops(stage)).toHaveLength(1)
  })
})

const lostNone = (ended: Awaited<ReturnType<Stage['upgrade']>>) =>
  (changesIn(ended) as { lost: boolean }[]).every(({ lost }) => !lost)

test('what owners did is listed and is no failure: restarted, changed, shut down in the guest, stopped by virtctl', async () => {
  await play(shape, async (stage) => {
    await whole(stage)
    const { store } = stage.simulated
    stage.later(15 * second, () => {
      const kind = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }
      const stop = { name: 'stop', method: 'PUT', body: {} } as const
      void stage.cluster.writer.subresource(kind, demo('down'), stop)
      void restarted(stage, 'again')
      const annotations = { note: 'no change of the spec' }
      const body = { metadata: { annotations }, spec: { runStrategy: 'Halted' } }
      store.patch(VirtualMachines, demo('well'), { type: 'merge', body })
      store.remove(VirtualMachineInstances, demo('well'), { now: true })
      const shutDown = { status: { phase: 'Succeeded' } }
      const by = { manager: 'virt-handler' }
      store.patch(VirtualMachineInstances, demo('gone'), { type: 'merge', body: shutDown }, by)
    })
    const ended = await stage.upgrade('v1.8.4')
    for (const why of [
      'demo/again (its stop or restart was requested)',
      'demo/well (its spec was changed (generation 1, now 2))',
      'demo/gone (its guest shut down)',
      'demo/down (its stop or restart was requested)',
    ])
      expect(ended.text).toContain(why)
    expect([ended.code, lostNone(ended)]).toEqual([0, true])
  })
})

test('a namespace that was deleted is listed and is no failure', async () => {
  await play(shape, async (stage) => {
    await whole(stage)
    stage.later(15 * second, () => void stage.simulated.store.remove(Namespaces, { name: 'demo' }))
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.text).toContain('deleted: demo/again, demo/down, demo/gone, demo/well (the VM was deleted)')
    expect([ended.code, lostNone(ended)]).toEqual([0, true])
  })
})

describe('the census in the cluster', () => {
  test('is written once under the lock, before the first change, and holds namespace, name and uid', async () => {
    await play(shape, async (stage) => {
      const cluster = mortal(stage.cluster, { afterCallWhen: () => patched(stage) })
      const killed = stage.upgrade('v1.8.4', {}, { cluster, host: 'dead' }).catch(() => undefined)
      await cluster.death
      const [census] = censuses(stage)
      expect(census).toMatchObject({ metadata: { name: 'kvup-census-1' }, immutable: true })
      const text = gunzipSync(Buffer.from(census?.binaryData?.['census'] ?? '', 'base64')).toString()
      const uid = stage.simulated.store.read(VirtualMachineInstances, demo('well'))?.metadata.uid
      expect(text).toMatch(new RegExp(`\\["instance","demo","well","${uid}","Running"`))
      const writes = stage.writes().map(({ verb, resource }) => `${verb} ${resource}`)
      expect(writes.slice(0, writes.indexOf('patch kubevirts') + 1)).toEqual([
        'create leases',
        'create configmaps',
        'create configmaps',
        ...writes.slice(3, writes.indexOf('patch kubevirts') + 1),
      ])
      expect(JSON.parse(census?.data?.['run'] ?? '')).toMatchObject({
        procedure: 'upgrade to v1.8.4',
        kubevirt: stage.kubevirt.metadata.uid,
        by: 'jane@dead',
        parts: 1,
      })
      const mark = stage.mark
      await stage.upgrade('v1.8.4', {}, { host: 'other' })
      await killed
      const after = stage.writes(mark).filter(({ resource }) => resource === 'configmaps')
      expect(after.filter(({ verb }) => verb !== 'patch').map(({ verb, name }) => `${verb} ${name}`)).toEqual(
        ['delete kvup-census-1'],
      )
    })
  })

  test('of a run that was killed and held nothing is replaced by the next one that begins', async () => {
    await play({ ...shape, methods: [] }, async (stage) => {
      await whole(stage)
      const cluster = mortal(stage.cluster, { afterCallWhen: () => patched(stage) })
      const killed = stage.upgrade('v1.8.4', {}, { cluster, host: 'dead' }).catch(() => undefined)
      await cluster.death
      events.again(stage)
      await stage.until(minute)
      const accept = ['way-back', 'downgrade', 'kubernetes-window']
      const back = await stage.upgrade('v1.7.0', { accept }, { host: 'other' })
      await killed
      expect(back).toMatchObject({ code: 0, documents: [{ comparedWith: { resumed: false } }] })
      expect(censuses(stage)).toEqual([])
    })
  })

  const broken: Readonly<Record<string, (stage: Stage) => void>> = {
    'that was deleted': ({ simulated: { store }, home }) =>
      void store.remove(ConfigMaps, { name: 'kvup-census-1', namespace: home }),
    'that somebody else wrote': (stage) => {
      const [census] = censuses(stage)
      if (!census) throw new Error('no census')
      const { name, namespace, labels } = census.metadata
      stage.simulated.store.remove(ConfigMaps, { name, namespace })
      const data = { ...census.data, run: '{"parts": 1e9}' }
      const metadata = { name, ...(namespace && { namespace }), ...(labels && { labels }) }
      const forged: ConfigMap = { ...census, data, metadata }
      stage.simulated.store.put(ConfigMaps, forged)
    },
  }
  for (const [name, breaks] of Object.entries(broken))
    test(`${name}: nobody says that VMs are as they were`, async () => {
      await play(shape, async (stage) => {
        const ended = await killedOnce(stage, { between: () => breaks(stage) })
        expect(ended).toMatchObject({
          code: 0,
          documents: [{ comparedWith: { by: 'jane@other', late: true } }],
        })
        expect(ended.text).toContain('kvup does not know what ran before the first change')
        expect(ended.text).not.toMatch(/VMs and volumes are unchanged\n|kept running/u)
        expect(censuses(stage)).toEqual([])
      })
    })

  test('may not be kept: said before, and this process knows what ran', async () => {
    await play(shape, async (stage) => {
      const { reviewer } = stage.cluster
      const can: typeof reviewer.can = async (access) =>
        access.resource === 'configmaps' && access.verb === 'delete'
          ? { allowed: false, reason: '' }
          : reviewer.can(access)
      const cluster = {
        ...stage.cluster,
        reviewer: { ...reviewer, whoAmI: () => reviewer.whoAmI(), dryRun: reviewer.dryRun, can },
      }
      stage.later(15 * second, () => events.again(stage))
      const ended = await stage.upgrade('v1.8.4', {}, { cluster })
      expect(ended.code).toBe(9)
      expect(ended.text).toContain('only this process knows what ran before')
      expect(stage.writes().some(({ name }) => name?.startsWith('kvup-census'))).toBe(false)
    })
  })

  test('whose run was killed before it told its end is told by the next, which has nothing else to do', async () => {
    await play(shape, async (stage) => {
      const finished = () => {
        const ref = { name: 'kvup-journal', namespace: stage.home }
        const { data = {} }: Partial<ConfigMap> = stage.simulated.store.read(ConfigMaps, ref) ?? {}
        return (data['entries'] ?? '').includes('"what":"finished"')
      }
      stage.later(15 * second, () => events.again(stage))
      const cluster = mortal(stage.cluster, { afterCallWhen: finished })
      const killed = stage.upgrade('v1.8.4', {}, { cluster, host: 'dead' }).catch(() => undefined)
      await cluster.death
      expect(censuses(stage)).toHaveLength(1)
      const ended = await stage.upgrade('v1.8.4', {}, { host: 'other' })
      await killed
      expect(ended.code).toBe(9)
      expect(ended.text).toContain('restarted: demo/again')
      const mark = stage.mark
      expect(await stage.upgrade('v1.8.4', {}, { host: 'third' })).toMatchObject({
        code: 0,
        documents: [{ outcome: 'nothing-to-do' }],
      })
      expect(stage.writes(mark)).toEqual([])
    })
  })
})

test('a VM that is lost in an EUS upgrade is exit 9, it ends all the same, and a second run writes nothing', () =>
  play({ ...twoWorkers418, vms: [{ name: 'web-1' }] }, async (stage) => {
    const lose = () => stage.simulated.store.remove(VirtualMachineInstances, demo('web-1'), { now: true })
    stage.later(10 * minute, () => void lose())
    const ended = await eusRunOn(stage)
    expect(ended).toMatchObject({
      code: 9,
      documents: [{ outcome: 'done', comparedWith: { resumed: false } }],
    })
    expect(ended.text).toContain('lost: restarted: demo/web-1')
    expect(await stage.journal.overrides()).toEqual([])
    expect(censuses(stage)).toEqual([])
    const mark = stage.mark
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
  }))
