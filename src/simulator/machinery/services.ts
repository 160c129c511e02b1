import { isDeepStrictEqual } from 'node:util'
import { condition, type Condition, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { type EndpointSlice, EndpointSlices } from '../../lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { claim, control, type ControllerContext, made, seconds } from './controller.ts'
import { type ApiService, ApiServices } from '../../lib/kube/kinds/extension-kinds.ts'
import type { Faults, MachineryFaults } from './machinery-faults.ts'
import { timestamp } from '../api/object-lifecycle.ts'

interface Service extends KubeObject {
  spec?: { selector?: Record<string, string> }
}

const Services: Kind<Service> = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** Keeps one slice per Service that has a selector, with the pods that it selects. */
export function runEndpointSlices(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: Services }, { kind: Pods, concerns: isInfrastructure }]
  return control(cx, watched, async () => {
    for (const service of await cx.reader.list(Services)) await keep(cx, service)
    return undefined
  })
}

/** Launcher pods come by the hundred and serve nobody. */
function isInfrastructure({ metadata }: KubeObject): boolean {
  const component = metadata.labels?.['kubevirt.io']
  return component !== undefined && component !== 'virt-launcher'
}

async function keep(cx: ControllerContext, { metadata, spec }: Service): Promise<void> {
  const { name, namespace } = metadata
  const labels = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`)
  if (labels.length === 0) return
  const pods = await cx.reader.list(Pods, { namespace, labels: labels.join() })
  const endpoints = pods.filter(({ status }) => status?.phase === 'Running').map(endpointOf)
  const found = await cx.reader.get(EndpointSlices, { name, namespace })
  if (found.is === 'object' && isDeepStrictEqual(found.object.endpoints ?? [], endpoints)) return
  const slice: EndpointSlice = made(EndpointSlices, {
    metadata: {
      name,
      namespace,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4',
    endpoints,
  })
  if (found.is === 'object') await cx.writer.mergePatch(EndpointSlices, metadata, { endpoints })
  else await cx.writer.create(EndpointSlices, slice)
}

function endpointOf(pod: Pod): NonNullable<EndpointSlice['endpoints']>[number] {
  const { name, uid } = pod.metadata
  return {
    addresses: [pod.status?.podIP ?? '10.0.0.1'],
    conditions: { ready: condition(pod, 'Ready')?.status === 'True' },
    targetRef: { kind: 'Pod', name, ...(uid !== undefined && { uid }) },
  }
}

/** The aggregator's word on each APIService with a Service: available while an endpoint of that is ready, and its certificate has not ended. */
export function runApiServices(cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> {
  return control(cx, [{ kind: ApiServices }, { kind: EndpointSlices }, faults], async () => {
    const services = (await cx.reader.list(ApiServices)).filter(({ spec }) => spec?.service)
    if (services.length === 0) return undefined
    const slices = await cx.reader.list(EndpointSlices)
    for (const service of services) await judge(cx, service, { slices, expired: faults.on.expired ?? [] })
    return undefined
  })
}

interface Behind {
  slices: readonly EndpointSlice[]
  expired: readonly string[]
}

async function judge(cx: ControllerContext, service: ApiService, behind: Behind): Promise<void> {
  const now = availability(service, behind, cx.clock.now())
  const before = condition(service, now.type)
  if (before?.status === now.status && before.reason === now.reason) return
  const time = seconds(cx)
  const conditions = [{ ...now, lastTransitionTime: time }]
  await cx.writer.mergePatch(ApiServices, service.metadata, { status: { conditions } }, 'status')
}

function availability({ spec }: ApiService, { slices, expired }: Behind, at: Date): Condition {
  const { namespace, name = '' } = spec?.service ?? {}
  const ready = slices.some(
    ({ metadata, endpoints }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name &&
      endpoints?.some(({ conditions }) => conditions?.ready !== false),
  )
  if (ready && expired.includes(name)) return certificateEnded(spec, at)
  return ready
    ? { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }
    : claim(
        'Available',
        'False',
        'MissingEndpoints',
        `endpoints for service/${name} in "${namespace}" have no addresses with port name "https"`,
      )
}

/** In the words of kube-aggregator, which verifies the answer to its discovery call against the CA bundle. */
function certificateEnded(spec: ApiService['spec'], at: Date): Condition {
  const url = `https://10.96.77.12:443/apis/${spec?.group}/${spec?.version}`
  const now = timestamp(at)
  const ended = timestamp(new Date(at.getTime() - 3_600_000))
  return claim(
    'Available',
    'False',
    'FailedDiscoveryCheck',
    `failing or missing response from ${url}: Get "${url}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time ${now} is after ${ended}`,
  )
}
