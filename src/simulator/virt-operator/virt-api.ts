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

/** What virt-api answers: restart, start and stop of VMs, its word on evictions of launchers and on new VMs and migrations. */
export function serveVirtApi(store: Store): void {
  store.onSubresource(kube.Pods, 'eviction', (call) => evict(store, call))
  admitMigrations(store)
  serveAggregated(store)
  admitVms(store)
  const changes = { restart: ['Stop', 'Start'], start: ['Start'], stop: ['Stop'] } as const
  for (const [name, actions] of Object.entries(changes))
    store.onSubresource(kube.Vms, name, (call) =>
      change(
        store,
        call,
        actions.map((action) => ({ action })),
      ),
    )
}

/** Its discovery and its version, while a pod of it is ready: everybody who is logged in may ask for both. */
function serveAggregated(store: Store): void {
  const resources = ['restart', 'start', 'stop'].map((name) => ({
    name: `virtualmachines/${name}`,
    singularName: '',
    namespaced: true,
    kind: '',
    verbs: ['put'],
  }))
  for (const version of ['v1', 'v1alpha3']) {
    const groupVersion = `subresources.kubevirt.io/${version}`
    const serve = (path: string, answer: object) =>
      store.aggregated.set(`/apis/${groupVersion}${path}`, () => {
        if (isServing(store)) return answer
        const message = 'error trying to reach service: dial tcp: connection refused'
        throw new Refusal(503, 'ServiceUnavailable', message)
      })
    serve('', { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources })
    serve('/version', { gitVersion: 'simulated' })
  }
}

/** Its webhook for VMs has failurePolicy Fail: without it nobody makes one. */
function admitVms(store: Store): void {
  const isAsked = () =>
    store.read(kube.ValidatingWebhooks, { name: 'virt-api-validator' }) !== undefined && !isServing(store)
  store.admission.add(({ operation, kind }) => {
    if (operation === 'CREATE' && kind.kind === kube.Vms.kind && isAsked())
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

function refuseLauncher(store: Store, { metadata, spec }: kube.Pod, dryRun: boolean): void {
  const { namespace, annotations } = metadata
  const vmi: kube.Vmi | undefined = store.read(kube.Vmis, {
    name: annotations?.['kubevirt.io/domain'] ?? '',
    namespace,
  })
  if (vmi === undefined) return
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  const strategy = vmi.spec?.evictionStrategy
  const verdict = evictionVerdict({ name: vmi.metadata.name, strategy, migratable })
  if (verdict.is === 'allowed') return
  // A launcher that a migration goes to, or has left a moment ago: the instance's budget keeps it; facts 3.4.
  if (verdict.evacuates && vmi.status?.nodeName !== spec?.nodeName)
    throw new Refusal(429, 'TooManyRequests', overBudget)
  const body = { status: { evacuationNodeName: vmi.status?.nodeName } }
  if (!dryRun && (verdict.evacuates || strategy === 'External'))
    store.patch(kube.Vmis, vmi.metadata, { type: 'merge', body }, { manager: 'virt-api' })
  throw denied(429, 'TooManyRequests', 'virt-launcher-eviction-interceptor', verdict.why)
}

const denied = (code: number, reason: string, hook: string, why: string): Refusal =>
  new Refusal(code, reason, `admission webhook "${hook}.kubevirt.io" denied the request: ${why}`)

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

function change(
  store: Store,
  { object, dryRun }: SubresourceCall,
  stateChangeRequests: readonly StateChange[],
): object {
  const { metadata } = object
  const why = refusalOf(object, stateChangeRequests)
  const what = `virtualmachine.kubevirt.io "${metadata.name}"`
  if (why !== undefined)
    throw new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${what}: ${why}`)
  const body = { status: { stateChangeRequests } }
  const write = { on: 'status', manager: 'virt-api', dryRun } as const
  store.patch(kube.Vms, metadata, { type: 'merge', body }, write)
  return success
}

/** Nothing that runs, or a run strategy that allows no restart (facts 5); in virt-api's own spelling (lab "Seen with workloads" 14). */
function refusalOf({ spec, status }: kube.Vm, requests: readonly StateChange[]): string | undefined {
  if (requests[0]?.action === 'Stop' && status?.created !== true) return 'VM is not running: Halted'
  const { runStrategy = '' } = spec ?? {}
  if (items(status, 'stateChangeRequests').length > 0)
    return 'unable to complete request: stop/start already underway'
  const refused = requests.length === 2 && ['Halted', 'Once'].includes(runStrategy)
  return refused ? `RunStategy ${runStrategy} does not support manual restart requests` : undefined
}

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
    if (why !== undefined) throw denied(403, 'Forbidden', 'migration-create-validator', why)
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
