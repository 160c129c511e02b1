/** A path of the resource API, taken apart. */
export interface ResourceRoute {
  readonly apiVersion: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** `/api/v1/namespaces/a/pods/b/log`, `/apis/apps/v1/deployments`. Undefined for paths that are none. */
export function resourceRoute(path: string): ResourceRoute | undefined {
  const [root, ...rest] = path
    .split('/')
    .filter(Boolean)
    .map((part) => decodeURIComponent(part))
  if (root === 'api' && rest.length >= 2) return below(rest[0] ?? '', rest.slice(1))
  if (root === 'apis' && rest.length >= 3) return below(`${rest[0]}/${rest[1]}`, rest.slice(2))
  return undefined
}

function below(apiVersion: string, parts: readonly string[]): ResourceRoute {
  const inNamespace =
    parts[0] === 'namespaces' && parts.length >= 3 && parts[2] !== 'status' && parts[2] !== 'finalize'
  const [plural = '', name, ...sub] = inNamespace ? parts.slice(2) : parts
  return {
    apiVersion,
    plural,
    ...(inNamespace && { namespace: parts[1] ?? '' }),
    ...(name !== undefined && { name }),
    ...(sub.length > 0 && { subresource: sub.join('/') }),
  }
}
