import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Arrow, importsOf } from './imports-of.ts'

/** Who may import whom, by folder of src/lib. A `type` entry may be imported as types only. */
const mayImport: Record<string, { code: string[]; types?: string[] }> = {
  kube: { code: [] },
  releases: { code: ['kube'] },
  manifests: { code: ['kube'] },
  engine: { code: ['kube'] },
  kubevirt: { code: ['kube', 'releases'] },
  openshift: { code: ['kube', 'releases'], types: ['kubevirt'] },
  status: { code: ['kubevirt', 'openshift', 'kube', 'releases'] },
  checks: { code: ['kubevirt', 'manifests', 'kube', 'releases'] },
  vms: { code: ['engine', 'kubevirt', 'openshift', 'kube', 'releases'] },
  upgrade: {
    code: ['vms', 'openshift', 'kubevirt', 'engine', 'manifests', 'kube', 'releases'],
    types: ['checks'],
  },
  eus: {
    code: ['upgrade', 'vms', 'openshift', 'kubevirt', 'engine', 'manifests', 'kube', 'releases'],
    types: ['checks'],
  },
  output: {
    code: ['kube'],
    types: [
      'eus',
      'upgrade',
      'vms',
      'checks',
      'status',
      'openshift',
      'kubevirt',
      'engine',
      'manifests',
      'releases',
    ],
  },
}

/** What a view needs of the engine is a name: the procedure of an EUS window. */
const exceptions = new Set(['output -> src/lib/engine/overrides.ts'])

/** What these may use of kube, so that judging stays pure and a view has no cluster at hand: no connection and nothing that asks. */
const offline: Record<string, RegExp> = {
  checks: /^src\/lib\/kube\/(?!http\/|saved\/|read-cache|settings|bounded-file)/u,
  output: /^src\/lib\/kube\/(?!http\/|saved\/|read-cache|bounded-file)/u,
  releases: /^src\/lib\/kube\/(?!http\/|saved\/|read-cache|settings|bounded-file)/u,
}

/** Where a package may be imported (types included). */
const onlyIn: Record<string, RegExp> = {
  '@kubernetes/client-node': /^src\/(open\.ts|lib\/kube\/http)/u,
  undici: /^src\/(open\.ts|lib\/kube\/http|lib\/manifests\/)/u,
  commander: /^src\/(main\.ts|cli\.ts|commands\/)/u,
  chalk: /^src\/lib\/output\//u,
  ora: /^src\/lib\/output\//u,
  inquirer: /^src\/lib\/output\//u,
  'jsonpath-plus': /^src\/lib\/output\//u,
  yaml: /^src\/lib\/(output|manifests|releases\/catalog-file|engine|kube\/settings|kube\/saved|kube\/http)/u,
  semver: /^src\/lib\/releases\//u,
}

const files = globSync('src/**/*.ts').toSorted()
const arrows = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))
const folder = (path: string) => /^src\/lib\/(?<name>[^/]+)\//u.exec(path)?.groups?.['name']
const isSimulator = (path: string) => path.startsWith('src/simulator/')

function forbidden({ from, to, typeOnly }: Arrow): boolean {
  if (!to.startsWith('.')) return false
  const target = join(dirname(from), to)
  const [here, there] = [folder(from), folder(target)]
  if (isSimulator(from)) return !isSimulator(target) && there !== 'kube' && there !== 'releases'
  if (isSimulator(target)) return !from.startsWith('src/commands/demo')
  if (here === undefined) return false
  if (there === undefined) return true
  const rule = mayImport[here]
  if (here === there) return false
  if (rule?.code.includes(there))
    return !typeOnly && !(there !== 'kube' || (offline[here]?.test(target) ?? true))
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

test('process and console stay in open.ts, clocks in kube/clock.ts and the sockets', () => {
  const wrong = files.filter((file) => {
    const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gmu, '')
    const world = /\bprocess\.|\bconsole\./u.test(code) && file !== 'src/open.ts'
    const time = /\bDate\.now\(|new Date\(\)|\bsetTimeout\(|\bsetInterval\(/u.test(code)
    const timeHere =
      /^src\/(open\.ts|lib\/kube\/clock\.ts|lib\/kube\/http|lib\/manifests\/|simulator\/api\/)/u.test(file)
    return world || (time && !timeHere)
  })
  expect(wrong).toEqual([])
})

const target = ({ from, to }: Arrow): string => (to.startsWith('.') ? join(dirname(from), to) : to)

test('a file under 40 lines has more than one importer, or is loaded late', () => {
  const late = new Set(
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bimport\(\s*'([^']+)'/gu)].map(([, to = '']) =>
        join(dirname(file), to),
      ),
    ),
  )
  const lonely = files.filter(
    (file) =>
      readFileSync(file, 'utf8').split('\n').length <= 40 &&
      !late.has(file) &&
      new Set(arrows.filter((arrow) => target(arrow) === file).map(({ from }) => from)).size < 2,
  )
  expect(lonely).toEqual([])
})

/** The guard itself: each arrow that must not be is drawn once and seen to be caught. */
test.each([
  ["import { x } from '../kubevirt/x.ts'", 'src/lib/kube/y.ts'],
  ["import {\n  x,\n  z,\n} from '../../kubevirt/x.ts'", 'src/lib/engine/deep/y.ts'],
  ["export { x } from '../upgrade/x.ts'", 'src/lib/kubevirt/y.ts'],
  ["const x = await import('../output/x.ts')", 'src/lib/engine/y.ts'],
  ["import { x } from '../engine/x.ts'", 'src/lib/output/y.ts'],
  ["import { x } from '../../main.ts'", 'src/lib/kubevirt/y.ts'],
  ["import { x } from '../simulator/x.ts'", 'src/commands/status.ts'],
  ["import { x } from '../../simulator/x.ts'", 'src/lib/kube/y.ts'],
  ["import { x } from '../../lib/engine/x.ts'", 'src/simulator/api/y.ts'],
  ["import { x } from '../kube/http/requests.ts'", 'src/lib/checks/y.ts'],
  ["import { x } from '../kube/saved/saved-file.ts'", 'src/lib/output/y.ts'],
])('%s in %s is caught', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toHaveLength(1)
})

test.each([
  ["import type { x } from '../engine/x.ts'", 'src/lib/output/y.ts'],
  ["import { type x } from '../kube/x.ts'", 'src/lib/kubevirt/y.ts'],
  ["// import { x } from '../kubevirt/x.ts'", 'src/lib/kube/y.ts'],
])('%s in %s is allowed', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toEqual([])
})
