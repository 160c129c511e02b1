import type { Cause } from './pod-trouble.ts'
import { isTerminal } from './diagnosis.ts'
import { earliest } from '../../kube/timestamps.ts'
import { isOperand, operatorName } from '../installed-components.ts'
import type { RolloutStatus, Verdict } from '../rollout-status.ts'
import { vmCauses, type VmTroubles } from './vm-troubles.ts'
import { type SilentLease, silentLeaseCause } from '../lease-holders.ts'
import type { Reader } from '../../kube/cluster.ts'
import { type EndpointSlice, EndpointSlices } from '../../kube/kinds/core-kinds.ts'
import {
  type ApiService,
  ApiServices,
  MutatingWebhooks,
  ValidatingWebhooks,
  type WebhookConfiguration,
} from '../../kube/kinds/extension-kinds.ts'
import { condition, type KubeObject } from '../../kube/object.ts'
import { endpointsLine, shellWord } from '../../kube/shell-line.ts'
import { shorten } from '../../kube/text.ts'
import { itemsOf, type Known, known } from '../../kube/known.ts'

/**
 * What KubeVirt's own conditions do not tell of it: whether its leaders live, and whether somebody answers behind its APIs and webhooks. virt-operator
 * that is dead goes on being `Available=True`, for only it could say otherwise.
 */
export interface Health {
  /** Absent where it was not asked for. */
  answers?: Answers
  leases: readonly SilentLease[]
  /** A saved cluster need not hold what lies beyond KubeVirt: what it does not hold is no news. */
  saved?: true
  /** Absent where they were not looked at. */
  vms?: VmTroubles
}

/**
 * The rollout status with what else was measured. A leader that is gone is Degraded unless the pods of it tell why already; without virt-operator an update that
 * is under way is Stalled. An
 * API that nobody answers is part of every roll of virt-api: it counts once nothing is under way, after 15 s. Pure.
 */
export function withHealth(judged: RolloutStatus, health: Health, at: Date): RolloutStatus {
  const dead = health.leases.filter(({ name }) => !isReplaced(judged, name)).map(silentLeaseCause)
  const silent = health.answers ? silentAnswers(health.answers) : []
  const unread = health.answers && !health.saved ? answersUnread(health.answers) : []
  const rest = { ...judged, remarks: [...judged.remarks, ...unread] }
  const idle = health.vms ? vmCauses(health.vms, at) : []
  const faults = [...dead, ...silent, ...idle]
  const [first] = faults
  if (first === undefined) return rest
  const verdict = verdictWith(judged, { dead, silent: [...silent, ...idle] }, at)
  const why = [...dead, ...judged.why, ...silent, ...idle]
  return {
    ...rest,
    verdict,
    why,
    waitingFor: judged.waitingFor ?? waitedFor(first),
    ...(verdict !== judged.verdict && sinceOf(faults)),
  }
}

/** While its pods are replaced nobody leads for as long as the new ones take to start, and these tell why. */
function isReplaced({ operator, components }: RolloutStatus, name: string): boolean {
  const part = name === operatorName ? operator : components.find((component) => component.name === name)
  return part?.rolled === false
}

function verdictWith(
  { verdict, why, since }: RolloutStatus,
  { dead, silent }: Record<'dead' | 'silent', readonly Cause[]>,
  at: Date,
): Verdict {
  const explained = verdict === 'Stalled' && why.some((cause) => isTerminal(cause, at))
  // What is under way goes no further without virt-operator; virt-controller has no part in it.
  if (
    verdict !== 'Healthy' &&
    verdict !== 'Degraded' &&
    dead.some(({ component }) => component === operatorName)
  )
    return 'Stalled'
  if (dead.length > 0) return explained ? verdict : 'Degraded'
  if (verdict !== 'Healthy') return verdict
  // Endpoints do not say since when they are gone: not longer than everything else has been at rest.
  const dated = silent.map((cause) => ({ ...(since !== undefined && { since }), ...cause }))
  return dated.some((cause) => isTerminal(cause, at)) ? 'Degraded' : 'Updating'
}

function waitedFor({ kind, component }: Cause): string {
  if (kind === 'vms') return 'VMs that should run'
  if (kind === 'lease') return `${component} to renew its Lease`
  return `Service ${component} to answer`
}

