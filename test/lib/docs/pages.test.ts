import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeTree } from '../../../build/reference/describe.ts'
import { program } from '../../../src/cli.ts'

const files = [...globSync('*.md'), ...globSync('docs/**/*.md')].filter(
  (file) => !file.startsWith('docs/facts/'),
)
const pages = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
const commands = describeTree(await program('kvup', () => async () => undefined, 'all'))

const headingsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gmu)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )

test('every link leads to a file, and to a heading in it', () => {
  const links = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/gu)].map(([, target = '']) => ({ file, target })),
  )
  const dead = links.filter(({ file, target }) => {
    if (/^https?:/u.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const found = path === '' ? file : join(dirname(file), path)
    return !existsSync(found) || (anchor !== undefined && !headingsOf(found).includes(anchor))
  })
  expect(links.length).toBeGreaterThan(30)
  expect(dead).toEqual([])
})

/** Command lines in code: spans and blocks, up to a pipe, a redirection, a comment or the explanation behind them. */
const typed = pages
  .filter(({ file }) => !file.startsWith('docs/commands/'))
  .flatMap(({ file, text }) =>
    [...text.matchAll(/(?:^|`|→ |\$ |\()(kvup(?: [^`\n|>#)]+)?)/gmu)].map(([, line = '']) => ({
      file,
      line: (line.split(/ {3,}| && | shows /u)[0] ?? '').trim(),
    })),
  )

function wrongIn(line: string): string[] {
  // Behind it stands the command line of another program.
  const [own = line] = line.split(' -- ')
  const words = own.split(' ')
  const names = words.slice(1).filter((word) => !word.startsWith('-'))
  const known = commands
    .filter(({ path }) => `${['kvup', ...names].join(' ')} `.startsWith(`${path} `))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  if (!known || (!known.runs && known.path !== ['kvup', ...names].join(' ')))
    return [`${line}: no such command`]
  const flags = [...known.options, ...(commands[0]?.options ?? [])].map(({ term }) => term).join(' ')
  return words
    .filter((word) => word.startsWith('-'))
    .map((word) => word.replace(/[=[].*/u, ''))
    .filter((flag) => !` ${flags.replaceAll(',', '')} `.includes(` ${flag} `))
    .map((flag) => `${line}: no ${flag}`)
}

test('every kvup command line in the pages has a command and flags that exist', () => {
  const prose =
    /^kvup (itself|is|needs|has|it|what|guesses|takes|upgrades|could|wrote|judges|picks|approves|asks|history shows|0\.|\d)/u
  const lines = typed.filter(({ line }) => !prose.test(line) && line !== 'kvup')
  expect(lines.length).toBeGreaterThan(40)
  expect(lines.flatMap(({ file, line }) => wrongIn(line).map((wrong) => `${file}: ${wrong}`))).toEqual([])
})

test('a command or a flag that does not exist would be found', () => {
  expect(wrongIn('kvup workloads outdatde')).toHaveLength(1)
  expect(wrongIn('kvup chekc')).toHaveLength(1)
  expect(wrongIn('kvup upgrade --to v1.8.4 --planned x')).toHaveLength(1)
  expect(wrongIn('kvup upgrade --to v1.8.4 -o json --dry-run=server')).toEqual([])
})

test('no page names a machine or a tool of ours', () => {
  const wrong = pages
    .filter(({ text }) => /\/work\b|\/tmp\/|\blocalhost:\d|@@/u.test(text))
    .map(({ file }) => file)
  expect(wrong).toEqual([])
})

test('every script of npm that the pages name is there', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const run = pages.flatMap(({ text }) =>
    [...text.matchAll(/npm run ([a-z:0-9]+)/gu)].map(([, name = '']) => name),
  )
  expect(run.length).toBeGreaterThan(8)
  expect(run.filter((name) => !(name in scripts))).toEqual([])
})

test('README has at most 150 lines, and the two commands that run the main job and the tests', () => {
  const readme = readFileSync('README.md', 'utf8')
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  const [demo, tests] = [...readme.matchAll(/^```sh\n(.*)\n```$/gmu)].map(([, line]) => line)
  expect(demo).toBe('npm ci && npm run demo')
  expect(tests).toBe('npm ci && npm test')
  const steps = [...readFileSync('.ci/run', 'utf8').matchAll(/^step (.*)$/gmu)].map(([, step]) => step)
  expect(steps.slice(0, 2).join(' && ')).toBe(tests)
  expect(readme).toMatch(/^The tests take about \w+ minutes? on two cores; a line says when they build\./mu)
  expect(readme).not.toMatch(/nothing is (?:stored|kept|saved) on your machine|takes no backups?/iu)
})
