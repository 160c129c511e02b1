import type { EndpointSlice } from '../cluster/kinds/endpoint-slices.ts'

export interface ReadyEndpoints {
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
