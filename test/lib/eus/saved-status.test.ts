import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import { readSchema, validate } from '../docs/json-schema.ts'
import { runKvup } from '../docs/run-kvup.ts'

const offline = { cluster: {} as Cluster, clock: systemClock }
const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)

async function statusOf(folder: string) {
  const line = `eus status --from test/examples/${folder} -o json`
  const { code, documents } = await runKvup(line.split(' '), offline)
  const [document] = documents as Record<string, unknown>[]
  return { code, document: document ?? {}, problems: validate(document ?? {}, 'eus-status.json', schemas) }
}

test.each([
  ['platforms/idle-4.18', { open: false, from: '4.18' }],
  ['platforms/eus-window-at-4.19', { open: true, from: '4.18' }],
  ['platforms/armed-update', { open: false, armed: { by: 'somebody else' } }],
  ['eus/mid-window', { open: true, from: '4.18', to: '4.20' }],
  ['eus/mid-window-by-hand', { open: true, from: '4.18', to: '4.20', overrides: [] }],
  ['eus/platform-alone', { open: false, overrides: [] }],
])('kvup eus status --from %s, of what oc get -o yaml printed', async (folder, expected) => {
  const { code, document, problems } = await statusOf(folder)
  expect({ code, problems }).toEqual({ code: 0, problems: [] })
  expect(document).toMatchObject(expected)
})

const saved = ['eus', 'platforms'].flatMap((group) =>
  readdirSync(`test/examples/${group}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${group}/${name}`),
)

test.each(saved)('of %s, kvup status, eus status and eus plan say the same of a window', async (folder) => {
  const { document } = await statusOf(folder)
  const at = existsSync(`test/examples/${folder}/cluster`) ? `${folder}/cluster` : folder
  const all = await runKvup(['status', '--from', `test/examples/${at}`, '-o', 'json'], offline)
  const [layers] = all.documents as { window?: { from?: string } }[]
  expect(document['open'] ?? false).toBe(layers?.window !== undefined)
  const plan = await runKvup(['eus', 'plan', '--from', `test/examples/${at}`, '-o', 'json'], offline)
  const [planned] = plan.documents as { began?: string; notes?: string[] }[]
  const notes = (planned?.notes ?? []).filter((note) => note.startsWith('an EUS upgrade is running'))
  expect(notes).toHaveLength(document['open'] === true ? 1 : 0)
})
