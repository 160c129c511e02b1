import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { admin, isWrite } from '../../../src/simulator/api/api-request.ts'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import { runText } from '../../lib/run-text.ts'
import { kvup } from '../in-process.ts'
import { type Alive, serveCluster, type Served, serveObjects } from './simulated.ts'

let settled: Alive
let empty: Served
beforeAll(async () => {
  const shape = {
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
  } as const
  ;[settled, empty] = await Promise.all([serveCluster({ ...shape, vms: 2, speed: 1 }), serveObjects()])
})
afterAll(() => Promise.all([settled.stop(), empty.stop()]))

interface Document {
  apiVersion?: string
  kind?: string
  status?: string
  error?: { code: number; reason: string; message: string }
}

/** Every command, on a settled cluster where it succeeds and on one without KubeVirt, or with other words, where it fails. */
const commands: readonly {
  argv: readonly string[]
  kind: string
  /** The exit code of the failure and the words, if others are needed. */
  fails: { code: number; argv?: readonly string[]; kind?: string; stdout?: RegExp }
}[] = [
  { argv: ['status'], kind: 'Status', fails: { code: 3 } },
  {
    argv: ['upgrade', '--to', 'v1.8.4', '--dry-run=server'],
    kind: 'UpgradePlan',
    fails: { code: 3, kind: 'UpgradeReport' },
  },
  {
    argv: ['upgrade', '--to', 'v1.7.4', '--yes'],
    kind: 'UpgradeReport',
    fails: { code: 2, argv: ['upgrade', '--to', 'v1.8'] },
  },
  { argv: ['history'], kind: 'History', fails: { code: 3 } },
  { argv: ['restore-settings'], kind: 'RestoreReport', fails: { code: 3 } },
  { argv: ['check'], kind: 'CheckReport', fails: { code: 3 } },
  { argv: ['wait', '--for', 'healthy'], kind: 'Wait', fails: { code: 3 } },
  {
    argv: ['explain', 'evictions'],
    kind: 'Explanations',
    fails: { code: 2, argv: ['explain', 'evictoins'] },
  },
  { argv: ['releases'], kind: 'Releases', fails: { code: 2, argv: ['releases', '--since', 'v1'] } },
  {
    argv: ['snapshot'],
    kind: 'Snapshot',
    fails: { code: 8, argv: ['snapshot', '--server', 'http://127.0.0.1:1'], kind: 'SavedSnapshot' },
  },
  {
    argv: ['version'],
    kind: 'Version',
    fails: {
      code: 8,
      argv: ['version', '--server', 'http://127.0.0.1:1', '--request-timeout', '1s'],
      stdout: /^kvup +\S+\n$/,
    },
  },
  {
    argv: ['rbac', 'kvup-upgrade'],
    kind: 'RoleManifests',
    fails: { code: 2, argv: ['rbac', 'nobody'], kind: 'Error' },
  },
  {
    argv: ['config', 'view'],
    kind: 'Configuration',
    fails: { code: 2, argv: ['config', 'view', '--frobnicate'], kind: 'Error' },
  },
  {
    argv: ['completion', 'bash'],
    kind: 'CompletionScript',
    fails: { code: 2, argv: ['completion', 'tcsh'], kind: 'Error' },
  },
  {
    argv: ['demo', '--scenario', 'list'],
    kind: 'DemoScenarios',
    fails: { code: 2, argv: ['demo', '--scenario', 'nosuch'], kind: 'Error' },
  },
]

const parsers: Readonly<Record<string, (text: string) => Document[]>> = {
  json: (text) => [JSON.parse(text) as Document],
  yaml: (text) =>
    parseAllDocuments(text).map((document) => {
      expect(document.errors).toEqual([])
      return document.toJS() as Document
    }),
  ndjson: (text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Document),
}

