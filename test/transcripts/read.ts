import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import type { KubeObject } from '../../src/lib/kube/object.ts'

/** One line of a transcript: a change of an object, or a note of whoever recorded it. `t` in ms since its start. */
export interface Line {
  t: number
  /** Wall-clock time of the recording, RFC 3339. */
  at?: string
  type?: 'ADDED' | 'MODIFIED' | 'DELETED'
  object?: KubeObject
  note?: string
}

/** A transcript of the real KubeVirt, from recorded/. */
export function readTranscript(name: string): Line[] {
  return parseRecording(fs.readFileSync(path.join(import.meta.dirname, 'recorded', `${name}.ndjson.gz`)))
}

/** A transcript of the real OLM around HyperConverged, from recorded-olm/. */
export function readOlmTranscript(name: string): Line[] {
  return parseRecording(fs.readFileSync(path.join(import.meta.dirname, 'recorded-olm', `${name}.ndjson.gz`)))
}

/** The lines of a recording as `test/e2e/lab/record.mjs` makes it. Throws an Error in words that name what is wrong with it. */
export function parseRecording(bytes: Uint8Array): Line[] {
  const lines = textOf(bytes)
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => lineOf(line, index + 1))
  if (lines.length === 0) throw new Error('it is empty: nothing was recorded')
  return lines
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 0) throw new Error('it is empty')
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw new Error('it is not compressed with gzip, as a recording (.ndjson.gz) is')
  try {
    return zlib.gunzipSync(bytes).toString()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      why.includes('unexpected end')
        ? 'it is cut off: the recorder was not ended (SIGTERM), or it was not copied whole'
        : `it cannot be unpacked: ${why}`,
      { cause: error },
    )
  }
}

function lineOf(text: string, number: number): Line {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`line ${number} is no JSON`, { cause: error })
  }
  if (!isLine(value))
    throw new Error(`line ${number} is no line of a recording: it needs t, and an object or a note`)
  return value
}

function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null) return false
  const { t, object, note } = value as Partial<Record<keyof Line, unknown>>
  return typeof t === 'number' && (typeof note === 'string' || isObject(object))
}

function isObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown } | null }
  return typeof kind === 'string' && typeof metadata?.name === 'string'
}
