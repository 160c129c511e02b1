import type { Reader } from '../../cluster/cluster.ts'
import { EndpointSlices } from '../../cluster/kinds/endpoint-slices.ts'
import {
  type ApiService,
  ApiServices,
  MutatingWebhooks,
  ValidatingWebhooks,
  type WebhookConfiguration,
} from '../../cluster/kinds/extension.ts'
import { condition, type KubeObject } from '../../cluster/object.ts'
import { shorten } from '../../system/shorten.ts'
import type { Cause } from '../cause.ts'
import { earliest } from '../elapsed.ts'
import { itemsOf, type Known, known } from '../known.ts'
import { type ReadyEndpoints, readyEndpoints } from '../ready-endpoints.ts'
import { isOperand } from '../stamps.ts'

/** What the API server hands on to KubeVirt, and whether somebody is there to answer. */
export interface Answers {
  /** KubeVirt's namespace. */
  namespace: string
  /** Those that lead into that namespace. */
  apiServices: Known<ApiService>
  /** Those that call into that namespace. */
  webhooks: Known<WebhookConfiguration>
  /** Services of that namespace. */
  endpoints: Known<ReadyEndpoints>
}

/** Four lists at one time; what may not be read is unknown. Throws any other ApiError. */
export async function takeAnswers(reader: Reader, namespace: string): Promise<Answers> {
  const [apiServices, webhooks, endpoints] = await Promise.all([
    known(servicesInto(reader, namespace)),
    known(webhooksInto(reader, namespace)),
    known(reader.list(EndpointSlices, { namespace }).then(readyEndpoints)),
  ])
  return { namespace, apiServices, webhooks, endpoints }
}

async function servicesInto(reader: Reader, namespace: string): Promise<ApiService[]> {
  const all = await reader.list(ApiServices)
  return all.filter(({ spec }) => spec?.service?.namespace === namespace)
}

/** Validating and mutating ones that call a service of this namespace. Throws ApiError. */
export async function webhooksInto(reader: Reader, namespace: string): Promise<WebhookConfiguration[]> {
  const all = await Promise.all([reader.list(ValidatingWebhooks), reader.list(MutatingWebhooks)])
  return all
    .flat()
    .filter(({ webhooks = [] }) => webhooks.some((w) => w.clientConfig?.service?.namespace === namespace))
}

/**
 * One cause for all APIs, and one for all webhooks, that cannot be answered for one reason. By where they lead, and not by their names: a component that nobody
 * has heard of has to answer too. HyperConverged puts others' operators (CDI) into the same namespace, and theirs say who manages them.
 */
export function silentAnswers(answers: Answers): readonly Cause[] {
  return [...unavailable(answers), ...unanswered(answers)]
}

/** Why something of it was not looked at, in words. */
export function answersUnread({ apiServices, webhooks, endpoints }: Answers): readonly string[] {
  const parts = [
    ['whether the APIs of KubeVirt answer', apiServices],
    ['whether the webhooks of KubeVirt can answer', webhooks],
    ['whether a pod is behind each webhook', endpoints],
  ] as const
  return parts.flatMap(([what, part]) => (part.known ? [] : [`${what} was not looked at: ${part.why}`]))
}

function isOfKubeVirt(object: KubeObject): boolean {
  return isOperand(object) || object.metadata.labels?.['app.kubernetes.io/managed-by'] === undefined
}

interface Silent {
  /** `apiservice/v1.subresources.kubevirt.io` */
  objects: readonly string[]
  service: string
  reason: string
  message: string
  since?: string | undefined
}

