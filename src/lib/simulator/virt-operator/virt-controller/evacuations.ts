import {
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { control } from '../../machinery/controller.ts'
import { nameSuffix } from '../../machinery/luck.ts'
import type { VirtControllerContext } from './controller-context.ts'
import { isFinal } from './migration-plan.ts'

/** Migrates instances that an eviction marked away from their node (facts 3.4). */
export function runEvacuations(cx: VirtControllerContext): Promise<void> {
  const watched = [{ kind: VirtualMachineInstances }, { kind: VirtualMachineInstanceMigrations }]
  return control(cx, watched, async () => {
    const marked = (await cx.reader.list(VirtualMachineInstances)).filter(
      ({ spec, status }) =>
        status?.evacuationNodeName !== undefined &&
        status.evacuationNodeName === status.nodeName &&
        spec?.evictionStrategy !== 'External',
    )
    if (marked.length === 0) return undefined
    const open = (await cx.reader.list(VirtualMachineInstanceMigrations)).filter((m) => !isFinal(m))
    for (const { metadata, status } of marked) {
      if (open.some((m) => m.spec?.vmiName === metadata.name && m.metadata.namespace === metadata.namespace))
        continue
      await cx.writer.create(VirtualMachineInstanceMigrations, {
        apiVersion: VirtualMachineInstanceMigrations.apiVersion,
        kind: VirtualMachineInstanceMigrations.kind,
        metadata: {
          name: `kubevirt-evacuation-${nameSuffix(cx.random)}`,
          ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
          annotations: { 'kubevirt.io/evacuationMigration': status?.nodeName ?? '' },
        },
        spec: { vmiName: metadata.name, priority: 'system-critical' },
      })
    }
    return undefined
  })
}
