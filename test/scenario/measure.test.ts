import { expect, test } from 'vitest'
import { ClusterRoles } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { readerWith } from '../../src/lib/kube/cluster.ts'
import { unreachable } from '../../src/lib/kube/errors.ts'
import { withFaults } from './api-faults.ts'
import { grantTo } from './granted.ts'
import { availabilityOf, creates, measured, probeOf, withVms } from './measured-stage.ts'
import { minute, play, second } from './stage.ts'

test('it makes the calls that it states, writes nothing, and nothing is asked once it has ended', async () => {
  await play(withVms, async (stage) => {
    const since = stage.mark
    const run = () => stage.until(minute).then(() => 0)
    const { calls, seconds, promise } = availabilityOf(await measured(stage, { run }))
    expect({ calls, seconds, promise: promise.is }).toEqual({ calls: 301, seconds: 60, promise: 'kept' })
    // Watches are no lists: what it stated is what it asked.
    expect(stage.requests(since).filter(({ verb }) => verb !== 'watch').length).toBeLessThanOrEqual(
      300 * 1.05,
    )
    expect(creates(stage, since).filter(({ dryRun }) => !dryRun)).toEqual([])
    expect(stage.writes(since)).toEqual([])
    const stands = stage.mark
    await stage.until(minute)
    expect(stage.requests(stands)).toEqual([])
  })
})

test('an API server that is dead for two minutes: it goes on, and its figures stay right', async () => {
  await play(withVms, async (stage) => {
    stage.later(minute, () => {
      const back = stage.api.add({ is: 'refused', status: 503 })
      stage.later(2 * minute, back)
    })
    const run = () => stage.until(4 * minute).then(() => 0)
    const measurement = availabilityOf(await measured(stage, { run, terminal: { cluster: stage.shaky } }))
    for (const name of ['api', 'create', 'list', 'get', 'subresource', 'discovery'] as const) {
      const { count, unavailableSeconds, outages } = probeOf(measurement, name)
      expect({ name, count }).toEqual({ name, count: 1 })
      expect(Math.abs(unavailableSeconds - 120)).toBeLessThan(2)
      expect(outages[0]?.end).toBeDefined()
    }
    expect(measurement.promise.is).toBe('broken')
    expect(Math.abs(measurement.calls - 1200)).toBeLessThan(30)
  })
})

test('a server that says nothing: each call is given up after 2 s, and the outage ends with the first answer', async () => {
  await play(withVms, async (stage) => {
    stage.later(10.5 * second, () => {
      const back = stage.api.add({ is: 'slow', ms: 20_000, on: { resource: 'version' } })
      stage.later(10 * second, back)
    })
    const run = () => stage.until(40 * second).then(() => 0)
    const measurement = availabilityOf(await measured(stage, { run, terminal: { cluster: stage.shaky } }))
    const { unavailableSeconds, count, outages } = probeOf(measurement, 'subresource')
    expect(count).toBe(1)
    expect(Math.abs(unavailableSeconds - 10)).toBeLessThanOrEqual(2)
    expect(outages[0]?.why).toBe('no answer within 2 s')
  })
})

test('a flapping server: sixty outages are counted, and fifty are kept', async () => {
  await play(withVms, async (stage) => {
    for (let i = 1; i <= 60; i++)
      stage.later(i * 5 * second, () => {
        const back = stage.api.add({ is: 'refused', status: 503, on: { resource: 'version' } })
        stage.later(2 * second, back)
      })
    const run = () => stage.until(310 * second).then(() => 0)
    const measurement = availabilityOf(await measured(stage, { run, terminal: { cluster: stage.shaky } }))
    const { count, outages, unavailableSeconds } = probeOf(measurement, 'subresource')
    expect({ count, kept: outages.length }).toEqual({ count: 60, kept: 50 })
    expect(Math.abs(unavailableSeconds - 120)).toBeLessThan(12)
    expect(JSON.stringify(measurement).length).toBeLessThan(60_000)
  })
})

test('a probe that is refused ends, is no outage, and that is said', async () => {
  await play(withVms, async (stage) => {
    stage.later(20 * second, () => stage.api.add({ is: 'unauthorized', on: { resource: 'version' } }))
    const run = () => stage.until(minute).then(() => 0)
    const ended = await measured(stage, { run, terminal: { cluster: stage.shaky } })
    const { probes, promise } = availabilityOf(ended)
    const probe = probes.find((one) => one.probe === 'subresource')
    expect(probe).toMatchObject({ count: 0, ended: { why: 'Unauthorized' } })
    expect(probe?.calls).toBeLessThan(25)
    expect(promise.is).toBe('partly')
    expect(promise.text).toContain('not measured to the end: subresource')
    expect(ended.text).toMatch(/! API available as far as measured; 0 of 2 VMs interrupted/u)
    expect(ended.text).toContain('subresource is not measured any more')
  })
})

