import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseSavedCluster, readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
import type { SavedCluster } from '../../../../src/lib/kube/saved/saved-cluster.ts'
import { statusReport } from '../../../../src/lib/status/status-report.ts'
import { paintFor, printedLine } from '../../../../src/lib/output/terminal.ts'
import { statusDocumentOf } from '../../status-document.ts'
import { statusView } from '../../../../src/lib/output/views/status.ts'

const folder = new URL('../../../examples/platforms/', import.meta.url)
const names = readdirSync(folder).filter((name) => !name.endsWith('.md'))
const placeOf = (name: string) => fileURLToPath(new URL(`${name}/`, folder))

async function report({ reader, takenAt }: SavedCluster) {
  const at = takenAt ?? new Date(0)
  return statusReport(reader, { now: () => at, sleep: async () => undefined })
}

async function textOf(cluster: SavedCluster, columns = Infinity): Promise<string> {
  const document = statusDocumentOf(await report(cluster))
  const paint = paintFor({ colour: false, unicode: true })
  return `${statusView.text(document, paint, { columns, wide: false }).map(printedLine).join('\n')}\n`
}

/** Expected text beside the dump; with UPDATE=1 it is written anew. */
function expected(name: string, actual: string): string {
  const file = new URL(`${name}/status.txt`, folder)
  if (process.env['UPDATE'] === '1' || !existsSync(file)) {
    if (process.env['CI']) throw new Error(`${name}/status.txt is missing`)
    writeFileSync(file, actual)
  }
  return readFileSync(file, 'utf8')
}

test.each(names)('kvup status --from what oc printed: %s', async (name) => {
  const told = await textOf(await readSaved(placeOf(name), 'platform'))
  const text = told.replaceAll(placeOf(name), 'DUMP')
  expect(text).toBe(expected(name, text))
})

test.each([
  ['idle-4.18', 'Healthy', undefined],
  ['eus-window-at-4.19', 'Updating', 'pools'],
  ['armed-update', 'Waiting', undefined],
  ['pool-degraded', 'Degraded', undefined],
  ['okd-updating', 'Updating', undefined],
  ['csv-held', 'Waiting', undefined],
])('%s: %s over all', async (name, verdict, by) => {
  const { overall, window } = await report(await readSaved(placeOf(name), 'platform'))
  expect(overall?.verdict).toBe(verdict)
  expect(window?.by).toBe(by)
})

test('single objects one after the other are as good as a List', async () => {
  const name = 'csv-held'
  const files = readdirSync(placeOf(name)).filter((file) => file.endsWith('.json'))
  const objects = files.flatMap(
    (file) => JSON.parse(readFileSync(new URL(`${name}/${file}`, folder), 'utf8')) as unknown[],
  )
  const text = objects.map((object) => stringify(object)).join('---\n')
  const one = await parseSavedCluster(text, 'standard input', 'platform')
  const both = await Promise.all([textOf(one), textOf(await readSaved(placeOf(name), 'platform'))])
  expect(both[0].replaceAll('standard input', placeOf(name))).toBe(both[1])
})

test('a dump of pods alone is no platform, and says what would be one', async () => {
  const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}'
  await expect(parseSavedCluster(pod, 'pods.json', 'platform')).rejects.toThrow(
    /has no KubeVirt .*ClusterVersion/,
  )
})

test('it fits 40 columns', async () => {
  const text = await textOf(await readSaved(placeOf('csv-held'), 'platform'), 40)
  const long = text
    .split('\n')
    .filter((line) => line.length > 40 && line.trim().includes(' ') && !/→|\S{30}/u.test(line))
  expect(long).toEqual([])
})
