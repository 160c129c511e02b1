import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf, usageError } from './errors.ts'

/** MB that kvup reads of a file, a pipe or standard input, unzipped: far more than a plan, a manifest, a catalog or a cluster of 10,000 VMs has. */
const mostMegabytes = 256
export const mostBytes = mostMegabytes * 1024 * 1024

const piece = 1024 * 1024

/**
 * The bytes of a file. Of what has no size (a pipe, a device) as much as comes, and never more than the limit: /dev/zero has no end. Throws
 * what `open` and `read` throw, and `usage` (`too-large`).
 */
export function readBounded(file: string | number, most = mostBytes): Buffer {
  const descriptor = typeof file === 'number' ? file : openSync(file, 'r')
  try {
    const found = fstatSync(descriptor)
    if (found.isFile() && found.size > most) throw tooLarge(file)
    const pieces: Buffer[] = []
    for (let size = 0; ;) {
      const left = found.isFile() ? Math.max(1, found.size + 1 - size) : piece
      const next = Buffer.allocUnsafe(Math.min(piece, left))
      const read = readSync(descriptor, next)
      if (read === 0) return Buffer.concat(pieces)
      pieces.push(next.subarray(0, read))
      size += read
      if (size > most) throw tooLarge(file)
    }
  } finally {
    if (typeof file !== 'number') closeSync(descriptor)
  }
}

/** Exit 2: what it is called, and how much is read at most. */
export const tooLarge = (file: string | number): Error =>
  usageError(
    'too-large',
    `${typeof file === 'number' ? 'standard input' : file} has more than ${mostMegabytes} MB, or no end: kvup does not read that much`,
  )

/** In words, where the system gives a code alone; its own message names the file that is written first. */
const troubles: Readonly<Record<string, readonly [read: string, write?: string]>> = {
  ENOENT: ['the file does not exist', 'there is no such folder'],
  ENOTDIR: ['the file does not exist', 'there is no such folder'],
  EISDIR: ['it is a folder'],
  EACCES: ['permission denied'],
  EPERM: ['permission denied'],
  EROFS: ['that disk can only be read'],
  ENOSPC: ['the disk is full'],
}

/** Why a file cannot be read or written. */
export function fileTrouble(cause: unknown, doing: 'read' | 'write'): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const [read, write = read] = troubles[code] ?? []
  return (doing === 'read' ? read : write) ?? messageOf(cause)
}
