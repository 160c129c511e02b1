import { isDeepStrictEqual } from 'node:util'
import type { Kind } from '../../cluster/kind.ts'
import { type EndpointSlice, EndpointSlices } from '../../cluster/kinds/endpoint-slices.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { condition, type KubeObject } from '../../cluster/object.ts'
import { type ControllerContext, control } from './controller.ts'

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
  const found = await cx.reader.find(EndpointSlices, { name, namespace })
  if (found.is === 'object' && isDeepStrictEqual(found.object.endpoints ?? [], endpoints)) return
  const slice: EndpointSlice = {
    apiVersion: EndpointSlices.apiVersion,
    kind: EndpointSlices.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4',
    endpoints,
  }
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
