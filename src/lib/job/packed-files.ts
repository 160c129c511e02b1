import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { mostBytes } from '../kube/bounded-file.ts'
import { usageError } from '../kube/errors.ts'
import { shellWord } from '../kube/shell-line.ts'

/** A file that a line names, as the cluster keeps it for the pod. */
export interface PackedFile {
  /** Where the line finds it, from the working directory of the pod. */
  path: string
  /** Of the text before it was compressed: what the pod verifies before it reads anything. */
  sha256: string
  /** gzip, in base64: what `binaryData` of a ConfigMap takes. */
  gzip: string
}

/** What a ConfigMap may hold: 1 MiB, by the API server's own limit. */
const mostPacked = 1024 * 1024

/** Throws `usage` for a file that is too large for a ConfigMap when compressed. */
export function packFile(file: string, path: string, text: string): PackedFile {
  const bytes = Buffer.from(text, 'utf8')
  const gzip = gzipSync(bytes, { level: 9 })
  if (gzip.length > mostPacked)
    throw usageError(
      'file-too-large',
      `${file} has ${(gzip.length / mostPacked).toFixed(1)} MiB when compressed, more than the 1 MiB of a ConfigMap`,
      {
        remedy:
          'put it behind an https address that the pod reaches, and name that with its --manifest-sha256',
      },
    )
  return { path, sha256: sha256Of(bytes), gzip: gzip.toString('base64') }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** `plan.yaml=3f2a…`: what the pod is told of a file. */
export const packedWord = ({ path, sha256 }: Pick<PackedFile, 'path' | 'sha256'>): string =>
  `${path}=${sha256}`

/** Reads what `packedWord` made. Throws `usage` for anything else, and for a path that leaves the working directory. */
export function parsePackedWord(word: string): Pick<PackedFile, 'path' | 'sha256'> {
  const { path, sha256 } = /^(?<path>.+)=(?<sha256>[0-9a-f]{64})$/u.exec(word)?.groups ?? {}
  if (path !== undefined && sha256 !== undefined && cleanPath(path) === path) return { path, sha256 }
  throw usageError(
    'not-a-file',
    `${shellWord(word)} is not PATH=SHA256 of a file below the working directory`,
  )
}

/** A relative path of plain names that stays below its folder, without `.`; undefined for any other. */
export function cleanPath(path: string): string | undefined {
  const names = path.split('/').filter((name) => name !== '.' && name !== '')
  const isPlain = names.length > 0 && names.every((name) => name !== '..' && /^[\w.+-]+$/u.test(name))
  return isPlain && !path.startsWith('/') ? names.join('/') : undefined
}

/** The file again. Throws `usage` where it is not what its sha256 says: nothing of it was read then. */
export function unpackFile(packed: Buffer, { path, sha256 }: Pick<PackedFile, 'path' | 'sha256'>): Buffer {
  const bytes = unzipped(packed)
  const found = bytes && sha256Of(bytes)
  if (bytes !== undefined && found === sha256) return bytes
  throw usageError(
    'file-not-verified',
    found === undefined
      ? `${path} is no gzip of at most ${mostBytes / 1024 / 1024} MB`
      : `${path} is not the file that this Job was made with: its sha256 is ${found}, not ${sha256}`,
    { remedy: 'delete the Job and make it again with kvup job: somebody changed its ConfigMap' },
  )
}

function unzipped(packed: Buffer): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: mostBytes })
  } catch {
    return undefined
  }
}
