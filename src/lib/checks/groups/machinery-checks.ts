import type { ApiService, Webhook, WebhookConfiguration } from '../../kube/kinds/extension-kinds.ts'
import { condition } from '../../kube/object.ts'
import { itemsOf } from '../../kube/known.ts'
import { type Check, type Question, checksOf, type Found } from '../check-definition.ts'
import { spanText } from '../../kube/duration.ts'
import { X509Certificate } from 'node:crypto'
import type { Lease } from '../../kube/kinds/core-kinds.ts'
import { holds, type SilentLease } from '../../kubevirt/lease-holders.ts'
import { since } from '../../kube/timestamps.ts'
import { apiServiceRemedy } from '../../kubevirt/diagnosis/health.ts'
import { clockSkew as inWords } from '../../kube/clock.ts'
import { endpointsLine, shellWord, withPurpose } from '../../kube/shell-line.ts'

const machineryCheck = checksOf('machinery')

/** Without it restarts fail, namespaces do not end, discovery is stale (facts 2.10 and 8: #9905, #9725). */
export const apiServices = machineryCheck('api-services', {
  title: 'the APIs that KubeVirt adds are available',
  unchecked: 'the APIs that KubeVirt adds were not checked',
  needs: ['apiServices'],
  blocks: true,
  assess: ({ snapshot }) => itemsOf(snapshot.apiServices).filter(isUnavailable).map(apiServiceFinding),
})

/** One that the API server answers itself has no service and cannot be unavailable. */
function isUnavailable(service: ApiService): boolean {
  return Boolean(service.spec?.service) && condition(service, 'Available')?.status !== 'True'
}

function apiServiceFinding(service: ApiService): Found {
  const { metadata, spec } = service
  const said = condition(service, 'Available')
  const why = said?.message ?? said?.reason ?? 'it has no condition yet'
  return {
    level: 'blocker',
    summary: `APIService ${metadata.name} is not available: ${why}`,
    objects: [`apiservice/${metadata.name}`],
    remedy: apiServiceRemedy({
      name: metadata.name,
      service: spec?.service?.name ?? '',
      namespace: spec?.service?.namespace ?? '',
      message: why,
    }),
  }
}

/** A webhook of KubeVirt that refuses what it covers while it cannot be called. */
interface Gate {
  configuration: WebhookConfiguration
  webhook: Webhook
  service: string
}

/** All of KubeVirt's fail closed, the interceptor of evictions included, which blocks drains (facts 1.7, 2.10). */
export const webhooksAnswering = machineryCheck('webhooks-answering', {
  title: 'the webhooks that must answer have a ready endpoint and a CA',
  unchecked: 'webhooks were not checked',
  needs: ['webhooks', 'endpoints'],
  blocks: true,
  assess: (question) =>
    [...gatesByFault(question)].map(([fault, gates]) => webhookFinding(fault, gates, question)),
})

/** One line for ten webhooks of the same configuration with the same fault. */
function gatesByFault({ snapshot, installation, rolloutStatus }: Question): Map<string, readonly Gate[]> {
  const ready = new Map(itemsOf(snapshot.endpoints).map((item) => [item.service, item.ready]))
  const byFault = new Map<string, Gate[]>()
  const configurations = itemsOf(snapshot.webhooks).filter((item) => !isBarrier(item, rolloutStatus))
  for (const gate of configurations.flatMap((item) => gatesOf(item, installation.namespace))) {
    const fault = webhookFault(gate, ready)
    if (fault === undefined) continue
    const key = `${gate.configuration.kind} ${gate.configuration.metadata.name} ${fault}`
    byFault.set(key, [...(byFault.get(key) ?? []), gate])
  }
  return byFault
}

