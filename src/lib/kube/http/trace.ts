import type { Headers } from './target.ts'
import { failureOfSilence } from './failure.ts'

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

const hidden = '<redacted>'
const secretHeader = /^(authorization|proxy-authorization|cookie|set-cookie|x-.*(token|key|secret).*)$/i
/** How programs name what is a credential, at the end of a key or of the name of an environment variable. */
const secretWord =
  'token|passw(?:or)?d|passphrase|pwd|secret|credentials?|api[-_]?key|access[-_]?key(?:[-_]?id)?|client[-_]?key(?:[-_]?data)?|private[-_]?key|secret[-_]?key|tls\\.key'
/** Keys whose values are credentials wherever they stand. */
const secretKey = new RegExp(`(?:${secretWord})$`, 'i')
/** Environment variables say more behind the word: `TOKEN_2`, `PASSWORD_FILE` is no harm to hide. */
const secretName = new RegExp(`${secretWord}|pass(?:_|$)|(?:^|_)auth(?:_|$)`, 'i')
/** Whether an environment variable of this name is a credential. */
export const isSecretName = (name: string): boolean => secretName.test(name)
/** Whether what stands under this key or behind this flag is a credential. */
export const isSecretKey = (name: string): boolean => secretKey.test(name)

/** `scheme://user:password@`; the password may have an @ of its own. */
const inAddress = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>\\]*@/gi
const secretText: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, hidden],
  [/\bBearer\s+[\w.~+/-]+=*/g, `Bearer ${hidden}`],
  [inAddress, `$1${hidden}@`],
  // An environment variable in YAML.
  [
    new RegExp(`(\\bname:\\s*["']?[\\w.-]*(?:${secretWord})[\\w.-]*["']?\\s+value:\\s*)\\S+`, 'gi'),
    `$1${hidden}`,
  ],
  // `password: x` and `API_KEY=x`, in YAML, in files and in log lines.
  [
    new RegExp(
      `((?:\\b|_)(?:${secretWord})["']?\\s*[:=]\\s*["']?)(?!\\s|<redacted>)[^\\s\\\\"{}[\\],]+`,
      'gi',
    ),
    `$1${hidden}`,
  ],
]
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export function redactHeaders(headers: Headers): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [
    name,
    secretHeader.test(name) ? hidden : Array.isArray(value) ? value.join(', ') : value,
  ])
}

/** An address, or a text with addresses in it, without names and passwords in them. */
export const redactUrl = (text: string): string => text.replace(inAddress, `$1${hidden}@`)

/** The same for what nobody could read as an address: its password may have anything in it. */
export const redactAddress = (text: string): string => text.replace(/^(.*?\/\/|).*@/su, `$1${hidden}@`)

/** A body without credentials: Secret data, tokens, keys. The URL tells what a patch is about. */
export function redactBody(text: string, url: string): string {
  const aboutSecrets = /\/(secrets|token|tokenreviews)([/?]|$)/.test(url)
  try {
    return JSON.stringify(redacted(JSON.parse(text), aboutSecrets))
  } catch {
    return aboutSecrets ? hidden : redactText(text)
  }
}

function redactText(text: string): string {
  return secretText
    .reduce((so, [pattern, instead]) => so.replace(pattern, instead), text)
    .replace(/\bBasic\s+([A-Za-z0-9+/]{4,}=*)/g, (whole, code: string) =>
      isLogin(code) ? `Basic ${hidden}` : whole,
    )
}

/** `name:password` in base64, as HTTP's Basic has it; two words of prose are none. */
const isLogin = (code: string): boolean => Buffer.from(code, 'base64').toString('latin1').includes(':')

/** What is kept as text inside of an object may be an object itself: what kubectl applied, a journal. */
function redactedText(text: string, secret: boolean): string {
  if (!/^\s*[[{]/.test(text)) return redactText(text)
  try {
    return JSON.stringify(redacted(JSON.parse(text), secret))
  } catch {
    return redactText(text)
  }
}

function redacted(value: unknown, secret: boolean): unknown {
  if (typeof value === 'string') return redactedText(value, secret)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => redacted(each, secret))
  const within = secret || ('kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList'))
  const named = 'name' in value && typeof value.name === 'string' && secretName.test(value.name)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isSecret(key, within) || (named && key === 'value') ? blanked(each) : redacted(each, within),
    ]),
  )
}

function isSecret(key: string, inSecret: boolean): boolean {
  if (inSecret && ['data', 'stringData', 'value', lastApplied].includes(key)) return true
  return secretKey.test(key)
}

/** The names of the keys stay: they tell what is in a Secret, and not what it is. */
function blanked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : hidden
  if (Array.isArray(value)) return value.map(blanked)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, blanked(each)]))
}
