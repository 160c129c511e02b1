import type { Availability, MeasuredProbe } from '../../src/lib/availability/availability.ts'
import { measurementOf, type MeasureOptions } from '../../src/lib/availability/measurement.ts'
import { VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { availabilityLines } from '../../src/lib/output/views/availability.ts'
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
  run: () => Promise<number>
}

/** A measurement beside what `run` does, told as a document. */
export const measured = (stage: Stage, { options = {}, terminal = {}, run }: Meanwhile): Promise<Ended> =>
  stage.perform(
    async (cx) => {
      const where = { cluster: await cx.cluster(), namespace: 'kubevirt' }
      const measurement = measurementOf(cx, { ...options, measure: true }, where)
      await measurement?.begin()
      await run()
      measurement?.end()
      const availability = measurement?.report() as Availability
      cx.printer.result(
        { apiVersion: 'kvup.io/v1alpha1', kind: 'Measured', availability },
        { text: (told, paint, size) => availabilityLines(told.availability, paint, size), names: () => [] },
      )
      return 0
    },
    { output: 'json', ...terminal },
  )
