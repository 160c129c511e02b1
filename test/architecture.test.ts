import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Arrow, importsOf } from './imports-of.ts'
import fixture from './architecture.json' with { type: 'json' }

/** Who may import whom, by room. A `type` entry may be imported as types only. */
const mayImport: Record<string, { code: string[]; types?: string[] }> = fixture.mayImport

/** Rooms within a folder: what needs no cluster and nothing else, and what has rules of its own. */
const innerRooms: readonly (readonly [RegExp, string])[] = [
  [/^src\/lib\/kube\/(?:errors|text|duration|clock|shell-line|line-guard|quantity)\.ts$/u, 'kube/base'],
  [/^src\/lib\/output\/kvup-words\.ts$/u, 'kvup-words'],
  [/^src\/lib\/checks\/probes\//u, 'checks/probes'],
  [/^src\/simulator\//u, 'simulator'],
]

/** `checks` may use what is pure in kube: conditions of an object, rights in a role, what is known and since when. A view needs the name of an EUS window. */
const exceptions = new Set([
  ...['object', 'access-rights', 'known', 'timestamps'].map((name) => `checks -> src/lib/kube/${name}.ts`),
  'output -> src/lib/engine/overrides.ts',
])

/** Where a package may be imported (types included). */
const onlyIn: Record<string, RegExp> = {
  '@kubernetes/client-node': /^src\/(open\.ts|lib\/kube\/http)/u,
  undici: /^src\/(open\.ts|lib\/kube\/http|lib\/manifests\/)/u,
  commander: /^src\/(main\.ts|cli\.ts|commands\/)/u,
  chalk: /^src\/lib\/output\//u,
  ora: /^src\/lib\/output\//u,
  inquirer: /^src\/lib\/output\//u,
  'jsonpath-plus': /^src\/lib\/output\//u,
  yaml: /^src\/(settings\.ts|lib\/(output|fleet|manifests|releases\/catalog-path|engine\/sealed-plan|kube\/saved|kube\/http))/u,
  semver: /^src\/lib\/releases\//u,
}

const files = globSync('src/**/*.ts').toSorted()
const arrows = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))
const room = (path: string): string | undefined =>
  innerRooms.find(([inside]) => inside.test(path))?.[1] ??
  /^src\/lib\/(?<name>[^/]+)\//u.exec(path)?.groups?.['name']

const target = ({ from, to }: Arrow): string => (to.startsWith('.') ? join(dirname(from), to) : to)

function forbidden(arrow: Arrow): boolean {
  const { from, to, typeOnly } = arrow
  if (!to.startsWith('.')) return false
  const [here, there] = [room(from), room(target(arrow))]
  if (here === undefined) return there === 'simulator' && !/^src\/commands\/(?:demo|rehearse)/u.test(from)
  if (there === undefined) return true
  const rule = mayImport[here]
  if (here === there || rule?.code.includes(there)) return false
  return !(typeOnly && rule?.types?.includes(there)) && !exceptions.has(`${here} -> ${target(arrow)}`)
}

test('every room has its arrows', () => {
  const rooms = new Set(files.map(room).filter((name) => name !== undefined))
  expect([...rooms].filter((name) => !(name in mayImport))).toEqual([])
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
test.each(fixture.caught)('%s in %s is caught', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toHaveLength(1)
})

test.each(fixture.allowed)('%s in %s is allowed', (code, file) => {
  expect(importsOf(file, code).filter(forbidden)).toEqual([])
})
