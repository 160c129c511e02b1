import { type EndpointSlice, EndpointSlices } from '../../cluster/kinds/endpoint-slices.ts'
import { type ApiService, ApiServices } from '../../cluster/kinds/extension.ts'
import { type Condition, condition } from '../../cluster/object.ts'
import { type ControllerContext, control } from './controller.ts'
import type { Faults, MachineryFaults } from './faults.ts'

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
  const time = cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
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
    : {
        type: 'Available',
        status: 'False',
        reason: 'MissingEndpoints',
        message: `endpoints for service/${name} in "${namespace}" have no addresses with port name "https"`,
      }
}

/** In the words of kube-aggregator, which verifies the answer to its discovery call against the CA bundle. */
function certificateEnded(spec: ApiService['spec'], at: Date): Condition {
  const url = `https://10.96.77.12:443/apis/${spec?.group}/${spec?.version}`
  const now = at.toISOString().replace(/\.\d+Z$/, 'Z')
  const ended = new Date(at.getTime() - 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    type: 'Available',
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: Get "${url}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time ${now} is after ${ended}`,
  }
}
