import type { Webhook, WebhookConfiguration } from '../../cluster/kinds/extension.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { caBundle } from './ca-bundle.ts'

/** A webhook of KubeVirt that refuses what it covers while it cannot be called. */
interface Gate {
  configuration: WebhookConfiguration
  webhook: Webhook
  service: string
}

/** Facts 1.7, 2.10: all of KubeVirt's fail closed, the interceptor of evictions included, which blocks drains. */
export const webhooksAnswering: Check = {
  id: 'webhooks-answering',
  group: 'machinery',
  title: 'the webhooks that must answer have a ready endpoint and a CA',
  needs: ['webhooks', 'endpoints'],
  blocks: true,
  assess: (question) => [...gatesByFault(question)].map(([fault, gates]) => finding(fault, gates, question)),
}

/** One line for ten webhooks of the same configuration with the same fault. */
function gatesByFault({ evidence, installation, standing }: Question): Map<string, readonly Gate[]> {
  const ready = new Map(itemsOf(evidence.endpoints).map((item) => [item.service, item.ready]))
  const byFault = new Map<string, Gate[]>()
  const configurations = itemsOf(evidence.webhooks).filter((item) => !isBarrier(item, standing))
  for (const gate of configurations.flatMap((item) => gatesOf(item, installation.namespace))) {
    const fault = faultOf(gate, ready)
    if (fault === undefined) continue
    const key = `${gate.configuration.kind} ${gate.configuration.metadata.name} ${fault}`
    byFault.set(key, [...(byFault.get(key) ?? []), gate])
  }
  return byFault
}

/** Nobody is to answer it: until virt-api is new, it keeps objects of kinds out that only the new one can judge (facts 2.5). */
function isBarrier({ metadata }: WebhookConfiguration, { verdict }: Question['standing']): boolean {
  return isTemporary(metadata.name) && (verdict === 'Updating' || verdict === 'Stalled')
}

const isTemporary = (name: string) => name.startsWith('virt-operator-tmp-webhook')

/** A policy that is not set is Fail since admissionregistration.k8s.io/v1. */
function gatesOf(configuration: WebhookConfiguration, namespace: string): Gate[] {
  return (configuration.webhooks ?? []).flatMap((webhook) => {
    const service = webhook.clientConfig?.service
    const counts = webhook.failurePolicy !== 'Ignore' && service?.namespace === namespace
    return counts ? [{ configuration, webhook, service: service.name }] : []
  })
}

function faultOf({ webhook, service }: Gate, ready: ReadonlyMap<string, number>): string | undefined {
  if (!ready.get(service)) return `calls service ${service}, which has no ready endpoint`
  const bundle = caBundle(webhook.clientConfig?.caBundle)
  if (bundle.is === 'missing') return 'has no caBundle, so the API server cannot trust the answer'
  return bundle.is === 'invalid' ? `has a caBundle that cannot be used: ${bundle.why}` : undefined
}

function finding(fault: string, gates: readonly Gate[], { installation: { namespace } }: Question): Finding {
  const [gate] = gates
  return {
    id: 'webhooks-answering',
    level: 'blocker',
    summary: `${fault}: what it covers is refused`,
    objects: gates.map(({ webhook }) => webhook.name),
    remedy: gate ? remedyFor(gate, namespace) : [],
  }
}

/** The one that the operator leaves behind answers nobody and is not needed any more (night U5). */
function remedyFor({ configuration, service }: Gate, namespace: string): string[] {
  const { kind, metadata } = configuration
  const object = `${kind.toLowerCase()} ${metadata.name}`
  return isTemporary(metadata.name)
    ? [`kubectl delete ${object}`]
    : [
        `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${service}`,
        `kubectl get ${object} -o yaml`,
      ]
}
