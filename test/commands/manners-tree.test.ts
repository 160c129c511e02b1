import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { describeTree } from '../../build/reference/describe.ts'
import { timeOfDay } from '../../src/lib/output/age.ts'
import { main } from '../../src/main.ts'
import { entryOf } from '../../src/commands/entries.ts'
import { program } from '../../src/cli.ts'

/** Every command, as it is declared; those that completion calls are not for people. */
const root = await program('kvup', () => async () => undefined, 'all')
const described = describeTree(root)
const commands = allOf(root)

function allOf(command: Command, parents: readonly string[] = []): { path: string[]; command: Command }[] {
  const path = command.parent ? [...parents, command.name()] : []
  const children = command.commands.filter((child) => child.name() !== '__complete')
  return [{ path, command }, ...children.flatMap((child) => allOf(child, path))]
}

const flags = commands.flatMap(({ path, command }) =>
  command.options.map(({ long = '', short, flags: written }) => ({ path, long, short, written })),
)

/** A line on a machine without any cluster; what it would do is only noted. */
async function typed(...argv: readonly string[]) {
  const said = { stdout: '', stderr: '' }
  const ran: string[] = []
  const io = {
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    env: { LANG: 'C.UTF-8' },
  }
  const code = await main(argv, io, async (command) => {
    ran.push(command.name())
    throw new Error('it was run')
  })
  return { code, ran, ...said }
}

test.each([
  [['upgrade', '--to', 'v1.8.4', '--dry-run'], 'server'],
  [['upgrade', '--dry-run', '--to', 'v1.8.4'], 'server'],
  [['eus', 'run', '--dry-run'], 'server'],
  [['upgrade', '--dry-run', 'client', '--to', 'v1.8.4'], 'client'],
  [['upgrade', '--to', 'v1.8.4', '--dry-run=client'], 'client'],
])('a bare --dry-run is one by the server: %j', async (argv, mode) => {
  const silent = { stdout: { write: () => true }, stderr: { write: () => true }, env: {} }
  const seen: unknown[] = []
  await main(argv, silent, async (command, { argv: words }) => {
    seen.push(
      command.opts()['dryRun'],
      words.some((word) => word === '--dry-run' && mode === 'server'),
    )
    throw new Error('it was run')
  })
  // The lines that kvup prints again have the value as well.
  expect(seen).toEqual([mode, false])
})

