import { expect, test } from 'vitest'
import type { Availability } from '../../src/lib/availability/availability.ts'
import { VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Ended } from './stage.ts'
import { byTag, minute, play, second, type Stage } from './stage.ts'

const withVms = {
  ...byTag,
  vms: [{ name: 'web-1' }, { name: 'web-2' }],
}

const availabilityOf = ({ documents }: Ended): Availability => {
  const [document] = documents as unknown as { availability: Availability }[]
  if (document?.availability === undefined) throw new Error('nothing was measured')
  return document.availability
}

const probe = ({ probes }: Availability, name: string) => {
  const found = probes.find((one) => one.probe === name)
  if (found === undefined) throw new Error(`no probe ${name}`)
  return found
}

/** virt-api is away from its webhooks and as an aggregated API for so long, once virt-handler rolls. */
function virtApiAway(stage: Stage, after: number, ms: number): void {
  const away = [
    {
      is: 'webhook-down',
      resource: 'virtualmachines',
      webhook: 'virtualmachine-validator.kubevirt.io',
      service: 'virt-api.kubevirt',
    },
    { is: 'refused', status: 503, on: { resource: 'version' } },
    { is: 'refused', status: 503, on: { resource: 'discovery-of-virt-api' } },
  ] as const
  stage.later(after, () => {
    const back = away.slice(0, 2).map((fault) => stage.api.add(fault))
    stage.later(ms, () => back.forEach((lift) => lift()))
  })
}

test('a measured upgrade says that all was available, makes the calls that it states and creates nothing', async () => {
  await play(withVms, async (stage) => {
    const since = stage.mark
    const ended = await stage.upgrade('v1.8.4', { measure: true })
    expect(ended.code, ended.text).toBe(0)
    const measured = availabilityOf(ended)
    console.log(ended.text, JSON.stringify(measured, null, 1).slice(0, 3000))
    expect(measured.promise.is).toBe('kept')
    expect(measured.calls / (measured.seconds / 60)).toBeLessThan(measured.callsPerMinute * 1.05)
    expect(measured.calls / (measured.seconds / 60)).toBeGreaterThan(measured.callsPerMinute * 0.95)
    const creates = stage
      .requests(since)
      .filter(({ verb, resource }) => verb === 'create' && resource === VirtualMachines.plural)
    expect(creates.length).toBeGreaterThan(50)
    expect(creates.filter(({ dryRun }) => !dryRun)).toEqual([])
  })
})

test('the seconds in which virt-api is away are told, with what was rolling then', async () => {
  await play(withVms, async (stage) => {
    virtApiAway(stage, 40 * second, 10 * second)
    const ended = await stage.upgrade('v1.8.4', { measure: true }, { cluster: stage.shaky })
    expect(ended.code, ended.text).toBe(0)
    const measured = availabilityOf(ended)
    console.log(ended.text)
    expect(probe(measured, 'api').unavailableSeconds).toBeGreaterThan(8)
    expect(probe(measured, 'api').unavailableSeconds).toBeLessThan(12)
    expect(probe(measured, 'list').unavailableSeconds).toBe(0)
    expect(probe(measured, 'create').count).toBe(1)
  })
})

test('--stop-if ends the run before its next change, with exit 3', async () => {
  await play(withVms, async (stage) => {
    virtApiAway(stage, 40 * second, 40 * second)
    const ended = await stage.upgrade(
      'v1.8.4',
      { measure: true, stopIf: ['api.unavailable>30s'] },
      { cluster: stage.shaky },
    )
    console.log(ended.text)
    expect(ended.code, ended.text).toBe(3)
    expect(stage.methods).toEqual([])
  })
})
void minute
