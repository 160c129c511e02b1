import { shortened } from './body-in-words.ts'
import type { Failure, Silence } from './failure.ts'

const causes: Record<string, Silence> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'unknown-host',
  ECONNRESET: 'cut',
  ETIMEDOUT: 'cut',
  EPIPE: 'cut',
  UND_ERR_SOCKET: 'cut',
  UND_ERR_CLOSED: 'cut',
  UND_ERR_DESTROYED: 'cut',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  CERT_HAS_EXPIRED: 'certificate',
  CERT_NOT_YET_VALID: 'certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate',
}

/** A request that got no answer, and whether the server can have seen it. */
export function failureOfSilence(error: unknown, timeoutMs: number | undefined): Failure {
  const cause = causeOf(error)
  const message =
    cause === 'timeout' && timeoutMs !== undefined
      ? `no answer within ${timeoutMs / 1000} s`
      : shortened(messageOf(error))
  return { status: 0, statusReason: '', message, cause, namesObject: false, error }
}

function causeOf(error: unknown): Silence {
  for (const each of chain(error)) {
    const { code, name, syscall } = each as { code?: unknown; name?: unknown; syscall?: unknown }
    if (name === 'TimeoutError') return 'timeout'
    if (typeof code !== 'string') continue
    if (syscall === 'connect') return 'refused'
    const cause = causes[code] ?? (code.startsWith('ERR_SSL') ? 'certificate' : undefined)
    if (cause !== undefined) return cause
  }
  return 'other'
}

/** Advice to who starts Node himself. */
const nodeHint = /; if the root CA is installed locally.*$/s

function messageOf(error: unknown): string {
  const said = chain(error)
    .map((e) => (e instanceof Error ? e.message : ''))
    .filter((text) => text !== '' && text !== 'fetch failed')
  return said.at(-1)?.replace(nodeHint, '') ?? String(error)
}

/** The error, what caused it, and the several addresses of a name that were tried. */
function chain(error: unknown): unknown[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [error]
  const tried = error instanceof AggregateError ? error.errors.slice(0, 1) : []
  return [error, ...tried.flatMap(chain), ...chain(error.cause)]
}