/** Nobody is to answer it: until virt-api is new, it keeps objects of kinds out that only the new one can judge (facts 2.5). */
function isBarrier({ metadata }: WebhookConfiguration, { verdict }: Question['rolloutStatus']): boolean {
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

function webhookFault({ webhook, service }: Gate, ready: ReadonlyMap<string, number>): string | undefined {
  if (!ready.get(service)) return `calls service ${service}, which has no ready endpoint`
  const bundle = caBundle(webhook.clientConfig?.caBundle)
  if (bundle.is === 'missing') return 'has no caBundle, so the API server cannot trust the answer'
  return bundle.is === 'invalid' ? `has a caBundle that cannot be used: ${bundle.why}` : undefined
}

function webhookFinding(
  fault: string,
  gates: readonly Gate[],
  { installation: { namespace } }: Question,
): Found {
  const [gate] = gates
  return {
    level: 'blocker',
    summary: `${fault}: the API server refuses what it covers`,
    objects: gates.map(({ webhook }) => webhook.name),
    remedy: gate ? remedyFor(gate, namespace) : [],
  }
}

/** The one that the operator leaves behind answers nobody and is not needed any more (night U5). */
function remedyFor({ configuration, service }: Gate, namespace: string): string[] {
  const { kind, metadata } = configuration
  const object = `${kind.toLowerCase()} ${shellWord(metadata.name)}`
  const shown = `kubectl get ${object} -o yaml`
  return isTemporary(metadata.name)
    ? [withPurpose(shown, 'shows it; nothing is lost when it is deleted: virt-operator left it behind')]
    : [endpointsLine(service, namespace), shown]
}

const days = 86_400_000
/** virt-operator renews when a fifth of the life is left (facts 1.1); of a CA that lives for years the last month counts. */
const late = { share: 0.2, atMost: 30 * days }

interface Carrier {
  /** `apiservice/v1.subresources.kubevirt.io` */
  object: string
  caBundle: string | undefined
}

/** A rotation that got stuck shows as a CA that nobody renewed (facts 8: #15210, #3369). */
export const certificatesCheck = machineryCheck('certificates', {
  title: 'the CAs of webhooks and APIs are valid, and were renewed in time',
  unchecked: 'certificates were not checked',
  needs: ['webhooks', 'apiServices'],
  blocks: true,
  assess: (question) => carriers(question).map((carrier) => judgedCertificate(carrier, question)),
})

/** Each object once per bundle: the ten webhooks of a configuration carry the same one. */
function carriers({ snapshot, installation }: Question): readonly Carrier[] {
  const found = [
    ...itemsOf(snapshot.apiServices).map(({ metadata, spec }) => ({
      object: `apiservice/${metadata.name}`,
      caBundle: spec?.caBundle,
    })),
    ...itemsOf(snapshot.webhooks).flatMap(({ kind, metadata, webhooks = [] }) =>
      webhooks
        .filter(({ clientConfig }) => clientConfig?.service?.namespace === installation.namespace)
        .map(({ clientConfig }) => ({
          object: `${kind.toLowerCase()}/${metadata.name}`,
          caBundle: clientConfig?.caBundle,
        })),
    ),
  ]
  return [...new Map(found.map((carrier) => [`${carrier.object} ${carrier.caBundle}`, carrier])).values()]
}

/** A bundle that is missing or unreadable is `webhooks-answering`'s, or what makes an APIService unavailable. */
function judgedCertificate(
  carrier: Carrier,
  { at, installation: { namespace } }: Question,
): Found | undefined {
  const bundle = caBundle(carrier.caBundle)
  if (bundle.is !== 'certificates') return undefined
  const left = bundle.ends.getTime() - at.getTime()
  const life = bundle.ends.getTime() - bundle.begins.getTime()
  const remedy = [
    `kubectl -n ${namespace} get secrets kubevirt-ca kubevirt-operator-certs kubevirt-virt-api-certs`,
    `kubectl -n ${namespace} logs deployment/virt-operator --tail=50`,
  ]
  if (left <= 0) return expired(carrier.object, bundle.ends, remedy)
  return left < Math.min(life * late.share, late.atMost) ? ending(carrier.object, left, remedy) : undefined
}

const expired = (object: string, ends: Date, remedy: readonly string[]): Found => ({
  level: 'blocker',
  summary: `the CA in ${object} expired at ${ends.toISOString()}: calls to it fail, and so do the operator's own writes`,
  objects: [object],
  remedy,
})

const ending = (object: string, left: number, remedy: readonly string[]): Found => ({
  level: 'warning',
  summary: `the CA in ${object} expires in ${spanText(left)} and was not renewed: the rotation may be stuck`,
  objects: [object],
  remedy,
})

/** What the base64 text of a `caBundle` holds. */
type CaBundle =
  | { is: 'missing' }
  | { is: 'invalid'; why: string }
  /** Of the certificate that ends last: KubeVirt keeps the old CA beside the new one. */
  | { is: 'certificates'; begins: Date; ends: Date }

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/** Reads it; an API server that finds it unreadable cannot call the service. */
export function caBundle(text: string | undefined): CaBundle {
  if (text === undefined || text === '' || text === 'Cg==') return { is: 'missing' }
  const blocks = Buffer.from(text, 'base64').toString('latin1').match(pem) ?? []
  if (blocks.length === 0) return { is: 'invalid', why: 'there is no PEM certificate in it' }
  try {
    return newest(blocks.map((block) => new X509Certificate(block)))
  } catch {
    return { is: 'invalid', why: 'a certificate in it cannot be read' }
  }
}

function newest(certificates: readonly X509Certificate[]): CaBundle {
  const [last] = certificates
    .map(({ validFrom, validTo }) => ({ begins: new Date(validFrom), ends: new Date(validTo) }))
    .toSorted((a, b) => b.ends.getTime() - a.ends.getTime())
  return last ? { is: 'certificates', ...last } : { is: 'missing' }
}

/** Leases last 15 s; this is far beyond, and leaves room for the clock of a node that is a minute off. */
const fresh = 2 * 60_000
/** A Lease outlives the pod that held it, and the next one tries for it every few seconds: each roll has such a moment. */
const handover = 30_000

/** Ready pods say nothing about which of them leads (facts 2.10). Without a leader nothing is rolled, nothing migrates. */
export const leaderLeases = machineryCheck('leader-leases', {
  title: 'virt-operator and virt-controller each have a leader',
  unchecked: 'the leaders of virt-operator and virt-controller were not checked',
  needs: ['leases', 'pods'],
  blocks: true,
  assess: (question) => ['virt-operator', 'virt-controller'].map((name) => judgedLease(name, question)),
})

function judgedLease(name: string, question: Question): Found | undefined {
  const { namespace } = question.installation
  const lease = itemsOf(question.snapshot.leases).find(
    ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
  )
  const fault = leaseFault(name, lease, question)
  if (fault === undefined) return undefined
  return {
    level: 'blocker',
    summary: `${name} has no leader: ${fault}`,
    objects: [`lease/${name}`],
    // A manifest brings pods of its own, of which one becomes the leader.
    ...(name === 'virt-operator' && question.method === 'image-tag' && { standsAt: name }),
    remedy: [
      `kubectl -n ${namespace} get lease ${name} -o yaml`,
      `kubectl -n ${namespace} get pods -l kubevirt.io=${name}`,
    ],
  }
}

/** Outside of a cluster network a process is known by its machine's name: of that nothing can be said. */
function isGone(name: string, holder: string, { pods }: Question['snapshot']): boolean {
  return holder.startsWith(`${name}-`) && !itemsOf(pods).some((pod) => holds(pod, holder))
}

function leaseFault(name: string, lease: Lease | undefined, { snapshot, at }: Question): string | undefined {
  const holder = lease?.spec?.holderIdentity
  if (!lease) return 'its Lease does not exist'
  if (!holder) return 'no pod has its Lease'
  const age = since(lease.spec?.renewTime, at)
  if ((age ?? Infinity) > handover && isGone(name, holder, snapshot))
    return `its Lease names ${holder}, which is gone`
  return snapshot.silentLeases?.known ? silent(name, snapshot.silentLeases.items) : unrenewed(holder, age)
}

function silent(name: string, leases: readonly SilentLease[]): string | undefined {
  const found = leases.find((lease) => lease.name === name)
  return found && `${found.holder} did not renew its Lease while it was watched for ${found.watchedFor} s`
}

/** Where it could not be watched. */
function unrenewed(holder: string, age: number | undefined): string | undefined {
  if (age === undefined) return 'its Lease was never renewed'
  return age > fresh
    ? `its Lease was renewed ${spanText(age)} ago by ${holder} (or the clock of its node is off)`
    : undefined
}

/**
 * Made only of a live cluster from which this machine's clock differs: of a saved one nobody knows it. Nothing is judged by the wrong clock,
 * for times are the cluster's already; what else runs on this machine knows nothing of that.
 */
export const clockSkew = machineryCheck('clock-skew', {
  title: "the clock of this computer matches the cluster's",
  unchecked: 'the clock was not compared',
  needs: [],
  assess: ({ ahead = 0 }) =>
    ahead === 0
      ? undefined
      : {
          level: 'warning',
          summary: inWords(ahead),
          objects: [],
          remedy: ['timedatectl set-ntp true     synchronizes the clock, where systemd runs'],
        },
})

/** Whether what every write goes through answers. */
export const machineryChecks: readonly Check[] = [
  apiServices,
  webhooksAnswering,
  certificatesCheck,
  leaderLeases,
]