function sinceOf(faults: readonly Cause[]): Pick<RolloutStatus, 'since'> {
  const from = earliest(faults.map(({ since }) => since))
  return from === undefined ? {} : { since: from }
}

/** What the API server hands on to KubeVirt, and whether somebody is there to answer. */
interface Answers {
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
function silentAnswers(answers: Answers): readonly Cause[] {
  return [...unavailable(answers), ...unanswered(answers)]
}

/** Why something of it was not looked at, in words. */
function answersUnread({ apiServices, webhooks, endpoints }: Answers): readonly string[] {
  const parts = [
    ['whether the APIs of KubeVirt answer', apiServices],
    ['whether the webhooks of KubeVirt can answer', webhooks],
    ['whether each webhook has a pod', endpoints],
  ] as const
  return parts.flatMap(([what, part]) => (part.known ? [] : [`not checked ${what}: ${part.why}`]))
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

const grouped = <T>(items: readonly T[], keyOf: (item: T) => string) =>
  [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][]

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
    sentence: `no answer from ${named}: ${message}`,
    commands:
      kind === 'api'
        ? apiServiceRemedy({ name: objects[0] ?? '', service, message, namespace })
        : webhookHealth(silent, namespace),
  }
}

interface SilentApi {
  /** Of the APIService. */
  name: string
  service: string
  namespace: string
  /** What its condition says. */
  message: string
}

/** What to type where nobody answers behind an APIService: by what the API server says of it, the certificate or the endpoints. */
export const apiServiceRemedy = ({ name, service, namespace, message }: SilentApi): readonly string[] => [
  `kubectl describe apiservice ${shellWord(name)}`,
  ...(isOfCertificate(message)
    ? certificateHealth(service, { namespace: shellWord(namespace), isExpired: isExpired(message) })
    : [endpointsLine(service, namespace)]),
]

const isOfCertificate = (message: string): boolean => /x509|certificate/iu.test(message)
/** Not one that is not valid yet: both are told by the same words, with the two times in their order. */
const isExpired = (message: string): boolean =>
  /certificate has expired or is not yet valid: current time \S+ is after /iu.test(message)

/**
 * virt-operator renews the certificates; virt-api's lies in a Secret of this name (facts 2.10). Its pods were seen to go on with an expired one for days while the
 * Secret had a new one (kubevirt issue 15210): they read it anew when they are replaced.
 */
function certificateHealth(
  service: string,
  { namespace, isExpired: hasEnded }: { namespace: string; isExpired: boolean },
): readonly string[] {
  const ends = `kubectl -n ${namespace} get secret kubevirt-virt-api-certs -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -enddate     says when the one in the Secret ends`
  const anew = `kubectl -n ${namespace} delete pods -l kubevirt.io=virt-api     where the Secret's ends later: virt-api goes on with an older one until its pods are replaced`
  return [
    ...(service === 'virt-api' ? [ends] : []),
    ...(service === 'virt-api' && hasEnded ? [anew] : []),
    `kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20     renews certificates`,
  ]
}

function webhookHealth({ service }: Silent, namespace: string): readonly string[] {
  return [endpointsLine(service, namespace), `kubectl -n ${namespace} get pods -l kubevirt.io -o wide`]
}

interface ReadyEndpoints {
  service: string
  ready: number
}

/** By Service; an endpoint that is in several slices (IPv4 and IPv6) counts once, one that does not say is ready. */
export function readyEndpoints(slices: readonly EndpointSlice[]): ReadyEndpoints[] {
  const services = new Map<string, Set<string>>()
  for (const { metadata, endpoints } of slices) {
    const service = metadata.labels?.['kubernetes.io/service-name']
    if (service === undefined) continue
    const ready = services.get(service) ?? new Set()
    services.set(service, ready)
    for (const endpoint of endpoints ?? [])
      if (endpoint.conditions?.ready !== false) ready.add(nameOf(endpoint))
  }
  return [...services].map(([service, ready]) => ({ service, ready: ready.size }))
}

function nameOf({ targetRef, addresses }: NonNullable<EndpointSlice['endpoints']>[number]): string {
  return targetRef?.uid ?? targetRef?.name ?? addresses?.join() ?? ''
}
