import { VirtualMachineInstances } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { Refusal } from '../api/api-refusal.ts'
import { Services } from '../api/subresources.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { outdatedLabel } from '../virt-operator/vmi-controller.ts'
import { minute, type OpenShiftFaults } from './platform-context.ts'
import type { OpenShiftShape } from './openshift-shape.ts'

export const monitoring = { namespace: 'openshift-monitoring', name: 'thanos-querier' } as const

/** A new one for each cluster. */
export const monitoringService = (): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { ...monitoring },
  spec: { ports: [{ name: 'web', port: 9091, targetPort: 'web' }] },
})

/** How long it is pending (ocp 1.10). */
const outdatedFor = 24 * 60 * minute

/** The API server passes no token on, so kube-rbac-proxy in front of it refuses, as on a real platform; `open` is one where somebody took that away. */
export function serveMonitoring(
  store: Store,
  { monitoring: access = 'guarded' }: OpenShiftShape,
  faults: Faults<OpenShiftFaults>,
): void {
  const outdatedSince = whenOutdated(store)
  store.onSubresource(Services, `proxy of ${monitoring.name}`, ({ parameters }) => {
    if (access === 'guarded') throw new Refusal(401, '', 'Unauthorized')
    if (parameters['path'] !== 'api/v1/alerts') throw new Refusal(404, '', '404 page not found')
    const outdated = outdatedSince()
    const age = outdated === undefined ? undefined : store.clock.now().getTime() - outdated
    const alerts = [
      alert({ name: 'Watchdog', severity: 'none', namespace: monitoring.namespace }),
      alert({
        name: 'AlertmanagerReceiversNotConfigured',
        severity: 'warning',
        namespace: monitoring.namespace,
      }),
      ...(faults.on.firing ?? []).map((one) => alert(one)),
      ...(age === undefined
        ? []
        : [alert(outdatedAlert, age < outdatedFor ? ('pending' as const) : ('firing' as const))]),
    ]
    return { status: 'success', data: { alerts } }
  })
}

const outdatedAlert = { name: 'OutdatedVirtualMachineInstanceWorkloads', severity: 'warning' }

const alert = (
  { name, ...labels }: { name: string; severity: string; namespace?: string },
  state: 'firing' | 'pending' = 'firing',
) => ({ labels: { alertname: name, ...labels }, annotations: {}, state, value: '1e+00' })

/** Since when some VM has an older launcher, in ms; undefined: none has. */
function whenOutdated(store: Store): () => number | undefined {
  const outdated = new Set<string>()
  let since: number | undefined
  store.watch(VirtualMachineInstances, ({ type, object: { metadata } }) => {
    const id = metadata.uid ?? metadata.name
    if (type !== 'DELETED' && metadata.labels?.[outdatedLabel] !== undefined) outdated.add(id)
    else outdated.delete(id)
    since = outdated.size === 0 ? undefined : (since ?? store.clock.now().getTime())
  })
  return () => since
}
