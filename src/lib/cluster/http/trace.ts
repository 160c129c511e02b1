import type { Headers } from './impersonation.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.ts'
import { failureOfSilence } from './silence.ts'

/** What `-v 6` to `-v 9` show of the talk with the server; secrets never. */
export interface Trace {
  asked(what: { method: string; url: string; headers: Headers; body: string | undefined }): void
  answered(what: { method: string; url: string; status: number; ms: number }): void
  failed(what: { method: string; url: string; error: unknown; ms: number }): void
  /** Whether bodies are shown: they need not be kept where they are not. */
  readonly bodies: boolean
  /** A body as it came, or one line of a watch. */
  body(url: string, text: string): void
}

const cutAt = 1024
const silent: Trace = { bodies: false, asked() {}, answered() {}, failed() {}, body() {} }

/** 6: method, URL, status, ms. 7: and headers. 8: and bodies, cut at 1 KB. 9: whole bodies. */
export function traceTo(line: ((text: string) => void) | undefined, verbosity: number): Trace {
  if (line === undefined || verbosity < 6) return silent
  const shown = (url: string, text: string) => {
    const safe = redactBody(text, url)
    return verbosity >= 9 || safe.length <= cutAt
      ? safe
      : `${safe.slice(0, cutAt)} [${safe.length - cutAt} more]`
  }
  return {
    bodies: verbosity >= 8,
    asked({ method, url, headers, body }) {
      if (verbosity < 7) return
      line(`${method} ${redactUrl(url)}`)
      for (const [name, value] of redactHeaders(headers)) line(`    ${name}: ${value}`)
      if (verbosity >= 8 && body !== undefined) line(`Request body: ${shown(url, body)}`)
    },
    answered: ({ method, url, status, ms }) => line(`${method} ${redactUrl(url)} ${status} in ${ms} ms`),
    failed: ({ method, url, error, ms }) =>
      line(redactUrl(`${method} ${url} failed in ${ms} ms: ${failureOfSilence(error, undefined).message}`)),
    body(url, text) {
      if (verbosity >= 8) line(`Response body: ${shown(url, text)}`)
    },
  }
}
