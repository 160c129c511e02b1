import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import type { HyperConverged } from '../../lib/kube/kinds/operator-kinds.ts'
import { same } from '../api/json.ts'
import { versionOf } from '../api/kinds/sim-kind.ts'
import { internalError, Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { isReady } from '../machinery/owned-pods.ts'
import { type HyperConvergedFaults, pollEvery, type Self } from './hyperconverged-context.ts'
import { names, podNames, shapeOf, upstreamMinor, virtualizationOf } from './hyperconverged-crd.ts'
import { CustomResourceDefinitions } from '../../lib/kube/kinds/extension-kinds.ts'
import { between, control } from '../machinery/controller.ts'
import { caBundle } from '../virt-operator/managed-objects.ts'

/** A webhook that a change of the HyperConverged has to pass. */
interface Asked {
  webhook: string
  service: string
  /** Where it is called: `443/kubevirt-validate-update`. */
  path: string
  pods: string
}

const own: Asked = {
  webhook: 'validate-hco.kubevirt.io',
  service: 'hco-webhook-service',
  path: '4343/validate-hco-kubevirt-io-v1beta1-hyperconverged',
  pods: `name=${podNames.webhook}`,
}

/** Of the components that the change is tried on. */
const tried: readonly Asked[] = [
  {
    webhook: 'kubevirt-update-validator.kubevirt.io',
    service: 'kubevirt-operator-webhook',
    path: '443/kubevirt-validate-update',
    pods: 'kubevirt.io=virt-operator',
  },
  {
    webhook: 'validation.ssp.kubevirt.io',
    service: 'ssp-operator-service',
    path: '9443/validate-ssp-kubevirt-io-v1beta3-ssp',
    pods: 'name=ssp-operator',
  },
]

/**
 * The webhooks of HyperConverged (ocp 1.9): one fills evictionStrategy in (ocp 1.4), one admits a change of spec or annotations only after
 * dry runs against the components. Where a pod of theirs is missing or starts, they refuse, and a moment later they do not.
 */
export function serveHyperConvergedWebhook(
  store: Store,
  faults: Faults<HyperConvergedFaults>,
  namespace: string,
): void {
  const pods = (labels: string) => store.list(Pods, { namespace, labels }).items as Pod[]
  store.admission.add(({ kind, operation, write, object, before }) => {
    if (kind.plural !== 'hyperconvergeds' || operation === 'DELETE' || write.on === 'status') return
    const lost = faults.on.changesRefused
    if (lost === 'nobody-answers' || !pods(own.pods).some(isReady))
      throw internalError(unanswered(own, namespace))
    fillEvictionStrategy(object, before)
    if (!asksComponents(object, before)) return
    const starting = tried.find((asked) => !isServing(pods(asked.pods)))
    const down = lost === 'dry-run-fails' ? tried[0] : starting
    if (down) throw denied(unanswered(down, namespace))
  })
}

function isServing(pods: readonly Pod[]): boolean {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return staying.length > 0 && staying.every(isReady)
}

function asksComponents(object: HyperConverged, before: HyperConverged | undefined): boolean {
  if (before === undefined) return true
  return (
    !same(object.spec ?? {}, before.spec ?? {}) ||
    !same(object.metadata.annotations ?? {}, before.metadata.annotations ?? {})
  )
}

const unanswered = ({ webhook, service, path }: Asked, namespace: string): string =>
  `failed calling webhook "${webhook}": failed to call webhook: Post "https://${service}.${namespace}.svc:${path}?timeout=10s": no endpoints available for service "${service}"`

function denied(why: string): Refusal {
  const message = `admission webhook "${own.webhook}" denied the request: Internal error occurred: ${why}`
  return new Refusal(403, 'Forbidden', message)
}

/** LiveMigrate where the cluster is highly available, as soon as that is known, None on a single node (hco 9). */
function fillEvictionStrategy(object: HyperConverged, before: HyperConverged | undefined): void {
  const available = before?.status?.infrastructureHighlyAvailable
  if (available === undefined || virtualizationOf(object)['evictionStrategy'] !== undefined) return
  const filled = { ...virtualizationOf(object), evictionStrategy: available ? 'LiveMigrate' : 'None' }
  const isBelow = versionOf(object.apiVersion) === 'v1'
  object.spec = isBelow ? { ...object.spec, virtualization: filled } : filled
  object.metadata.generation = (before?.metadata.generation ?? 1) + 1
}

/** The process of an hco-webhook pod: from 1.18 on puts its conversion into the CRD, which OLM replaces without it (hco 8). */
export function runConversion(cx: Self): Promise<void> {
  const ref = { name: names.definition }
  return control(cx, [{ kind: CustomResourceDefinitions, where: ref }], async () => {
    const found = await cx.reader.get(CustomResourceDefinitions, ref)
    if (found.is !== 'object' || upstreamMinor(cx.self.version) < 18) return pollEvery
    const { served, conversion } = shapeOf(found.object)
    const wanted = cx.faults.on.conversionLost === true || served.length === 1 ? 'None' : 'Webhook'
    if (conversion === wanted) return pollEvery
    await cx.clock.sleep(between(cx.random, 2000, 4000), cx.signal)
    const spec = { conversion: wanted === 'None' ? none : byWebhook(cx.self.namespace) }
    await cx.writer.mergePatch(CustomResourceDefinitions, ref, { spec })
    return pollEvery
  })
}

const none = { strategy: 'None', webhook: null }

const byWebhook = (namespace: string) => ({
  strategy: 'Webhook',
  webhook: {
    clientConfig: {
      service: { namespace, name: 'hco-webhook-service', path: '/convert', port: 4343 },
      caBundle,
    },
    conversionReviewVersions: ['v1'],
  },
})
