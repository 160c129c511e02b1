import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import type { KubeObject } from '../../src/lib/cluster/object.ts'

/** One line of a transcript: a change of an object, or a note of whoever recorded it. `t` in ms since its start. */
export interface Line {
  t: number
  type?: 'ADDED' | 'MODIFIED' | 'DELETED'
  object?: KubeObject
  note?: string
}

/** A transcript of the real KubeVirt, from recorded/. */
export function readTranscript(name: string): Line[] {
  const file = path.join(import.meta.dirname, 'recorded', `${name}.ndjson.gz`)
  const text = zlib.gunzipSync(fs.readFileSync(file), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}
