import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DaemonSets, Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import { kvup } from '../in-process.ts'
import { type Alive, put, serveCluster, type Served, serveObjects } from './simulated.ts'

/** Sets the title of a terminal, clears it, goes back over the line, and hides what follows from a reader. */
const hostile = '\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202e\u0000fine'

/** As it can stand on a command line. */
const typed = hostile.replaceAll('\u0000', '')

let alive: Alive
let served: Served
beforeAll(async () => {
  alive = await serveCluster({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 })
  served = await serveObjects()
  for (const object of alive.store.everything()) put(served.store, damaged(object))
})
afterAll(() => Promise.all([alive.stop(), served.stop()]))

/** The texts that an operator, a kubelet or a user may write freely. */
function damaged(object: KubeObject): KubeObject {
  const copy = structuredClone(object) as KubeObject & { spec?: object; status?: object }
  if (isOf(copy, KubeVirts)) {
    for (const condition of copy.status?.conditions ?? []) condition.message = hostile
    Object.assign(copy.status ?? {}, {
      targetKubeVirtVersion: `v1.8.4${hostile}`,
      targetDeploymentID: 'other',
    })
  }
  if (isOf(copy, Pods) && copy.metadata.labels?.['kubevirt.io'] === 'virt-handler')
    Object.assign(copy.status ?? {}, {
      conditions: [{ type: 'Ready', status: 'False', reason: hostile, message: hostile }],
      containerStatuses: [
        {
          name: 'virt-handler',
          ready: false,
          restartCount: 4,
          image: hostile,
          state: { waiting: { reason: 'ImagePullBackOff', message: hostile } },
        },
      ],
    })
  if (isOf(copy, DaemonSets))
    copy.metadata.labels = { ...copy.metadata.labels, 'app.kubernetes.io/managed-by': hostile }
  return copy
}

function isOf<T extends KubeObject>(object: KubeObject, { kind, apiVersion }: Kind<T>): object is T {
  return object.kind === kind && object.apiVersion === apiVersion
}

const formats = [
  'table',
  'wide',
  'json',
  'yaml',
  'name',
  'ndjson',
  'jsonpath={.conditions[*].message} {.why}',
  'custom-columns=A:.conditions[*].message',
]

describe.concurrent.each(formats)('-o %s', (format) => {
  test('text of the cluster never reaches stdout or stderr raw', async () => {
    const { code, stdout, stderr } = await kvup(['status', '-o', format], served)
    expect(code).toBe(0)
    expect(stdout + stderr).toMatch(/fine|kubevirt\/kubevirt/)
    expect(rawIn(stdout + stderr)).toEqual([])
  })
})

test.concurrent.each([
  ['history'],
  ['version'],
  ['restore-settings'],
  ['upgrade', '--to', 'v1.8.4'],
  ['upgrade', '--to', 'v1.8.4', '--dry-run=client'],
  ['upgrade', '--to', typed],
  ['status', '--context', typed],
  ['status', '-o', typed],
  [typed],
])('%j says nothing raw', async (...argv) => {
  const { stdout, stderr } = await kvup(argv, served)
  expect(stdout + stderr).not.toBe('')
  expect(rawIn(stdout + stderr)).toEqual([])
})

/** With colours on, the only escapes are colours. */
test('--color=always colours and does nothing else', async () => {
  const { stdout } = await kvup(['status', '--color=always'], served)
  const [first = '', ...coloured] = stdout.split('\u001b')
  const rest = coloured.map((part) => /^\[[0-9;]*m(?<text>[^]*)$/u.exec(part)?.groups?.['text'])
  expect(coloured.length).toBeGreaterThan(0)
  expect(rest).not.toContain(undefined)
  expect(rawIn(first + rest.join(''))).toEqual([])
})

/** Control characters other than newline, and marks that reorder or hide text. */
function rawIn(text: string): string[] {
  return Array.from(text)
    .filter((character) => isRaw(character.codePointAt(0) ?? 0))
    .map((character) => JSON.stringify(character))
}

function isRaw(point: number): boolean {
  return (point < 32 && point !== 10) || (point >= 127 && point < 160) || (point >= 0x202a && point <= 0x202e)
}
