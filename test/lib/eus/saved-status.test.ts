import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/cluster/cluster.ts'
import { systemClock } from '../../../src/lib/system/clock.ts'
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
  ['platforms/eus-window-at-4.19', { from: '4.18' }],
  ['platforms/armed-update', { armed: { by: 'somebody else' } }],
  ['eus/mid-window', { from: '4.18', to: '4.20' }],
  ['eus/platform-alone', { borrowed: [] }],
])('kvup eus status --from %s, of what oc get -o yaml printed', async (folder, expected) => {
  const { code, document, problems } = await statusOf(folder)
  expect({ code, problems }).toEqual({ code: 0, problems: [] })
  expect(document).toMatchObject(expected)
})
