import type { Headers } from './impersonation.ts'

const hidden = '<redacted>'
const secretHeader = /^(authorization|proxy-authorization|cookie|set-cookie|x-.*(token|key|secret).*)$/i
/** Keys whose values are credentials wherever they stand. */
const secretKey =
  /^(.*token|.*password|.*secret|client-?key(-?data)?|private-?key|refresh-token|id-token|tls\.key)$/i
const secretText: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, hidden],
  [/\b((?:client-key-data|token|id-token|refresh-token|password)\s*:\s*)[^\s\\"{}[\],]+/g, `$1${hidden}`],
  [/\bBearer\s+[\w.~+/-]+=*/g, `Bearer ${hidden}`],
]
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export function redactHeaders(headers: Headers): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [
    name,
    secretHeader.test(name) ? hidden : Array.isArray(value) ? value.join(', ') : value,
  ])
}

/** A server's address may carry a password. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/@]*@/, `//${hidden}@`)
}

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
  return secretText.reduce((so, [pattern, instead]) => so.replace(pattern, instead), text)
}

function redacted(value: unknown, secret: boolean): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => redacted(each, secret))
  const within = secret || ('kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList'))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isSecret(key, within) ? blanked(each) : redacted(each, within),
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
