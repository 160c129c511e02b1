import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../cluster/kinds/extension.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/faults.ts'
import type { OperatorFaults } from './faults.ts'

/** The fault `storedVersion`: the CRD's status names the version as stored for as long as the fault is on. */
export function storeOldVersions(store: Store, faults: Faults<OperatorFaults>): void {
  let inForce: OperatorFaults['storedVersion']
  const enforce = () => {
    const { storedVersion } = faults.on
    if (storedVersion === inForce) return
    if (inForce) write(store, inForce, false)
    if (storedVersion) write(store, storedVersion, true)
    inForce = storedVersion
  }
  faults.onChange(enforce, new AbortController().signal)
}

function write(
  store: Store,
  { crd, version }: NonNullable<OperatorFaults['storedVersion']>,
  stored: boolean,
): void {
  const found: CustomResourceDefinition | undefined = store.read(CustomResourceDefinitions, { name: crd })
  if (!found) return
  const others = (found.status?.storedVersions ?? []).filter((name) => name !== version)
  const body = { status: { storedVersions: stored ? [version, ...others] : others } }
  store.patch(CustomResourceDefinitions, { name: crd }, { type: 'merge', body }, { on: 'status' })
}
