import type { Ref } from './cluster.ts'

/** A GET to whoever listens behind a Service, through the API server (`services/proxy`). */
export interface ServiceCall {
  service: Ref & { namespace: string }
  scheme: 'http' | 'https'
  /** Its name or number. */
  port: string
  /** With its slash in front. */
  path: string
}

/** As RBAC and the path name it: `https:thanos-querier:web`. */
export function proxiedName({ service, scheme, port }: Omit<ServiceCall, 'path'>): string {
  return `${scheme === 'https' ? 'https:' : ''}${service.name}:${port}`
}
