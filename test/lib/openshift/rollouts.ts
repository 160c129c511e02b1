import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'

/** `README.md` there says how a folder is read. */
export const rollouts = 'test/examples/rollouts/'

export interface Rollout {
  like: 'idle' | 'updating'
  runs: string[]
  without?: string[]
  files?: Record<string, string>
  with: KubeObject[]
}

const parsed = <T>(file: string): T => JSON.parse(readFileSync(rollouts + file, 'utf8')) as T
const key = ({ kind, metadata: { namespace, name } }: KubeObject) =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`

export const rollout = (name: string): Rollout => parsed(`${name}/cluster.json`)

/** Its dump, with the files that lie beside it. */
export function dumpOf({ like, without = [], files = {}, with: own }: Rollout): string {
  const made = mkdtempSync(join(tmpdir(), 'kvup-rollout-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  const gone = new Set([...without, ...own.map(key)])
  const items = [...parsed<KubeObject[]>(`${like}.json`).filter((one) => !gone.has(key(one))), ...own]
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  for (const [name, text] of Object.entries({ ...files, 'all.json': list }))
    writeFileSync(join(made, name), text)
  return made
}
