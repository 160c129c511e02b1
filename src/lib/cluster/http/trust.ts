import { getCACertificates } from 'node:tls'
import type { Tls } from './presented.ts'

/** Where the kubeconfig names no authority, this machine's are trusted, as kubectl does; Node alone asks its own list. */
export function trusting(tls: Tls): Tls {
  return { ...tls, ca: [...getCACertificates('default'), ...getCACertificates('system')] }
}
