import { measure } from '../../src/commands/measure/measure.ts'
import type { Context } from '../../src/context.ts'
import type { Availability, MeasuredProbe } from '../../src/lib/availability/availability.ts'
import type { MeasureOptions } from '../../src/lib/availability/measure-request.ts'
import { VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { AuditRecord } from '../../src/simulator/api/api-request.ts'
import { byTag, type Ended, type Stage, type Terminal } from './stage.ts'

export const withVms = { ...byTag, vms: [{ name: 'web-1' }, { name: 'web-2' }] }

/** What a run tells of its measurement. */
export function availabilityOf({ documents, text }: Ended): Availability {
  const { availability } = (documents.at(-1) ?? {}) as unknown as { availability?: Availability }
  if (availability === undefined) throw new Error(`nothing was measured: ${text}`)
  return availability
}

export function probeOf({ probes }: Availability, name: MeasuredProbe['probe']): MeasuredProbe {
  const found = probes.find(({ probe }) => probe === name)
  if (found === undefined) throw new Error(`no probe ${name}`)
  return found
}

/** virt-api is away, as a webhook and as an aggregated API, from `after` on for `ms`. */
export function virtApiAway(stage: Stage, after: number, ms: number): void {
  stage.later(after, () => {
    const back = [
      stage.api.add({
        is: 'webhook-down',
        resource: 'virtualmachines',
        webhook: 'virtualmachine-validator.kubevirt.io',
        service: 'virt-api.kubevirt',
      }),
      stage.api.add({ is: 'refused', status: 503, on: { resource: 'version' } }),
    ]
    stage.later(ms, () => back.forEach((lift) => lift()))
  })
}

/** Requests of kvup that would make a VM. */
export const creates = (stage: Stage, since: number): readonly AuditRecord[] =>
  stage
    .requests(since)
    .filter(({ verb, resource }) => verb === 'create' && resource === VirtualMachines.plural)

interface Meanwhile {
  options?: MeasureOptions
  terminal?: Terminal
  command?: readonly string[]
  connect?: Context['world']['connect']
  run: () => Promise<number>
}

/** `kvup measure -- COMMAND` beside what `run` does. */
export const measured = (
  stage: Stage,
  { options = {}, terminal = {}, command = ['sleep', '60'], connect, run }: Meanwhile,
): Promise<Ended> =>
  stage.perform(
    (cx) => measure({ ...cx, world: { ...cx.world, run, ...(connect && { connect }) } }, options, command),
    { output: 'json', ...terminal },
  )
