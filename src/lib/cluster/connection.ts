/** kubectl's connection flags. No secret is ever one of them. */
export interface Connection {
  kubeconfig?: string
  context?: string
  cluster?: string
  user?: string
  as?: string
  asGroup?: string[]
  asUid?: string
  /** `30s`, `2m`; `0` for no limit. */
  requestTimeout?: string
  server?: string
  tokenFile?: string
  clientCertificate?: string
  clientKey?: string
  certificateAuthority?: string
  insecureSkipTlsVerify?: boolean
  tlsServerName?: string
}

/** The environment as it was passed in: `KUBECONFIG`, `HOME`, the proxy variables. */
export type Environment = Readonly<Record<string, string | undefined>>
