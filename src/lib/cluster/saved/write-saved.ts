import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { usageError } from '../../system/errors.ts'
import type { KubeObject } from '../object.ts'

/**
 * One object per line, the index first; compressed when the name ends in .gz. Only its owner may read the file. Throws `usage` where
 * it cannot be written.
 */
export async function writeSaved(file: string, objects: readonly KubeObject[]): Promise<void> {
  const lines = Readable.from(linesOf(objects))
  const out = createWriteStream(file, { mode: 0o600 })
  try {
    await (file.endsWith('.gz') ? pipeline(lines, createGzip(), out) : pipeline(lines, out))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('snapshot-unwritten', `cannot write ${file}: ${why}`, { cause })
  }
}

function* linesOf(objects: readonly KubeObject[]): Generator<string> {
  for (const object of objects) yield `${JSON.stringify(object)}\n`
}
