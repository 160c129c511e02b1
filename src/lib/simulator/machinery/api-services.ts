import { type EndpointSlice, EndpointSlices } from '../../cluster/kinds/endpoint-slices.ts'
import { type ApiService, ApiServices } from '../../cluster/kinds/extension.ts'
import { type Condition, condition } from '../../cluster/object.ts'
import { type ControllerContext, control } from './controller.ts'

/** The aggregator's word on each APIService with a Service: available while an endpoint of that is ready. */
export function runApiServices(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: ApiServices }, { kind: EndpointSlices }], async () => {
    const services = (await cx.reader.list(ApiServices)).filter(({ spec }) => spec?.service)
    if (services.length === 0) return undefined
    const slices = await cx.reader.list(EndpointSlices)
    for (const service of services) await judge(cx, service, slices)
    return undefined
  })
}

async function judge(
  cx: ControllerContext,
  service: ApiService,
  slices: readonly EndpointSlice[],
): Promise<void> {
  const now = availability(service, slices)
  const before = condition(service, now.type)
  if (before?.status === now.status && before.reason === now.reason) return
  const time = cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
  const conditions = [{ ...now, lastTransitionTime: time }]
  await cx.writer.mergePatch(ApiServices, service.metadata, { status: { conditions } }, 'status')
}

function availability({ spec }: ApiService, slices: readonly EndpointSlice[]): Condition {
  const { namespace, name } = spec?.service ?? {}
  const ready = slices.some(
    ({ metadata, endpoints }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name &&
      endpoints?.some(({ conditions }) => conditions?.ready !== false),
  )
  return ready
    ? { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MissingEndpoints',
        message: `endpoints for service/${name} in "${namespace}" have no addresses with port name "https"`,
      }
}
