import { createHash } from 'node:crypto'
import { usageError } from '../system/errors.ts'
import type { Network } from './download.ts'
import { sizeLimit, tooLarge } from './size-limit.ts'
import { type ManifestSource, originOf } from './source.ts'

/** What reading a manifest may touch. */
export interface ManifestReading extends Network {
  readText(file: string): Promise<string>
  readStdin(): Promise<string>
}

export interface ManifestText {
  text: string
  /** Hexadecimal, of the bytes. */
  sha256: string
  origin: string
}

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
  if (wanted !== undefined && sum !== wanted) throw mismatch(origin, sum, wanted)
  return { text: bytes.toString('utf8'), sha256: sum, origin }
}

async function bytesOf(source: ManifestSource, reading: ManifestReading): Promise<Buffer> {
  if (source.from === 'url') return fetched(source.url, reading)
  if (source.from === 'stdin') return Buffer.from(await reading.readStdin())
  try {
    return Buffer.from(await reading.readText(source.file))
  } catch (cause) {
    throw usageError('manifest-missing', `cannot read the manifest ${source.file}: ${whyUnread(cause)}`, {
      cause,
    })
  }
}

/** undici takes longer to load than a file to read. */
async function fetched(url: string, network: Network): Promise<Buffer> {
  const { download } = await import('./download.ts')
  return download(url, network)
}

function whyUnread(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const words: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'permission denied',
  }
  return words[code] ?? (cause instanceof Error ? cause.message : String(cause))
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

function mismatch(origin: string, is: string, wanted: string): Error {
  return usageError('manifest-checksum', `${origin} has sha256 ${is}, not ${wanted}`, {
    remedy: 'do not use it before you know why; the release page lists the right sum',
  })
}
