import * as kube from '../kinds.ts'
import { Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import { Services } from '../api/subresources.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { outdatedLabel } from '../virt-operator/vmi-controller.ts'
import type { OpenShiftShape } from './openshift-shape.ts'
import { minute, type OpenShiftFaults } from './platform-context.ts'

/** How long it is pending (ocp 1.10). */
const outdatedFor = 24 * 60 * minute
const outdatedAlert = { name: 'OutdatedVirtualMachineInstanceWorkloads', severity: 'warning' }

const namespace = 'openshift-monitoring'
/** Of a platform where nobody has set up anything. */
const usual: readonly Alert[] = [
  { name: 'Watchdog', severity: 'none', namespace },
  { name: 'AlertmanagerReceiversNotConfigured', severity: 'warning', namespace },
]

interface Alert {
  name: string
  severity: string
  namespace?: string
}

/** The API server passes no token on, so kube-rbac-proxy in front of it refuses, as on a real platform; `open` is one where somebody took that away. */
export function serveMonitoring(
  store: Store,
  { monitoring: access = 'guarded' }: OpenShiftShape,
  faults: Faults<OpenShiftFaults>,
): void {
  const outdatedSince = whenOutdated(store)
  store.onSubresource(Services, 'proxy of thanos-querier', ({ parameters }) => {
    if (access === 'guarded') throw new Refusal(401, '', 'Unauthorized')
    if (parameters['path'] !== 'api/v1/alerts') throw new Refusal(404, '', '404 page not found')
    const since = outdatedSince()
    const isLate = since !== undefined && store.clock.now().getTime() - since >= outdatedFor
    const alerts = [...usual, ...(faults.on.firing ?? [])].map((one) => alert(one, 'firing'))
    const outdated = since === undefined ? [] : [alert(outdatedAlert, isLate ? 'firing' : 'pending')]
    return { status: 'success', data: { alerts: [...alerts, ...outdated] } }
  })
}

const alert = ({ name, ...labels }: Alert, state: 'firing' | 'pending') => ({
  labels: { alertname: name, ...labels },
  annotations: {},
  state,
  value: '1e+00',
})

/** Since when some VM has an older launcher, in ms; undefined: none has. */
function whenOutdated(store: Store): () => number | undefined {
  const outdated = new Set<string>()
  let since: number | undefined
  store.watch(kube.Vmis, ({ type, object: { metadata } }) => {
    const id = metadata.uid ?? metadata.name
    if (type !== 'DELETED' && metadata.labels?.[outdatedLabel] !== undefined) outdated.add(id)
    else outdated.delete(id)
    since = outdated.size === 0 ? undefined : (since ?? store.clock.now().getTime())
  })
  return () => since
}