test.each(described.filter(({ path }) => path.includes(' ')))(
  'manner 2: $path says what it is for, with examples and exit codes',
  ({ path, after, ...help }) => {
    expect(help.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(help.usage).toMatch(new RegExp(`^${path} `))
    const [, examples = ''] = /Examples:\n((?: {2}.*\n)+)/.exec(after) ?? []
    expect(examples.trimEnd().split('\n').length).toBeGreaterThanOrEqual(2)
    expect(after).toMatch(/\nExit codes:\n {2}0 /)
  },
)

describe('manner 4: a command is its whole name', () => {
  const names = commands.filter(({ path }) => path.length > 0)
  test.each(names)('$path', async ({ path, command }) => {
    const siblings = command.parent?.commands.map((one) => one.name()) ?? []
    const parts = Array.from({ length: command.name().length - 1 }, (_, at) =>
      command.name().slice(0, at + 1),
    )
    for (const part of parts.filter((one) => !siblings.includes(one)))
      expect(await typed(...path.slice(0, -1), part)).toMatchObject({ code: 2, ran: [], stdout: '' })
  })

  test('and so is a flag', async () => {
    expect(await typed('upgrade', '--to', 'v1.8.4', '--dry', 'client')).toMatchObject({ code: 2, ran: [] })
    expect(await typed('status', '--kubec', 'x')).toMatchObject({ code: 2, ran: [] })
  })
})

describe('manner 3: what is mistyped runs nothing, and says what was meant', () => {
  test.each([
    [['upgrade', 'v1.8.4'], 'did you mean --to v1.8.4?'],
    [['check', '1.9.0', '-o', 'json'], 'did you mean --to 1.9.0?'],
    [['wait', 'v1.8.4', '--for', 'healthy'], 'did you mean --for version=v1.8.4?'],
    [
      ['rbac'],
      'one of kvup-view, kvup-workloads, kvup-settings, kvup-upgrade, kvup-operator-manifest, kvup-olm, kvup-eus\n',
    ],
    [['completion'], 'one of bash, zsh, fish, powershell\n'],
    [['help', 'nosuch'], "unknown command 'nosuch'\n  → kvup --help\n"],
    [['help', 'upgarde'], 'did you mean upgrade?'],
    [['help', 'config', 'veiw'], 'did you mean view?'],
    [['config', 'help', 'veiw'], 'did you mean view?'],
    [['workloads', 'pause'], 'did you mean pause-updates?'],
    [['workloads', 'resume'], "'resume'\n  did you mean resume-updates?\n"],
    [['workloads', 'restart-req'], 'did you mean restart-required?'],
    [['help', 'workloads', 'resume'], 'did you mean resume-updates?'],
    [['help', 'status', 'more'], "unknown command 'more'"],
  ] as const)('kvup %j', async (argv, helps) => {
    const { stderr, stdout, ...ended } = await typed(...argv)
    expect(ended).toEqual({ code: 2, ran: [] })
    expect(stderr).toContain(helps)
    expect(stdout === '' || JSON.parse(stdout)).toSatisfy((out: true | { kind: string }) =>
      out === true ? !argv.some((word) => word === 'json') : out.kind === 'Error',
    )
  })

  test('what is no version is not taken for one', async () => {
    expect((await typed('upgrade', 'prod')).stderr).not.toContain('did you mean')
    expect((await typed('history', 'v1.8.4')).stderr).not.toContain('did you mean')
  })

  test.each([
    ['help', 'upgrade'],
    ['upgrade', '--help'],
    ['help', 'help', 'upgrade'],
  ])('help %s %s is the help of the command', async (...argv) => {
    const { code, stdout } = await typed(...argv.filter((word) => word !== undefined))
    expect({ code, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      first: 'Usage: kvup upgrade [options]',
    })
  })
})

test('manner 8: flags are lower case with dashes, and a short one is kubectl’s', () => {
  expect(flags.length).toBeGreaterThan(50)
  expect(flags.filter(({ long }) => !/^--[a-z]+(?:-[a-z0-9]+)*$/.test(long))).toEqual([])
  const short = new Set(flags.flatMap((flag) => (flag.short === undefined ? [] : [flag.short])))
  const known = new Set(['-n', '-A', '-l', '-o', '-w', '-f', '-v', '-h', '-q', '-y', '-s', '-V'])
  expect([...short].filter((flag) => !known.has(flag))).toEqual([])
})

test('manner 11: the connection flags are kubectl’s', () => {
  const kubectls =
    '--kubeconfig --context --cluster --user --namespace --as --as-group --as-uid --request-timeout --server --token-file ' +
    '--client-certificate --client-key --certificate-authority --insecure-skip-tls-verify --tls-server-name'
  const ours = flags.filter(({ path }) => path.length === 0).map(({ long }) => long)
  expect(ours).toEqual(expect.arrayContaining(kubectls.split(' ')))
})

test('manner 12: no flag takes a secret, only files that hold one', () => {
  const secret = /token|password|secret|key/
  expect(flags.filter(({ long, written }) => secret.test(long) && !written.endsWith('<file>'))).toEqual([])
})

test('manner 16: every format is offered by name, and an unknown one lists them', async () => {
  const { text = '' } = described[0]?.options.find(({ term }) => term.startsWith('-o,')) ?? {}
  expect(text.split(' (')[0]).toBe(
    'table, wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=SPEC, ndjson',
  )
  expect(flags.map(({ long }) => long)).toEqual(expect.arrayContaining(['--no-headers', '--sort-by']))
})

test('manner 21: the clock of the story is the reader’s, and TZ=UTC makes it UTC', () => {
  const before = process.env['TZ']
  const shown = ['UTC', 'Asia/Kolkata'].map((zone) => {
    process.env['TZ'] = zone
    return timeOfDay('2026-11-21T07:10:02Z')
  })
  if (before === undefined) delete process.env['TZ']
  else process.env['TZ'] = before
  expect(shown).toEqual(['07:10:02', '12:40:02'])
})

test('manner 38: what waits takes --timeout', () => {
  const waiting = ['upgrade', 'wait', 'restore-settings']
  const bounded = flags.filter(({ long }) => long === '--timeout').map(({ path }) => path.join(' '))
  expect(bounded).toEqual(expect.arrayContaining(waiting))
})

test('manner 39: one package, and nothing runs when it is installed', () => {
  const { scripts, files } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<string, string>
    files: string[]
  }
  const hooks = new Set(['preinstall', 'install', 'postinstall', 'prepare', 'preuninstall', 'postuninstall'])
  expect(Object.keys(scripts).filter((name) => hooks.has(name))).toEqual([])
  expect(files).toEqual(expect.arrayContaining(['bin', 'dist', 'docs', 'completions', 'LICENSE']))
})

test('-q and --verbose contradict each other', async () => {
  const { code, ran, stderr } = await typed('status', '-q', '--verbose')
  expect({ code, ran }).toEqual({ code: 2, ran: [] })
  expect(stderr).toContain("cannot be used with option '--verbose'")
})

/** Those over VMs are 2 for a place and 3 for labels that are not there (`notThere`); the others read no selection. */
test('--exit-code stands where it was looked at for names that are mistyped', () => {
  const asked = flags.filter(({ long }) => long === '--exit-code').map(({ path }) => path.join(' '))
  const overVms = ['workloads outdated', 'workloads forecast', 'workloads restart-required']
  expect(new Set(asked)).toEqual(
    new Set([...overVms, 'status', 'plan', 'eus plan', 'fleet status', 'fleet plan']),
  )
})

test('the help of a command names the formats that it has besides', () => {
  const wrong = commands.filter(({ path, command }) => {
    const formats = path.length > 0 && command.commands.length === 0 ? (entryOf(command)?.formats ?? []) : []
    const { after = '' } = described.find((one) => one.path === ['kvup', ...path].join(' ')) ?? {}
    return formats.length > 0 && !after.includes(`also -o ${formats.join(', ')}`)
  })
  expect(wrong.map(({ path }) => path.join(' '))).toEqual([])
})
