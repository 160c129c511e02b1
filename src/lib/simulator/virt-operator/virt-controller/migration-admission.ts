import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../../cluster/object.ts'
import { Refusal } from '../../api/refusal.ts'
import type { Store } from '../../api/store.ts'
import { isFinal } from './migration-plan.ts'

/** What the webhook of virt-api refuses to create: facts 3.3. */
export function admitMigrations(store: Store): void {
  store.admission.add(({ operation, kind, object }) => {
    if (operation !== 'CREATE' || kind.kind !== VirtualMachineInstanceMigrations.kind) return
    const why = refusalOf(store, object)
    if (why === undefined) return
    const hook = 'migration-create-validator.kubevirt.io'
    throw new Refusal(403, 'Forbidden', `admission webhook "${hook}" denied the request: ${why}`)
  })
}

function refusalOf(store: Store, { spec, metadata }: VirtualMachineInstanceMigration): string | undefined {
  const { namespace } = metadata
  const name = spec?.vmiName ?? ''
  const vmi: VirtualMachineInstance | undefined = store.read(VirtualMachineInstances, { name, namespace })
  if (vmi === undefined) return `the VMI "${namespace}/${name}" does not exist`
  const migratable = condition(vmi, 'LiveMigratable')
  if (migratable?.status === 'False') {
    return `Cannot migrate VMI, Reason: ${migratable.reason}, Message: ${migratable.message}`
  }
  const others: readonly VirtualMachineInstanceMigration[] = store.list(VirtualMachineInstanceMigrations, {
    namespace,
  }).items
  const open = others.find((m) => m.spec?.vmiName === name && !isFinal(m))
  return (
    open &&
    `in-flight migration detected. Active migration job (${open.metadata.uid}) is currently already in progress for VMI ${name}.`
  )
}