function unavailable({ apiServices, namespace }: Answers): readonly Cause[] {
  const found = itemsOf(apiServices)
    .filter(isOfKubeVirt)
    .flatMap((service) => {
      const said = condition(service, 'Available')
      if (said === undefined || said.status === 'True') return []
      const { reason = 'Unknown', message = reason, lastTransitionTime } = said
      const object = service.metadata.name
      // The path of each API's own probe is the one thing that differs between two versions of it.
      const key = message.replaceAll(/https:\/\/[^\s:]+:\d+\/\S*?(?=:? )/gu, 'it')
      return [
        { object, key, service: service.spec?.service?.name ?? '', reason, message, at: lastTransitionTime },
      ]
    })
  return grouped(found, ({ service, reason, key }) => JSON.stringify([service, reason, key])).map((group) => {
    const [{ service, reason, message }] = group
    const objects = group.map(({ object }) => object)
    const from = earliest(group.map(({ at }) => at))
    return causeOf('api', { objects, service, reason, message: shorten(message), since: from }, namespace)
  })
}

function unanswered({ webhooks, endpoints, namespace }: Answers): readonly Cause[] {
  if (!endpoints.known) return []
  const ready = new Map(endpoints.items.map((item) => [item.service, item.ready]))
  const found = itemsOf(webhooks)
    .filter((configuration) => isOfKubeVirt(configuration) && !isBarrier(configuration))
    .flatMap((configuration) =>
      servicesOf(configuration, namespace).map((service) => ({ configuration, service })),
    )
    .filter(({ service }) => !ready.get(service))
  return grouped(found, ({ service }) => service).map((group) => {
    const [{ service }] = group
    const objects = [...new Set(group.map(({ configuration: { metadata } }) => metadata.name))]
    const message = `Service ${service} has no ready endpoint`
    return causeOf('webhook-silent', { objects, service, reason: 'NoReadyEndpoints', message }, namespace)
  })
}

/** It keeps objects of new kinds out until virt-api is new, and nobody is to answer it (facts 2.5). */
const isBarrier = ({ metadata }: KubeObject): boolean => metadata.name.startsWith('virt-operator-tmp-webhook')

/** Of those that refuse what they cover while nobody answers: a policy that is not set is Fail. */
function servicesOf({ webhooks = [] }: WebhookConfiguration, namespace: string): readonly string[] {
  const called = webhooks.flatMap(({ failurePolicy, clientConfig }) => {
    const service = clientConfig?.service
    return failurePolicy !== 'Ignore' && service?.namespace === namespace ? [service.name] : []
  })
  return [...new Set(called)]
}

type Group<T> = readonly [T, ...T[]]

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): readonly Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return [...groups.values()]
}

function causeOf(kind: 'api' | 'webhook-silent', silent: Silent, namespace: string): Cause {
  const { objects, service, reason, message, since } = silent
  const many = objects.length > 1
  const what = kind === 'api' ? 'APIService' : 'webhook configuration'
  const named = `${what}${many ? 's' : ''} ${objects.join(', ')}`
  return {
    kind,
    component: service,
    reason,
    terminal: true,
    namespace,
    pods: [],
    nodes: [],
    message,
    ...(since !== undefined && { since }),
    sentence: `nobody answers for ${named}: ${message}`,
    look: kind === 'api' ? apiLook(silent, namespace) : webhookLook(silent, namespace),
  }
}

function apiLook({ objects: [first], service, message }: Silent, namespace: string): readonly string[] {
  return [
    `kubectl describe apiservice ${first}`,
    ...(isOfCertificate(message) ? certificateLook(service, namespace) : [slices(service, namespace)]),
  ]
}

const isOfCertificate = (message: string): boolean => /x509|certificate/iu.test(message)

/** virt-operator renews the certificates; virt-api's lies in a Secret of this name (facts 2.10). */
function certificateLook(service: string, namespace: string): readonly string[] {
  const ends = `kubectl -n ${namespace} get secret kubevirt-virt-api-certs -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -enddate     says when it ends`
  return [
    ...(service === 'virt-api' ? [ends] : []),
    `kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20     renews certificates`,
  ]
}

function webhookLook({ service }: Silent, namespace: string): readonly string[] {
  return [slices(service, namespace), `kubectl -n ${namespace} get pods -l kubevirt.io -o wide`]
}

const slices = (service: string, namespace: string): string =>
  `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${service}`
