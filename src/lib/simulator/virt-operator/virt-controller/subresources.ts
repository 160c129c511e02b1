import { type Pod, Pods } from '../../../cluster/kinds/pods.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../../cluster/object.ts'
import { Refusal } from '../../api/refusal.ts'
import type { Store } from '../../api/store.ts'
import type { SubresourceCall } from '../../api/subresources.ts'
import { evictionVerdict } from './eviction-verdict.ts'
import type { StateChange } from './virtual-machines.ts'

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 202 }

/** What virt-api answers: restart, start and stop of VMs, and its word on evictions of launchers. */
export function serveVirtApi(store: Store): void {
  store.onSubresource(Pods, 'eviction', (call) => evict(store, call))
  const changes = { restart: ['Stop', 'Start'], start: ['Start'], stop: ['Stop'] } as const
  for (const [name, actions] of Object.entries(changes)) {
    store.onSubresource(VirtualMachines, name, (call) =>
      change(
        store,
        call,
        actions.map((action) => ({ action })),
      ),
    )
  }
}

function evict(store: Store, { object, dryRun, user }: SubresourceCall): object {
  const pod = object as Pod
  if (pod.metadata.labels?.['kubevirt.io'] === 'virt-launcher') refuseLauncher(store, pod, dryRun)
  if (!dryRun) store.remove(Pods, pod.metadata, { user })
  return success
}

function refuseLauncher(store: Store, { metadata }: Pod, dryRun: boolean): void {
  const name = metadata.annotations?.['kubevirt.io/domain'] ?? ''
  const vmi = store.read(VirtualMachineInstances, { name, namespace: metadata.namespace }) as
    | VirtualMachineInstance
    | undefined
  if (vmi === undefined) return
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  const verdict = evictionVerdict({ name, strategy: vmi.spec?.evictionStrategy, migratable })
  if (verdict.is === 'allowed') return
  if (!dryRun && (verdict.evacuates || vmi.spec?.evictionStrategy === 'External')) {
    const body = { status: { evacuationNodeName: vmi.status?.nodeName } }
    store.patch(VirtualMachineInstances, vmi.metadata, { type: 'merge', body }, { manager: 'virt-api' })
  }
  const hook = 'virt-launcher-eviction-interceptor.kubevirt.io'
  throw new Refusal(429, 'TooManyRequests', `admission webhook "${hook}" denied the request: ${verdict.why}`)
}

/** facts 5: 409 where there is nothing that could be restarted. */
function change(
  store: Store,
  { object, dryRun }: SubresourceCall,
  stateChangeRequests: readonly StateChange[],
): object {
  const vm = object as VirtualMachine
  const running = vm.status?.created === true
  const restarts = stateChangeRequests.length === 2
  if ((restarts || stateChangeRequests[0]?.action === 'Stop') && !running) {
    throw new Refusal(
      409,
      'Conflict',
      `Operation cannot be fulfilled on virtualmachine.kubevirt.io "${vm.metadata.name}": VM is not running`,
    )
  }
  if (restarts && (vm.spec?.runStrategy === 'Halted' || vm.spec?.runStrategy === 'Once')) {
    const why = `${vm.spec.runStrategy} does not support manual restart requests`
    throw new Refusal(
      409,
      'Conflict',
      `Operation cannot be fulfilled on virtualmachine.kubevirt.io "${vm.metadata.name}": ${why}`,
    )
  }
  const body = { status: { stateChangeRequests } }
  store.patch(
    VirtualMachines,
    vm.metadata,
    { type: 'merge', body },
    { on: 'status', manager: 'virt-api', dryRun },
  )
  return success
}
