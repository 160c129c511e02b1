// The scripts of the guide in a shell, each with whole upgrades: more than 3 s of processor time.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { entries } from '../../../src/commands/entries.ts'
import { parseXml } from '../../lib/output/parse-xml.ts'
import { paste as pasteHere } from '../in-process.ts'
import { paste } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

/** The examples of docs/guide/ci.md, as they stand there. */
const page = readFileSync('docs/guide/ci.md', 'utf8')
const blocks = new Map(
  page.split(/^## /mu).map((section) => {
    const title = section.slice(0, section.indexOf('\n'))
    const code = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)].map(([, language, text = '']) => ({
      language,
      text,
    }))
    return [title, code] as const
  }),
)
const blockOf = (title: string, language: string): string =>
  blocks.get(title)?.find((block) => block.language === language)?.text ?? ''

let cluster: Alive
let cwd: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'kvup-ci-'))
  cluster = await serveCluster({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
    vms: 2,
  })
})
afterEach(async () => {
  await cluster.stop()
  rmSync(cwd, { recursive: true })
})

const run = (script: string, env: Record<string, string> = {}) =>
  paste(script, { kubeconfig: cluster.kubeconfig, cwd, env: { TO: 'v1.8.4', KVUP_STABLE_FOR: '1s', ...env } })
const read = (file: string) => readFileSync(join(cwd, file), 'utf8')

interface Workflow {
  jobs: {
    upgrade: {
      'timeout-minutes': number
      steps: { name: string; run?: string; uses?: string; with?: { path: string } }[]
    }
  }
}

test('GitHub Actions: each step of the workflow, one after the other', async () => {
  const { jobs } = parse(blockOf('GitHub Actions', 'yaml')) as Workflow
  const step = (name: string) => jobs.upgrade.steps.find((one) => one.name === name)
  const log = {
    KUBECONFIG_DATA: readFileSync(cluster.kubeconfig, 'utf8'),
    RUNNER_TEMP: cwd,
    GITHUB_ENV: join(cwd, 'env'),
  }
  expect(await run(step('Log in')?.run ?? '', log)).toMatchObject({ code: 0, stderr: '' })
  const [name, kubeconfig = ''] = read('env').trim().split('=')
  expect([name, readFileSync(kubeconfig, 'utf8')]).toEqual(['KUBECONFIG', log.KUBECONFIG_DATA])
  expect(statSync(kubeconfig).mode & 0o777).toBe(0o600)
  const there = { KUBECONFIG: kubeconfig, GITHUB_ACTIONS: 'true', CI: 'true' }
  for (const [title, level] of [
    ['Check', 'warning'],
    ['Upgrade', 'notice'],
  ] as const) {
    const ended = await run(step(title)?.run ?? '', there)
    expect(ended.code).toBe(0)
    const lines = ended.stdout.trimEnd().split('\n')
    expect(
      lines.filter((line) => !/^::(?:error|warning|notice) title=kvup (?:check|upgrade)/u.test(line)),
    ).toEqual([])
    expect(lines.at(-1)).toMatch(new RegExp(`^::${level} `, 'u'))
  }
  expect(read(step('Keep the log')?.with?.path ?? '')).toMatch(/ virt-api: done[\s\S]* exit 0\n$/u)
  // kvup ends by itself before the job is killed.
  expect(jobs.upgrade['timeout-minutes']).toBeGreaterThan(60)
})

test('GitLab: the script, and every file that the job keeps', async () => {
  const { upgrade } = parse(blockOf('GitLab', 'yaml')) as {
    upgrade: { script: string[]; artifacts: { paths: string[]; reports: { junit: string[] } } }
  }
  for (const line of upgrade.script) expect(await run(line)).toMatchObject({ code: 0 })
  const suites = upgrade.artifacts.reports.junit.map((file) => parseXml(read(file)))
  expect(suites.map(({ attributes }) => [attributes['name'], attributes['failures']])).toEqual([
    ['kvup check', '0'],
    ['kvup upgrade', '0'],
  ])
  expect(upgrade.artifacts.paths.map((file) => read(file).length > 0)).toEqual([true])
})

test('events: the last line is the document, and each line before it is an event', async () => {
  const script = blockOf('Events', 'sh')
  const ended = await run(script)
  expect(ended.code).toBe(0)
  const [outcome, ...steps] = ended.stdout.trimEnd().split('\n')
  expect(outcome).toBe('done')
  expect(steps.map((line) => line.split('\t')[0])).toEqual(
    expect.arrayContaining(['set-image-tag', 'virt-handler', 'virt-api']),
  )
})

test('one VM first: each line is one that kvup takes', async () => {
  const lines = blockOf('One VM first', 'sh')
    .split('\n')
    .filter((line) => line.startsWith('kvup '))
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    const typed = `${line.replace('"$TO"', 'v1.8.4')} --dry-run=client`
    expect(await pasteHere(typed, cluster)).toMatchObject({ code: 0 })
  }
})

interface Formats {
  name: string
  formats?: readonly string[] | undefined
  hidden?: boolean | undefined
  under?: readonly Formats[] | undefined
}

const joined = (pairs: readonly (readonly string[])[]) => new Set(pairs.map((pair) => pair.join(' ')))

test('the table of formats is what the commands take', () => {
  const taken = (entry: Formats, before = ''): [string, string][] =>
    entry.hidden
      ? []
      : [
          ...(entry.formats ?? []).map((format): [string, string] => [format, `${before}${entry.name}`]),
          ...(entry.under ?? []).flatMap((one) => taken(one, `${before}${entry.name} `)),
        ]
  const told = [...page.matchAll(/^\| `-o ([\w-]+)` \| (`.*`) \|$/gmu)].flatMap(
    ([, format = '', cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/gu)].map(([, command = '']) => [format, command]),
  )
  expect(joined(told)).toEqual(joined(entries.flatMap((one) => taken(one))))
})

test('each job installs kvup before it calls it', () => {
  const { jobs } = parse(blockOf('GitHub Actions', 'yaml')) as Workflow
  const lines = jobs.upgrade.steps.map((step) => step.run ?? '')
  const install = lines.findIndex((line) => line.startsWith('npm install -g "$KVUP"'))
  expect(install).toBeGreaterThanOrEqual(0)
  expect(lines.findIndex((line) => line.startsWith('kvup '))).toBeGreaterThan(install)
  const { upgrade } = parse(blockOf('GitLab', 'yaml')) as { upgrade: { before_script: string[] } }
  expect(upgrade.before_script).toEqual(['npm install -g "$KVUP_PACKAGE"'])
})

test('an empty variable is exit 2 in every line that has one', async () => {
  const lines = [...page.matchAll(/kvup (?:check|upgrade) --to "\$TO"[^\n>]*/gu)].map(([line]) => line)
  expect(lines.length).toBeGreaterThanOrEqual(5)
  for (const line of lines)
    expect(await pasteHere(line.replace('"$TO"', "''"), cluster)).toMatchObject({ code: 2 })
})
