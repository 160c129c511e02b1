import * as kube from '../kinds.ts'
import { internalError, Refusal } from '../api/api-refusal.ts'
import { same } from '../api/json.ts'
import { versionOf } from '../api/kinds/sim-kind.ts'
import type { Store } from '../api/store.ts'
import { between, control, foundIn } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { isReady } from '../machinery/owned-pods.ts'
import { caBundle } from '../virt-operator/managed-objects.ts'
import { type HyperConvergedFaults, hyperConvergedData, type Self } from './hyperconverged-context.ts'
import { names, shapeOf, upstreamMinor, virtualizationOf } from './hyperconverged-crd.ts'
import data from './hyperconverged.json' with { type: 'json' }

/** Own: which a change of the HyperConverged has to pass; tried: of the components that it is tried on. */
const { own, tried, unanswered } = data.webhooks

/**
 * The webhooks of HyperConverged (ocp 1.9): one fills evictionStrategy in (ocp 1.4), one admits a change of spec or annotations only after
 * dry runs against the components. Where a pod of theirs is missing or starts, they refuse, and a moment later they do not.
 */
export function serveHyperConvergedWebhook(
  store: Store,
  faults: Faults<HyperConvergedFaults>,
  namespace: string,
): void {
  const pods = (labels: string) => store.list(kube.Pods, { namespace, labels }).items as kube.Pod[]
  const why = (webhook: typeof own) => hyperConvergedData<string>(unanswered, { ...webhook, namespace })
  store.admission.add(({ kind, operation, write, object, before }) => {
    if (kind.plural !== 'hyperconvergeds' || operation === 'DELETE' || write.on === 'status') return
    const lost = faults.on.changesRefused
    if (lost === 'nobody-answers' || !pods(own.pods).some(isReady)) throw internalError(why(own))
    fillEvictionStrategy(object, before)
    if (!asksComponents(object, before)) return
    const starting = tried.find((one) => !isServing(pods(one.pods)))
    const down = lost === 'dry-run-fails' ? tried[0] : starting
    if (!down) return
    const denied = `admission webhook "${own.webhook}" denied the request: Internal error occurred: ${why(down)}`
    throw new Refusal(403, 'Forbidden', denied)
  })
}

function isServing(pods: readonly kube.Pod[]): boolean {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return staying.length > 0 && staying.every(isReady)
}

const asksComponents = (object: kube.HyperConverged, before: kube.HyperConverged | undefined): boolean =>
  before === undefined ||
  !same(object.spec ?? {}, before.spec ?? {}) ||
  !same(object.metadata.annotations ?? {}, before.metadata.annotations ?? {})

/** LiveMigrate where the cluster is highly available, as soon as that is known, None on a single node (hco 9). */
function fillEvictionStrategy(object: kube.HyperConverged, before: kube.HyperConverged | undefined): void {
  const available = before?.status?.infrastructureHighlyAvailable
  const virtualization = virtualizationOf(object)
  if (available === undefined || virtualization['evictionStrategy'] !== undefined) return
  const filled = { ...virtualization, evictionStrategy: available ? 'LiveMigrate' : 'None' }
  const isBelow = versionOf(object.apiVersion) === 'v1'
  object.spec = isBelow ? { ...object.spec, virtualization: filled } : filled
  object.metadata.generation = (before?.metadata.generation ?? 1) + 1
}

/** The process of an hco-webhook pod: from 1.18 on puts its conversion into the CRD, which OLM replaces without it (hco 8). */
export function runConversion(cx: Self): Promise<void> {
  const ref = { name: names.definition }
  const { namespace, version } = cx.self
  return control(cx, [{ kind: kube.CustomResourceDefinitions, where: ref }], async () => {
    const found = foundIn(await cx.reader.get(kube.CustomResourceDefinitions, ref))
    if (found === undefined || upstreamMinor(version) < 18) return
    const { served, conversion } = shapeOf(found)
    const wanted = cx.faults.on.conversionLost === true || served.length === 1 ? 'None' : 'Webhook'
    if (conversion === wanted) return
    await cx.clock.sleep(between(cx.random, 2000, 4000), cx.signal)
    const byWebhook = hyperConvergedData<object>(data.conversion, { namespace, caBundle })
    const none = { strategy: 'None', webhook: null }
    const spec = { conversion: wanted === 'None' ? none : byWebhook }
    await cx.writer.mergePatch(kube.CustomResourceDefinitions, ref, { spec })
  })
}
