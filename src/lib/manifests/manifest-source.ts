import { type KvupError, messageOf, usageError } from '../kube/errors.ts'
import { createHash } from 'node:crypto'
import type { Network } from './manifest-download.ts'

type ManifestSource = { from: 'file'; file: string } | { from: 'stdin' } | { from: 'url'; url: string }

interface SourceOptions {
  manifest?: string | undefined
  /** `--manifest-base`, a folder or an address: where releases lie, one folder per tag. */
  manifestBase?: string | undefined
}

/** The artifacts of a release (facts 7). */
export const publicReleases = 'https://github.com/kubevirt/kubevirt/releases/download'

/** Default: the public release of that tag. Throws `usage` for a URL that may not be used. */
export function manifestSource({ manifest, manifestBase }: SourceOptions, tag: string): ManifestSource {
  if (manifest === '-') return { from: 'stdin' }
  if (manifest === undefined) {
    if (manifestBase === '')
      throw usageError('manifest-url', '--manifest-base is empty', {
        remedy: '--manifest-base DIR     with DIR/VERSION/kubevirt-operator.yaml for each release',
      })
    const base = (manifestBase ?? publicReleases).replace(/\/+$/, '')
    if (!isAddress(base)) return { from: 'file', file: `${base}/${tag}/kubevirt-operator.yaml` }
    return { from: 'url', url: secureUrl(`${base}/${tag}/kubevirt-operator.yaml`).href }
  }
  if (isAddress(manifest)) return { from: 'url', url: secureUrl(manifest).href }
  return { from: 'file', file: manifest }
}

const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text)

/** How the source is named to a person, in the plan and in the journal; a password in a URL is not shown. */
export function originOf(source: ManifestSource): string {
  if (source.from === 'file') return source.file
  if (source.from === 'stdin') return 'standard input'
  const url = new URL(source.url)
  if (url.password !== '') url.password = '***'
  return url.href
}

/** The address without its user and password; what is no address stays. For what is kept: a plan is reviewed by others. */
export function withoutLogin(text: string): string {
  const url = text.includes('://') ? URL.parse(text) : null
  if (url === null || (url.username === '' && url.password === '')) return text
  url.username = ''
  url.password = ''
  return url.href
}

/** https, or http to this machine. Throws `usage` otherwise. */
export function secureUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw usageError('manifest-url', `${JSON.stringify(text)} is not a URL`)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw usageError('manifest-url', `${url.protocol}//${url.host} is not allowed for manifests: use https`, {
    remedy: 'download it yourself and pass it with --manifest FILE --manifest-sha256 SUM',
  })
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)

interface ManifestReading extends Network {
  readText(file: string): Promise<string>
  readStdin(): Promise<string>
}

/** `sha256` is hexadecimal, of the bytes. */
type ManifestText = Record<'text' | 'sha256' | 'origin', string>

/**
 * The text behind a source. Throws `usage` for a file or URL that is not there, one that is too large, and a checksum that
 * differs from `sha256`; `unreachable` when there is no way to the URL.
 */
export async function readManifest(
  source: ManifestSource,
  reading: ManifestReading,
  sha256?: string,
): Promise<ManifestText> {
  const wanted = sha256 === undefined ? undefined : checksum(sha256)
  const origin = originOf(source)
  const bytes = await bytesOf(source, reading)
  if (bytes.length > sizeLimit) throw tooLarge(origin)
  const sum = createHash('sha256').update(bytes).digest('hex')
  if (wanted !== undefined && sum !== wanted)
    throw usageError('manifest-checksum', `${origin} has sha256 ${sum}, not ${wanted}`, {
      remedy: 'find out why before you use it; the release page lists the right checksum',
    })
  return { text: bytes.toString('utf8'), sha256: sum, origin }
}

async function bytesOf(source: ManifestSource, reading: ManifestReading): Promise<Buffer> {
  if (source.from === 'url') return fetched(source.url, reading)
  if (source.from === 'stdin') return Buffer.from(await reading.readStdin())
  try {
    return Buffer.from(await reading.readText(source.file))
  } catch (cause) {
    const message = `cannot read the manifest ${source.file}: ${whyUnread(cause)}`
    throw usageError('manifest-missing', message, { cause })
  }
}

/** undici takes longer to load than a file to read. */
async function fetched(url: string, network: Network): Promise<Buffer> {
  const { download } = await import('./manifest-download.ts')
  return download(url, network)
}

function whyUnread(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const words: Record<string, string> = {
    ENOENT: 'no such file',
    EISDIR: 'it is a folder',
    EACCES: 'permission denied',
  }
  return words[code] ?? messageOf(cause)
}

function checksum(typed: string): string {
  const sum = typed
    .trim()
    .replace(/^sha256:/i, '')
    .toLowerCase()
  if (/^[0-9a-f]{64}$/.test(sum)) return sum
  throw usageError(
    'not-a-checksum',
    `--manifest-sha256 takes 64 hexadecimal digits, not ${JSON.stringify(typed)}`,
  )
}

/** Bytes. Ten release manifests would fit, a disk image does not. */
export const sizeLimit = 20_000_000

export const tooLarge = (origin: string): Error =>
  usageError(
    'manifest-too-large',
    `${origin} is larger than ${sizeLimit / 1e6} MB: that is no release manifest`,
  )

/** A plan is shown without a manifest that cannot be fetched. By this method the manifest is the step, so that nobody can accept to go without it. */
export const notReadFinding = (
  error: KvupError,
): {
  id: string
  level: 'not-checked'
  summary: string
  remedy: readonly string[]
} => ({
  id: 'manifest-not-read',
  level: 'not-checked',
  summary: `the operator manifest was not read: ${error.message}`,
  remedy: error.remedy,
})
