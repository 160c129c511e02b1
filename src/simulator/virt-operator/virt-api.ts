import * as kube from '../kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { items } from '../api/json.ts'
import { internalError, Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import type { SubresourceCall } from '../api/subresources.ts'
import { keyOf } from '../machinery/controller.ts'
import { asSelector, isOver, isReady, share } from '../machinery/owned-pods.ts'
import type { StateChange } from './vm-controller.ts'
import { KnownMigrations } from './migration-controller.ts'

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 202 }

/** What virt-api answers: restart, start and stop of VMs, its word on evictions of launchers and on new migrations. */
export function serveVirtApi(store: Store): void {
  store.onSubresource(kube.Pods, 'eviction', (call) => evict(store, call))
  admitMigrations(store)
  serveAggregated(store)
  admitVms(store)
  const changes = { restart: ['Stop', 'Start'], start: ['Start'], stop: ['Stop'] } as const
  for (const [name, actions] of Object.entries(changes)) {
    store.onSubresource(kube.Vms, name, (call) =>
      change(
        store,
        call,
        actions.map((action) => ({ action })),
      ),
    )
  }
}

/** Its discovery and its version, while a pod of it is ready: everybody who is logged in may ask for both. */
function serveAggregated(store: Store): void {
  for (const version of ['v1', 'v1alpha3']) {
    const groupVersion = `subresources.kubevirt.io/${version}`
    const served = <T>(answer: T): T => {
      if (isServing(store)) return answer
      throw new Refusal(
        503,
        'ServiceUnavailable',
        'error trying to reach service: dial tcp: connection refused',
      )
    }
    store.aggregated.set(`/apis/${groupVersion}`, () =>
      served({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: resourcesOf() }),
    )
    store.aggregated.set(`/apis/${groupVersion}/version`, () => served({ gitVersion: 'simulated' }))
  }
}

const resourcesOf = () =>
  ['virtualmachines/restart', 'virtualmachines/start', 'virtualmachines/stop'].map((name) => ({
    name,
    singularName: '',
    namespaced: true,
    kind: '',
    verbs: ['put'],
  }))

/** Its webhook for VMs has failurePolicy Fail: without it nobody makes one. */
function admitVms(store: Store): void {
  store.admission.add(({ operation, kind }) => {
    if (operation !== 'CREATE' || kind.kind !== kube.Vms.kind || isServing(store)) return
    if (
      store.list(kube.ValidatingWebhooks, { fields: 'metadata.name=virt-api-validator' }).items.length === 0
    )
      return
    throw internalError(
      'failed calling webhook "virtualmachine-validator.kubevirt.io": failed to call webhook: no endpoints available for service "virt-api"',
    )
  })
}

function isServing(store: Store): boolean {
  const slices: readonly kube.EndpointSlice[] = store.list(kube.EndpointSlices, {
    labels: 'kubernetes.io/service-name=virt-api',
  }).items
  return slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false))
}

function evict(store: Store, { object, dryRun, user }: SubresourceCall): object {
  const pod = object as kube.Pod
  if (pod.metadata.labels?.['kubevirt.io'] === 'virt-launcher' && !isOver(pod))
    refuseLauncher(store, pod, dryRun)
  refuseDisruption(store, pod)
  if (!dryRun) store.remove(kube.Pods, pod.metadata, { user })
  return success
}

const overBudget = "Cannot evict pod as it would violate the pod's disruption budget."

function refuseLauncher(store: Store, pod: kube.Pod, dryRun: boolean): void {
  const vmi = instanceOf(store, pod)
  if (vmi === undefined) return
  const verdict = verdictOn(vmi)
  if (verdict.is === 'allowed') return
  if (verdict.evacuates && isElsewhere(vmi, pod)) throw new Refusal(429, 'TooManyRequests', overBudget)
  if (!dryRun && (verdict.evacuates || vmi.spec?.evictionStrategy === 'External'))
    markForEvacuation(store, vmi)
  const hook = 'virt-launcher-eviction-interceptor.kubevirt.io'
  throw new Refusal(429, 'TooManyRequests', `admission webhook "${hook}" denied the request: ${verdict.why}`)
}

/** A launcher that a migration goes to, or has left a moment ago: the instance's budget keeps it; facts 3.4. */
const isElsewhere = ({ status }: kube.Vmi, { spec }: kube.Pod): boolean => status?.nodeName !== spec?.nodeName

function instanceOf(store: Store, { metadata }: kube.Pod): kube.Vmi | undefined {
  const { namespace, annotations } = metadata
  return store.read(kube.Vmis, { name: annotations?.['kubevirt.io/domain'] ?? '', namespace })
}

function verdictOn(vmi: kube.Vmi): EvictionVerdict {
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  return evictionVerdict({ name: vmi.metadata.name, strategy: vmi.spec?.evictionStrategy, migratable })
}

