import { lastApplied, parseJson } from '../object.ts'
import type { Headers } from './target.ts'
import { failureOfSilence } from './failure.ts'
import {
  isLoginKey,
  isSecretKey,
  isSecretName,
  withoutLoginsOfUrls,
  withoutSecrets,
  hidden,
} from './secret-text.ts'

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
const secretHeader = /^(authorization|proxy-authorization|cookie|set-cookie|x-.*(token|key|secret).*)$/i

export function redactHeaders(headers: Headers): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [
    name,
    secretHeader.test(name) ? hidden : Array.isArray(value) ? value.join(', ') : value,
  ])
}

/** An address, or a text with addresses in it, without names and passwords in them. */
export const redactUrl = withoutLoginsOfUrls

/** The same for what nobody could read as an address: its password may have anything in it. */
export const redactAddress = (text: string): string => text.replace(/^(.*?\/\/|).*@/su, `$1${hidden}@`)

/** A body without credentials: Secret data, tokens, keys. The URL tells what a patch is about. */
export function redactBody(text: string, url: string): string {
  const aboutSecrets = /\/(secrets|token|tokenreviews)([/?]|$)/.test(url)
  try {
    return JSON.stringify(redacted(JSON.parse(text), aboutSecrets))
  } catch {
    return aboutSecrets ? hidden : withoutSecrets(text)
  }
}

/** What is kept as text inside of an object may be an object itself: what kubectl applied, a journal. */
function redactedText(text: string, secret: boolean): string {
  const inside = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  return inside === undefined ? withoutSecrets(text) : JSON.stringify(redacted(inside, secret))
}

function redacted(value: unknown, secret: boolean): unknown {
  if (typeof value === 'string') return redactedText(value, secret)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return redactedList(value, secret)
  const within = secret || ('kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList'))
  const named = 'name' in value && typeof value.name === 'string' && isSecretName(value.name)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      withoutSecrets(key),
      isSecret(key, each, within) || (named && key === 'value') ? blanked(each) : redacted(each, within),
    ]),
  )
}

/** What stands behind `--token` is one, in the list of the arguments of a program too. */
const redactedList = (list: readonly unknown[], secret: boolean): readonly unknown[] =>
  list.map((one, index) => {
    const before: unknown = list[index - 1]
    return typeof one === 'string' && typeof before === 'string' && isSecretFlag(before)
      ? hidden
      : redacted(one, secret)
  })

const isSecretFlag = (text: string): boolean => /^--?[a-z][\w-]{0,100}$/iu.test(text) && isSecretKey(text)

function isSecret(key: string, value: unknown, inSecret: boolean): boolean {
  if (inSecret && ['data', 'stringData', 'value', lastApplied].includes(key)) return true
  return isSecretKey(key) || (isLoginKey(key) && (typeof value === 'string' || key === 'chpasswd'))
}

/** The names of the keys stay: they tell what is in a Secret, and not what it is. */
function blanked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : hidden
  if (Array.isArray(value)) return value.map(blanked)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, blanked(each)]))
}