/** No history yet has no names. */
const texts = [
  { format: 'wide', expected: /\S\n$/ },
  { format: 'name', expected: /^(?:[a-z0-9.-]+\/\S+\n)*$/ },
  { format: 'jsonpath={.kind}', expected: /^[A-Z][A-Za-z]+$/ },
  { format: 'custom-columns=KIND:.kind', expected: /^KIND\n/ },
]

/** Commands that tell what happens while they are at work: with `-o ndjson` their events come before the document. */
const telling = new Set(['check', 'wait'])

describe.concurrent.each(commands)('manner 15: $argv', ({ argv, kind, fails }) => {
  /** The documents of stdout, without the events that may come before them. */
  const documentsOf = (format: string, stdout: string) => {
    const all = parsers[format]!(stdout)
    if (format !== 'ndjson' || !telling.has(argv[0]!)) return { events: [], documents: all }
    const first = all.findIndex((one) => one.kind !== 'Event')
    return { events: all.slice(0, first), documents: all.slice(first) }
  }

  test.each(Object.keys(parsers))(
    '-o %s is one document on stdout, in success and in failure',
    async (format) => {
      const [good, bad] = await Promise.all([
        kvup([...argv, '-o', format], settled),
        kvup([...(fails.argv ?? argv), '-o', format], empty),
      ])
      const { events, documents } = documentsOf(format, good.stdout)
      expect(events.length > 0).toBe(format === 'ndjson' && telling.has(argv[0]!))
      for (const event of events)
        expect(event).toMatchObject({
          apiVersion: 'kvup.io/v1alpha1',
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          event: expect.stringMatching(/^[a-z-]+$/),
        })
      const [document, ...more] = documents
      expect(more).toEqual([])
      expect(document).toMatchObject({ apiVersion: 'kvup.io/v1alpha1', kind, status: 'complete' })
      expect(good.code).toBe(0)
      const [failure, ...others] = documentsOf(format, bad.stdout).documents
      expect(others).toEqual([])
      expect(failure).toMatchObject({
        apiVersion: 'kvup.io/v1alpha1',
        kind: fails.kind ?? kind,
        status: 'failed',
        error: { code: fails.code },
      })
      expect(Object.keys(failure!).at(-1)).toBe('error')
      expect(bad.code).toBe(fails.code)
      expect(bad.stderr).toContain(`error: ${failure?.error?.message.split('\n')[0]}`)
    },
  )

  // That the built program takes them is shown below for one command; what they print is printed in this process too.
  test.each(texts)('-o $format is text on stdout', async ({ format, expected }) => {
    const cluster = settled.cluster.cluster()
    const place = { cluster, clock: systemClock, color: 'auto' } as const
    const { code, out, err } = await runText([...argv, '-o', format], place)
    expect(manner({ code, stdout: out, stderr: err })).toEqual(quiet)
    expect(out).toMatch(expected)
  })

  test('without -o a failure is on stderr, and stdout has what is known all the same', async () => {
    const bad = await kvup(fails.argv ?? argv, empty)
    expect(bad.code).toBe(fails.code)
    expect(bad.stdout).toMatch(fails.stdout ?? /^$/)
    expect(bad.stderr).toMatch(/^error: \S/m)
    expect(bad.stderr).not.toContain('\u001b')
  })
})

test.each(texts)('manner 16: -o $format of the built program', async ({ format, expected }) => {
  const ended = await kvup(['status', '-o', format], settled)
  expect(manner(ended)).toEqual(quiet)
  expect(ended.stdout).toMatch(expected)
})

const quiet = { code: 0, said: false, escapes: false }

function manner({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) {
  return { code, said: stderr.includes('error:'), escapes: `${stdout}${stderr}`.includes('\u001b') }
}

test('nothing of all that changed anything', () => {
  expect([...settled.writes(), ...empty.writes()]).toEqual([])
  const inThisProcess = settled.store.audit.filter(
    ({ user, userAgent }) => user === admin.user && userAgent === admin.userAgent,
  )
  expect(inThisProcess.length).toBeGreaterThan(100)
  expect(inThisProcess.filter(isWrite)).toEqual([])
})
