import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { runText } from '../run-text.ts'
import { readSchema, validate } from './json-schema.ts'
import { runKvup } from './run-kvup.ts'

const folder = 'test/examples/platforms'
const offline = { cluster: {} as Cluster, clock: systemClock }
const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)

const names = readdirSync(folder).filter((name) => !name.endsWith('.md'))

test.each(names)('kvup status --from %s -o json is of its schema, layers and all', async (name) => {
  const { code, documents } = await runKvup(`status --from ${folder}/${name} -o json`.split(' '), offline)
  expect(code).toBe(0)
  const [document] = documents as { overall?: object; layers?: readonly { title: string }[] }[]
  expect(document?.overall).toBeDefined()
  expect(document?.layers?.map(({ title }) => title)).toEqual(
    expect.arrayContaining(['platform', 'pool master']),
  )
  expect(validate(document as object, 'status.json', schemas)).toEqual([])
})

test.each([
  ['idle-4.18', 0],
  ['eus-window-at-4.19', 10],
  ['csv-held', 10],
  ['pool-degraded', 3],
])('%s: --exit-code is the verdict over all, %i', async (name, code) => {
  const ran = await runText(`status --from ${folder}/${name} --exit-code`.split(' '), offline)
  expect(ran.code).toBe(code)
})

test('-o name names the first layer where there is no KubeVirt', async () => {
  const { out } = await runText(`status --from ${folder}/idle-4.18 -o name`.split(' '), offline)
  expect(out).toBe('clusterversion/version\n')
})