/** The API server's own part: a budget that has no disruption left. */
function refuseDisruption(store: Store, { metadata }: kube.Pod): void {
  const { namespace, labels = {} } = metadata
  const budgets: readonly kube.PodDisruptionBudget[] = store.list(kube.PodDisruptionBudgets, {
    namespace,
  }).items
  for (const { spec } of budgets) {
    const wanted = Object.entries(spec?.selector?.matchLabels ?? {})
    if (!wanted.every(([key, value]) => labels[key] === value)) continue
    const pods: readonly kube.Pod[] = store.list(kube.Pods, {
      namespace,
      labels: asSelector(Object.fromEntries(wanted)),
    }).items
    const least = share(spec?.minAvailable, pods.length, 'up')
    if (pods.filter(isReady).length - 1 < least) throw new Refusal(429, 'TooManyRequests', overBudget)
  }
}

function markForEvacuation(store: Store, { metadata, status }: kube.Vmi): void {
  const body = { status: { evacuationNodeName: status?.nodeName } }
  store.patch(kube.Vmis, metadata, { type: 'merge', body }, { manager: 'virt-api' })
}

function change(
  store: Store,
  { object, dryRun }: SubresourceCall,
  stateChangeRequests: readonly StateChange[],
): object {
  const why = refusalOf(object, stateChangeRequests)
  if (why !== undefined) {
    const what = `virtualmachine.kubevirt.io "${object.metadata.name}"`
    throw new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${what}: ${why}`)
  }
  const body = { status: { stateChangeRequests } }
  store.patch(
    kube.Vms,
    object.metadata,
    { type: 'merge', body },
    { on: 'status', manager: 'virt-api', dryRun },
  )
  return success
}

/** Nothing that runs, or a run strategy that allows no restart (facts 5); in virt-api's own spelling (lab "Seen with workloads" 14). */
function refusalOf({ spec, status }: kube.Vm, requests: readonly StateChange[]): string | undefined {
  if (requests[0]?.action === 'Stop' && status?.created !== true) return 'VM is not running: Halted'
  const { runStrategy = '' } = spec ?? {}
  if (isUnderway(status)) return 'unable to complete request: stop/start already underway'
  const refused = requests.length === 2 && ['Halted', 'Once'].includes(runStrategy)
  return refused ? `RunStategy ${runStrategy} does not support manual restart requests` : undefined
}

const isUnderway = (status: object = {}): boolean => items(status, 'stateChangeRequests').length > 0

/** What the eviction webhook of virt-api makes of an eviction of a launcher: facts 3.4. */
type EvictionVerdict =
  | { is: 'allowed' }
  /** Denied with 429; `evacuates` when the instance is migrated away instead. */
  | { is: 'denied'; why: string; evacuates: boolean }

interface Evicted {
  name: string
  strategy: string | undefined
  migratable: boolean
}

/** Pure. */
export function evictionVerdict({ name, strategy = 'None', migratable }: Evicted): EvictionVerdict {
  const evacuation = `Eviction triggered evacuation of VMI "${name}"`
  if (strategy === 'External') return { is: 'denied', why: evacuation, evacuates: false }
  if (strategy === 'None') return { is: 'allowed' }
  if (migratable) return { is: 'denied', why: evacuation, evacuates: true }
  if (strategy === 'LiveMigrateIfPossible') return { is: 'allowed' }
  const why = `VMI ${name} is configured with an eviction strategy but is not live-migratable`
  return { is: 'denied', why, evacuates: false }
}

/** What the webhook of virt-api refuses to create: facts 3.3. */
function admitMigrations(store: Store): void {
  let known: KnownMigrations | undefined
  store.admission.add(({ operation, kind, object }) => {
    if (operation !== 'CREATE' || kind.kind !== kube.Migrations.kind) return
    known ??= knownMigrations(store)
    const why = migrationRefusal(store, object, known)
    if (why === undefined) return
    const hook = 'migration-create-validator.kubevirt.io'
    throw new Refusal(403, 'Forbidden', `admission webhook "${hook}" denied the request: ${why}`)
  })
}

/** From the first one on that is created: before, nobody may serve them. */
function knownMigrations(store: Store): KnownMigrations {
  const known = new KnownMigrations()
  for (const migration of store.list(kube.Migrations).items) known.take(migration, false)
  store.watch(kube.Migrations, ({ type, object }) => known.take(object, type === 'DELETED'))
  return known
}

function migrationRefusal(store: Store, { spec, metadata }: kube.Migration, known: KnownMigrations) {
  const { namespace } = metadata
  const name = spec?.vmiName ?? ''
  const vmi: kube.Vmi | undefined = store.read(kube.Vmis, { name, namespace })
  if (vmi === undefined) return `the VMI "${namespace}/${name}" does not exist`
  const migratable = condition(vmi, 'LiveMigratable')
  if (migratable?.status === 'False') {
    return `Cannot migrate VMI, Reason: ${migratable.reason}, Message: ${migratable.message}`
  }
  const [first] = known.openOf(keyOf({ namespace, name })).sort()
  const open = first === undefined ? undefined : known.open.get(first)
  return (
    open &&
    `in-flight migration detected. Active migration job (${open.metadata.uid}) is currently already in progress for VMI ${name}.`
  )
}
