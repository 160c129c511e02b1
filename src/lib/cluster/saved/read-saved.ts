import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { mostBytes, readBounded, tooLarge } from '../../system/bounded-file.ts'
import { usageError } from '../../system/errors.ts'
import { parseSaved, type ParsedFile } from './parse-saved.ts'
import { type Needed, type SavedCluster, savedCluster, unfit } from './saved-cluster.ts'
import { unreadable } from './unreadable.ts'

const wanted = /\.(ya?ml|json|ndjson|jsonl)(\.gz)?$/i
const unzipped = promisify(gunzip)

/**
 * The cluster that a file or a folder holds; a gz is known by its first bytes. Throws `usage` for what is not there, is
 * broken (with file and line), or holds nothing of what is needed.
 */
export async function readSaved(from: string, needed?: Needed): Promise<SavedCluster> {
  const files = await filesIn(from)
  const parsed: ParsedFile[] = []
  for (const file of files) parsed.push(await parseSaved(await textOf(file), file))
  return savedCluster(parsed, from, needed)
}

/** The same of a text that came in another way. */
export async function parseSavedCluster(text: string, from: string, needed?: Needed): Promise<SavedCluster> {
  return savedCluster([await parseSaved(text, from)], from, needed)
}

async function filesIn(from: string): Promise<string[]> {
  try {
    if (!(await stat(from)).isDirectory()) return [from]
    const names = await readdir(from, { recursive: true })
    const files = names.filter((name) => wanted.test(name)).toSorted()
    if (files.length === 0) throw unfit(from, 'the folder holds no .yaml, .json or .ndjson')
    return files.map((name) => join(from, name))
  } catch (error) {
    throw missing(from, error)
  }
}

function bytesOf(file: string): Buffer {
  try {
    return readBounded(file)
  } catch (error) {
    throw missing(file, error)
  }
}

async function textOf(file: string): Promise<string> {
  const bytes = bytesOf(file)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8')
  try {
    return (await unzipped(bytes, { maxOutputLength: mostBytes })).toString('utf8')
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(file)
    throw unreadable(
      file,
      1,
      `the gz is truncated or broken (${cause instanceof Error ? cause.message : ''})`,
    )
  }
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
}

function missing(file: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  if (code === undefined) return cause
  return usageError('snapshot-missing', `cannot read ${file}: ${words[code] ?? code}`, { cause })
}
