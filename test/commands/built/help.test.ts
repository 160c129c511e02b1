// Every example of every help text is run: more than 3 s of processor time.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeTree } from '../../../build/reference/describe.ts'
import { ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { program } from '../../../src/cli.ts'
import { fileURLToPath } from 'node:url'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { kvup, paste } from '../in-process.ts'
import { startKvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

const commands = describeTree(await program('kvup', () => async () => undefined, 'all'))
  .map(({ path }) => path.replace(/^kvup ?/, ''))
  .filter((path) => path !== '')
/** No cluster, no configuration: help needs neither. */
const nowhere = { kubeconfig: '/nonexistent/config' }

describe.concurrent('manner 1: help is an answer: stdout, exit 0, and no cluster is asked', () => {
  test.each([['help'], ['-h'], ['--help']])('kvup %j', async (...argv) => {
    const { code, stdout, stderr } = await kvup(argv, nowhere)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    for (const command of commands)
      expect(stdout).toMatch(new RegExp(`  ${command.split(' ')[0]}\\b|, ${command.split(' ')[0]}\\b`))
  })

  test('kvup alone, where no kubeconfig names a cluster, says so and how to begin', async () => {
    const { code, stdout, stderr } = await kvup([], { kubeconfig: '/dev/null' })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^No cluster: /)
    expect(stdout).toMatch(/\nNext: kvup demo /)
    expect(stdout).toMatch(/\nDetails: kvup --help /)
  })

  test('kvup alone, where the cluster does not answer: exit 8, and the same two lines', async () => {
    const { code, stderr } = await kvup(['-s', 'http://127.0.0.1:1'], { kubeconfig: '/dev/null' })
    expect(code).toBe(8)
    expect(stderr).toMatch(/^error: no answer from the API server/)
    expect(stderr).toMatch(/→ kvup --help /)
    expect(stderr).toMatch(/→ kvup demo /)
  })

  test.each(commands)('kvup %s -h', async (command) => {
    const words = command.split(' ')
    const [after, before] = await Promise.all([
      kvup([...words, '-h'], nowhere),
      kvup(['help', ...words], nowhere),
    ])
    const { code, stdout, stderr } = after
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: kvup ${command} `))
    expect(stdout.split('\n')[2]).toMatch(/^[A-Z].*[^.]$/)
    expect(stdout).toMatch(/\nExamples:\n {2}\S/)
    expect(stdout).toMatch(/\nExit codes:\n {2}0 /)
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout.startsWith('Usage: kvup ')).toBe(true)
  })

  test('no help is longer than 60 lines', async () => {
    const texts = await Promise.all(
      commands.map(async (command) => ({
        command,
        text: (await kvup([...command.split(' '), '-h'], nowhere)).stdout,
      })),
    )
    const long = texts.filter(({ text }) => text.trimEnd().split('\n').length > 60)
    expect(long.map(({ command }) => command)).toEqual([])
  })

  test.each(['abort'])(
    'eus %s shows only the flags that it takes, and reads a line with others',
    async (name) => {
      const [own, run] = await Promise.all(
        [name, 'run'].map(async (command) => (await kvup(['eus', command, '-h'], nowhere)).stdout),
      )
      for (const flag of ['--accept', '--dry-run', '--take-over', '--timeout'])
        expect(own).toContain(`  ${flag} `)
      for (const flag of ['--graph-file', '--catalog-file', '--releases', '--to']) {
        expect(run).toContain(`  ${flag} `)
        expect(own).not.toContain(`  ${flag} `)
      }
      for (const flag of ['--plan', '--approval', '--leave-requested'])
        expect(own).not.toContain(`  ${flag} `)
      const ended = await kvup(['eus', name, '--to', '4.20', '--yes'], nowhere)
      expect(ended.stderr).not.toMatch(/unknown option/u)
      expect(ended.code).not.toBe(0)
    },
  )

  test('no line is wider than 100 columns', async () => {
    const texts = await Promise.all(
      commands.map(async (command) => (await kvup([...command.split(' '), '-h'], nowhere)).stdout),
    )
    expect(texts.flatMap((text) => text.split('\n')).filter((line) => line.length > 100)).toEqual([])
  })

  test('manner 40: as a plug-in it is called as it was typed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kvup-test-'))
    try {
      const bin = join(folder, 'kubectl-kvup')
      symlinkSync(fileURLToPath(new URL('../../../bin/kvup.js', import.meta.url)), bin)
      const { stdout } = await kvup(['status', '--help'], { ...nowhere, bin })
      expect(stdout).toMatch(/^Usage: kubectl kvup status /)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe.concurrent('manner 3: what is mistyped runs nothing', () => {
  test.each([
    [['upgarde'], 'did you mean upgrade?'],
    [['statsu'], 'did you mean status?'],
    [['workloads', 'resume-update'], 'did you mean resume-updates?'],
    [['upgrade', '--timeuot', '5m'], 'did you mean --timeout?'],
    [['up'], 'kvup --help'],
    [['upgrade', '--frobnicate'], 'kvup upgrade --help'],
    [['status', 'extra'], 'kvup status --help'],
    [['status', '--color', 'blue'], 'auto, always, never'],
    [['upgrade', '--to'], '--to <version>'],
    [['upgrade', '--method', 'helm', '--to', 'v1.8.4'], 'image-tag'],
    [['status', '-o', 'jsno'], 'custom-columns='],
    [['status', '-o', 'jsonpath={.x'], 'jsonpath='],
    [['status', '-v', 'loud'], '0 to 9'],
    [['workloads'], 'resume-updates'],
  ] as const)('kvup %j', async (argv, helps) => {
    const { code, stdout, stderr } = await kvup(argv, nowhere)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(helps)
  })
})

describe('on a cluster', () => {
  let alive: Alive
  let platform: Alive
  beforeAll(async () => {
    const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 } as const
    const vms = [{ name: 'web-1' }, { name: 'db', namespace: 'shop' }]
    alive = await serveCluster({ ...shape, methods: ['LiveMigrate'], vms })
    platform = await serveCluster({ openshift: ocp418to420, olm: ocpOlm({ approval: 'Manual' }), speed: 1 })
  })
  afterAll(() => Promise.all([alive.stop(), platform.stop()]))

  test.each([
    [['status', '-o', 'name']],
    [['-o', 'name', 'status']],
    [['status', '--output=name']],
    [['--output', 'name', 'status', '--']],
    [['status', '-oname']],
  ])('manner 9: flags stand where they like: kvup %j', async (argv) => {
    expect(await kvup(argv, alive)).toMatchObject({ code: 0, stdout: 'kubevirt/kubevirt\n', stderr: '' })
  })

  test(
    'manner 2: every example of every help text parses, and does nothing unasked',
    { timeout: 240_000 },
    async () => {
      const texts = await Promise.all(
        [[], ...commands.map((command) => command.split(' '))].map((words) =>
          kvup([...words, '-h'], nowhere),
        ),
      )
      const lines = new Set(texts.flatMap(({ stdout }) => examplesIn(stdout)))
      expect(lines.size).toBeGreaterThan(commands.length * 1.5)
      await kvup(['snapshot', '--to-file', join(alive.folder, 'cluster.ndjson.gz')], alive)
      cpSync('test/examples/platforms/idle-4.18', join(alive.folder, 'dumps'), { recursive: true })
      cpSync('test/examples/platforms/idle-4.18', join(platform.folder, 'must-gather'), { recursive: true })
      writeFileSync(join(platform.folder, 'graph.json'), servedGraph(ocp418to420))
      writeFileSync(join(platform.folder, 'catalog.yaml'), servedCatalog(ocpOlm(), '4.20'))
      const files = ['--graph-file', 'graph.json', '--catalog-file', 'catalog.yaml']
      const planned = ['eus', 'plan', ...files, '--to-file', 'plan.yaml']
      const ends: [string, string][] = []
      const back = process.cwd()
      try {
        expect(await kvup(planned, inFolderOf(platform))).toMatchObject({ code: 0 })
        for (const line of lines)
          ends.push([line, await endOf(line, inFolderOf(isOfPlatform(line) ? platform : alive))])
      } finally {
        process.chdir(back)
      }
      expect(ends.filter(([, end]) => end !== 'works')).toEqual([])
      expect([...alive.writes(), ...platform.writes()]).toEqual([])
    },
  )
})

/** Its lines name files that lie there. */
function inFolderOf(place: Alive): Alive {
  process.chdir(place.folder)
  return place
}

function examplesIn(help: string): string[] {
  const [, block = ''] = /\nExamples:\n((?: {2}.*\n)+)/.exec(help) ?? []
  return block
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {3,}/)[0] ?? '')
}

/** What asks before it changes anything. */
const changing =
  /^kvup (?:upgrade|workloads pause-updates|workloads strategy set|workloads live-update set|workloads restart(?!-)|eus run|eus abort|restore-settings)\b.*$/

/** A demo takes a second. */
const quick = (line: string) => line.replace(/^kvup demo(.*?)(?: --speed 20)?$/u, 'kvup demo --speed 120$1')

/** Of OpenShift, or of an operator that OLM brought. */
const isOfPlatform = (line: string) => line.startsWith('kvup eus') || line.includes('--method olm')

/** What runs on or asks is stopped; a change is only rehearsed; other programs are replaced by `cat`. */
async function endOf(line: string, alive: Alive): Promise<string> {
  if (line.startsWith('kvup job')) return endOfJob(line, alive)
  if (line.startsWith('kvup fleet')) return endOfFleet(line, alive)
  const manifest = alive.manifest('v1.8.4')
  const safe = line
    .replace(changing, (all) => (all.includes('--dry-run') ? all : `${all} --dry-run=client`))
    .replace('operator.yaml', manifest)
    .replace('--for version=v1.8.4', '--for version=v1.7.4')
    .replace(/\| .*$/, '| cat')
    .replace(/ -- .*$/, ' -- true')
    .replace(/^source <\((.*)\)$/, '$1')
  if (/ -w$| demo --serve$/.test(line)) return stopped(safe.split(' ').slice(1), alive)
  const { code, stderr } = await paste(quick(safe), alive)
  // There is nobody to ask.
  if (line.includes('--probe-images')) return code === 2 && stderr.includes('--yes') ? 'works' : stderr
  // Nor anything that is borrowed.
  if (line.startsWith('kvup restore-settings pool')) return stderr.includes('kvup history') ? 'works' : stderr
  // Nor has anybody run it there.
  if (line.startsWith('kvup history 14 '))
    return stderr.includes('the journal is empty') ? 'works' : `exit ${code}: ${stderr}`
  const judges = /^kvup (?:check --to|eus plan)/.test(line)
  const expected = line.includes('wrong-tag') ? [4] : judges ? [0, 3] : [0]
  return expected.includes(code ?? -1) ? 'works' : `exit ${code}: ${stderr}`
}

/** Its plan is not there. */
async function endOfJob(line: string, alive: Alive): Promise<string> {
  const image = `registry.example.com/kvup@sha256:${'0123456789abcdef'.repeat(4)}`
  const safe = line
    .replace('$IMAGE', image)
    .replace('--plan plan.yaml', '--to v1.8.4')
    .replace(' >job.yaml', '')
  const { code, stdout, stderr } = await paste(safe, alive)
  return code === 0 && stdout.includes('kind: Job') ? 'works' : `exit ${code}: ${stderr}`
}

/** A fleet of one, by the name that the examples have for it. */
async function endOfFleet(line: string, { folder, kubeconfig, ...alive }: Alive): Promise<string> {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { contexts: { name: string; context: object }[] }
  const [context] = config.contexts
  const file = join(folder, 'fleet.kubeconfig')
  writeFileSync(file, JSON.stringify({ ...config, contexts: [{ ...context, name: 'prod-1' }] }))
  const place = { ...alive, folder, kubeconfig: file }
  if (line.endsWith(' -w')) return stopped(line.split(' ').slice(1), place)
  const { code, stderr } = await paste(line, place)
  const expected = line.startsWith('kvup fleet check') ? [0, 3] : [0]
  return expected.includes(code ?? -1) ? 'works' : `exit ${code}: ${stderr}`
}

async function stopped(argv: readonly string[], alive: Alive): Promise<string> {
  const running = startKvup(argv, alive)
  await running.until(/./, argv.includes('-w') ? 'stdout' : 'stderr')
  running.kill('SIGINT')
  const { code, stderr } = await running.ended
  return code === 0 || code === 130 ? 'works' : `exit ${code}: ${stderr}`
}
