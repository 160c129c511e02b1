import {
  type MachineConfigPool,
  MachineConfigPools,
  MachineConfigs,
} from '../../../cluster/kinds/openshift.ts'
import { isTrue } from '../conditions.ts'
import { requiredLabel } from '../objects.ts'
import type { PlatformContext } from '../platform-context.ts'
import type { Release } from '../shape.ts'
import { renderNote } from './names.ts'

/** Pools that an update of the cluster waits for (ocp 3.5). */
export function isRequired({ metadata }: MachineConfigPool): boolean {
  return metadata.labels?.[requiredLabel] !== undefined
}

/** True when every machine of those pools is of that release. */
export async function areMastersAt(cx: PlatformContext, { version }: Release): Promise<boolean> {
  for (const pool of (await cx.reader.list(MachineConfigPools)).filter(isRequired)) {
    const name = pool.spec?.configuration?.name ?? ''
    const found = await cx.reader.find(MachineConfigs, { name })
    const notes = found.is === 'object' ? found.object.metadata.annotations : undefined
    if (notes?.[renderNote.release] !== version || !isUpdated(pool)) return false
  }
  return true
}

function isUpdated({ metadata, spec, status }: MachineConfigPool): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status?.configuration?.name === spec?.configuration?.name &&
    isTrue(status?.conditions, 'Updated')
  )
}