test('who may only look is told that creating a VM is not measured; 429 counts as unavailable', async () => {
  await play(withVms, async (stage) => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]
    const { apiVersion, kind } = ClusterRoles
    grantTo(stage, 'looker', [{ apiVersion, kind, metadata: { name: 'looker' }, rules }])
    stage.later(10 * second, () => {
      const back = stage.api.add({ is: 'refused', status: 429, on: { resource: 'virtualmachineinstances' } })
      stage.later(5 * second, back)
    })
    const cluster = withFaults(stage.simulated.cluster({ user: 'looker' }), stage.api, 'looker')
    const run = () => stage.until(30 * second).then(() => 0)
    const ended = await measured(stage, { run, terminal: { cluster } })
    const measurement = availabilityOf(ended)
    expect(probeOf(measurement, 'create')).toMatchObject({ calls: 1, count: 0 })
    expect(probeOf(measurement, 'create').ended?.why).toContain('not accepted before the first change')
    expect(ended.text).toContain('create is not measured')
    expect(probeOf(measurement, 'list').count).toBe(1)
    expect(Math.abs(probeOf(measurement, 'list').unavailableSeconds - 5)).toBeLessThan(1.5)
  })
})

test('a server that refuses every probe: nothing is confirmed', async () => {
  await play(withVms, async (stage) => {
    stage.later(20 * second, () => stage.api.add({ is: 'unauthorized' }))
    const run = () => stage.until(2 * minute).then(() => 0)
    const ended = await measured(stage, { run, terminal: { cluster: stage.shaky } })
    const { promise, probes } = availabilityOf(ended)
    expect(probes.slice(1).map(({ ended: end }) => end !== undefined)).toEqual([true, true, true, true, true])
    expect(promise).toEqual({
      is: 'unknown',
      text: 'not known whether the control plane remains available throughout: no probe was measured to the end',
    })
    expect(ended.text).toMatch(/! API not measured; 0 of 2 VMs interrupted/u)
    expect(ended.text).not.toMatch(/confirmed|throughout;/u)
  })
})

test('a watch of VMs that is lost in the middle is told with its times', async () => {
  await play(withVms, async (stage) => {
    const { cluster } = stage
    const lost = stage.clock.sleep(20 * second)
    const watch: typeof cluster.reader.watch = async function* watch(kind, where, signal) {
      const changes = cluster.reader.watch(kind, where, signal)
      if (kind.plural !== 'virtualmachineinstances') return yield* changes
      for await (const change of changes) {
        yield change
        if (change.type === 'synced') break
      }
      await lost
      throw unreachable('refused', 'nobody there')
    }
    const run = () => stage.until(minute).then(() => 0)
    const reader = readerWith(cluster.reader, { watch })
    const ended = await measured(stage, { run, terminal: { cluster: { ...cluster, reader } } })
    const { vms, promise } = availabilityOf(ended)
    expect(promise.is).toBe('kept')
    expect(vms.gaps?.count).toBe(2)
    const [first] = vms.gaps?.items ?? []
    expect(Date.parse(first?.end ?? '') - Date.parse(first?.begin ?? '')).toBe(30 * second)
    expect(ended.text).toMatch(/! API available throughout; 0 of 2 VMs interrupted, as far as watched/u)
    expect(ended.text).toMatch(/VMs +not watched \d\d:\d\d:\d\d to /u)
  })
})

test('a computer that is suspended meanwhile has measured in part', async () => {
  await play(withVms, async (stage) => {
    const { clock } = stage
    let slept = 0
    stage.later(20 * second, () => (slept = 10 * minute))
    // Its ticks stand still while it sleeps.
    const machine: Clock = {
      now: () => new Date(clock.now().getTime() + slept),
      ticks: () => clock.now().getTime(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    }
    const suspended: Clock = {
      machine,
      now: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    }
    const run = () => stage.until(minute).then(() => 0)
    const ended = await measured(stage, { run, terminal: { clock: suspended } })
    const { notMeasuredSeconds, promise } = availabilityOf(ended)
    expect(notMeasuredSeconds).toBe(600)
    expect(promise.is).toBe('partly')
    expect(ended.text).toContain('! API available as far as measured')
  })
})

test('another namespace for the dry runs is the one that is asked', async () => {
  await play(withVms, async (stage) => {
    const since = stage.mark
    const run = () => stage.until(5 * second).then(() => 0)
    await measured(stage, { run, options: { measureNamespace: 'demo' } })
    const asked = stage
      .requests(since)
      .filter(({ verb, resource }) => verb === 'create' && resource === VirtualMachines.plural)
    expect(new Set(asked.map(({ namespace }) => namespace))).toEqual(new Set(['demo']))
  })
})
