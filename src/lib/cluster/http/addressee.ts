/** Whom we speak to, for messages: addresses without the passwords that they may carry. */
export interface Addressee {
  server: string
  /** The kubeconfig that names this address; undefined for `--server` and inside a pod. */
  file: string | undefined
  context: string | undefined
  user: string
  proxy: string | undefined
}

export const through = ({ proxy }: Addressee): string =>
  proxy === undefined ? '' : ` through the proxy ${proxy}`

/** `kubectl --context prod`, as far as a context is known. */
export const contextFlag = ({ context }: Addressee): string =>
  context === undefined ? '' : ` --context ${context}`

/** Where the address comes from, as a note. */
export function origin({ server, file, context }: Addressee): string {
  if (file === undefined) return `the address is ${server}`
  return context === undefined
    ? `the address stands in ${file}`
    : `the address is that of context ${context} in ${file}`
}

/** Whose answer it was, as a note to a message without an address. */
export const served = ({ server, context }: Addressee): string =>
  `the server is ${server}${context === undefined ? '' : `, of context ${context}`}`

/** Where to look when nobody answers at an address, or somebody else. `path`: what a Kubernetes API answers to everybody. */
export function reachRemedy(to: Addressee, path: '/readyz' | '/version' = '/readyz'): string[] {
  const address = to.context === undefined ? ` --server ${to.server}` : contextFlag(to)
  return [
    ...(to.proxy === undefined ? [] : ['check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY']),
    `kubectl${address} get --raw ${path}`,
    'kubectl config get-contexts     then choose one with --context NAME',
  ]
}
