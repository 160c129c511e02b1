import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Arrow, importsOf } from './imports-of.ts'

/** Who may import whom, by folder of src/lib. A `type` entry may be imported as types only. */
const mayImport: Record<string, { code: string[]; types?: string[] }> = {
  system: { code: [] },
  releases: { code: ['system'] },
  cluster: { code: ['system'] },
  config: { code: ['system'] },
  facts: { code: ['cluster', 'releases', 'system'] },
  checks: { code: ['facts', 'releases', 'system'], types: ['manifests', 'cluster'] },
  manifests: { code: ['cluster', 'system'] },
  procedure: { code: ['cluster', 'system'] },
  probes: { code: ['checks', 'manifests', 'facts', 'releases', 'cluster', 'system'] },
  run: { code: ['procedure', 'checks', 'facts', 'cluster', 'system'], types: ['output'] },
  workloads: { code: ['procedure', 'facts', 'releases', 'cluster', 'system'] },
  seal: { code: ['facts', 'cluster', 'system'] },
  catalogs: { code: ['releases', 'system'] },
  upgrade: {
    code: ['catalogs', 'workloads', 'manifests', 'procedure', 'facts', 'releases', 'cluster', 'system'],
    types: ['checks', 'seal'],
  },
  eus: {
    code: [
      'upgrade',
      'workloads',
      'manifests',
      'catalogs',
      'procedure',
      'facts',
      'releases',
      'cluster',
      'system',
    ],
    types: ['checks', 'seal'],
  },
  output: {
    code: ['system'],
    types: [
      'eus',
      'facts',
      'checks',
      'procedure',
      'upgrade',
      'seal',
      'workloads',
      'manifests',
      'releases',
      'run',
      'cluster',
      'config',
    ],
  },
  simulator: { code: ['cluster', 'releases', 'system'] },
}

/** `checks` may use what is pure in cluster: the conditions of an object, the rights in a role. */
const exceptions = new Set(['checks -> src/lib/cluster/object.ts', 'checks -> src/lib/cluster/rights-in.ts'])

/** Where a package may be imported (types included). */
const onlyIn: Record<string, RegExp> = {
  '@kubernetes/client-node': /^src\/(open\.ts|lib\/cluster\/http)/u,
  undici: /^src\/(open\.ts|lib\/cluster\/http|lib\/manifests\/)/u,
  commander: /^src\/(main\.ts|program\.ts|commands\/)/u,
  chalk: /^src\/lib\/output\//u,
  ora: /^src\/lib\/output\//u,
  inquirer: /^src\/lib\/output\//u,
  'jsonpath-plus': /^src\/lib\/output\//u,
  yaml: /^src\/lib\/(output|config|manifests|catalogs|seal|cluster\/saved|cluster\/http)/u,
  semver: /^src\/lib\/releases\//u,
}

const files = globSync('src/**/*.ts').toSorted()
const arrows = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))
const folder = (path: string) => /^src\/lib\/(?<name>[^/]+)\//u.exec(path)?.groups?.['name']

function forbidden({ from, to, typeOnly }: Arrow): boolean {
  if (!to.startsWith('.')) return false
  const target = join(dirname(from), to)
  const [here, there] = [folder(from), folder(target)]
  if (here === undefined) return there === 'simulator' && !from.startsWith('src/commands/demo')
  if (there === undefined) return true
  const rule = mayImport[here]
  if (here === there || rule?.code.includes(there)) return false
  return !(typeOnly && rule?.types?.includes(there)) && !exceptions.has(`${here} -> ${target}`)
}

test('every folder of lib has its arrows', () => {
  const folders = new Set(files.map(folder).filter((name) => name !== undefined))
  expect([...folders].filter((name) => !(name in mayImport))).toEqual([])
})

test('imports follow the arrows', () => {
  expect(arrows.filter(forbidden)).toEqual([])
})

test.each(Object.entries(onlyIn))('%s stays where it belongs', (name, where) => {
  expect(
    arrows.filter(({ from, to }) => (to === name || to.startsWith(`${name}/`)) && !where.test(from)),
  ).toEqual([])
})

test('process and console stay in open.ts, clocks in system and the sockets', () => {
  const wrong = files.filter((file) => {
    const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gmu, '')
    const world = /\bprocess\.|\bconsole\./u.test(code) && file !== 'src/open.ts'
    const time = /\bDate\.now\(|new Date\(\)|\bsetTimeout\(|\bsetInterval\(/u.test(code)
    const timeHere =
      /^src\/(open\.ts|lib\/system\/clock\.ts|lib\/cluster\/http|lib\/manifests\/|lib\/simulator\/api\/)/u.test(
        file,
      )
    return world || (time && !timeHere)
  })
  expect(wrong).toEqual([])
})

/** The guard itself: each arrow that must not be is drawn once and seen to be caught. */
test.each([
  ["import { x } from '../facts/x.ts'", 'src/lib/cluster/y.ts'],
  ["import {\n  x,\n  z,\n} from '../../facts/x.ts'", 'src/lib/procedure/deep/y.ts'],
  ["export { x } from '../upgrade/x.ts'", 'src/lib/facts/y.ts'],
  ["const x = await import('../output/x.ts')", 'src/lib/run/y.ts'],
  ["import { x } from '../procedure/x.ts'", 'src/lib/output/y.ts'],
  ["import { x } from '../../main.ts'", 'src/lib/facts/y.ts'],
  ["import { x } from '../lib/simulator/x.ts'", 'src/commands/status.ts'],
])('%s in %s is caught', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toHaveLength(1)
})

test.each([
  ["import type { x } from '../procedure/x.ts'", 'src/lib/output/y.ts'],
  ["import { type x } from '../cluster/x.ts'", 'src/lib/facts/y.ts'],
  ["// import { x } from '../facts/x.ts'", 'src/lib/cluster/y.ts'],
])('%s in %s is allowed', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toEqual([])
})
