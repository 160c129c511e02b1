import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { kvup } from '../in-process.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeAll(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'] })
})
afterAll(() => alive.stop())

async function upgrade(...argv: readonly string[]) {
  const { code, stdout, stderr } = await kvup(['upgrade', ...argv], alive)
  return { code, stdout, stderr, writes: alive.writes() }
}

/** A folder as --manifest-base takes it. */
function releasesOf(...versions: readonly string[]): string {
  const folder = mkdtempSync(join(alive.folder, 'releases-'))
  for (const version of versions) {
    mkdirSync(join(folder, version))
    copyFileSync(alive.manifest(version), join(folder, version, 'kubevirt-operator.yaml'))
  }
  return folder
}

/** It ends with this code, says so on stderr only, and has changed nothing. */
const refused = (code: number, words: RegExp) => ({
  code,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`(?:^|\n)error: .*${words.source}`, 's')) as string,
  writes: [],
})

describe.concurrent('a target that cannot be meant', () => {
  test.each([
    ['1.9', /"1\.9" is not a full version/],
    ['v1.9', /"v1\.9" is not a full version/],
    ['latest', /can change every day/],
    ['v1.8.4.1', /is not a release/],
    ['eight', /is not a release/],
    ['', /--to is empty/],
    ['sha256:0123', /is not a release/],
  ])('--to %j: exit 2', async (to, words) => {
    expect(await upgrade('--yes', '--to', to)).toEqual(refused(2, words))
  })

  test('a release that is not there: exit 3, never ready', async () => {
    expect(await upgrade('--yes', '--to', 'v1.8.77', '--manifest-base', alive.url)).toEqual(
      refused(3, /v1\.8\.77/),
    )
  })

  test('a downgrade: exit 3, accepted by name only', async () => {
    expect(await upgrade('--yes', '--to', 'v1.7.0')).toEqual(
      refused(3, /older than v1\.7\.4.*--accept downgrade/),
    )
  })

  test('a downgrade behind CRDs that the older release lacks: exit 3, whatever is accepted', async () => {
    expect(await upgrade('--yes', '--accept', 'downgrade', '--to', 'v1.6.0')).toEqual(
      refused(3, /no-way-back/),
    )
  })

  test('minors further on, of which no manifest is there: exit 3, how far it goes', async () => {
    const none = join(alive.folder, 'none')
    mkdirSync(none)
    expect(await upgrade('--yes', '--to', 'v1.9.0', '--manifest-base', none)).toEqual(
      refused(
        3,
        /the upgrade path ends at v1\.8\.4: v1\.9\.0 is refused: .*\/none\/v1\.9\.0\/kubevirt-operator\.yaml: .*\(manifest-missing\)\n.*kvup upgrade --yes --manifest-base \S*\/none --to v1\.8\.4\s/,
      ),
    )
  })

  test('minors further on whose VMs are not waited for between: exit 3, accepted by name only', async () => {
    const releases = releasesOf('v1.8.4', 'v1.9.0')
    const line = ['--yes', '--to', 'v1.9.0', '--between', 'none', '--manifest-base', releases]
    expect(await upgrade(...line)).toEqual(
      refused(
        3,
        /the 2 steps to v1\.9\.0: .*\(launcher-age\)\n.*--accept launcher-age   # accepts that with --between none VMs are not waited for.*\n/,
      ),
    )
  })

  test('none: where it stands, what can be reached and the next command, exit 2', async () => {
    expect(await upgrade()).toEqual(
      refused(
        2,
        /--to is missing; v1\.8\.4 is recommended\n.*v1\.7\.4 is healthy\n.*kvup upgrade --to v1\.8\.4\n/,
      ),
    )
  })
})

describe.concurrent('flags that cannot be meant: exit 2', () => {
  test.each([
    [['--dry-run=maybe'], /none, client or server/],
    [['--timeout', '5'], /it needs a unit\n.*5s for seconds, 5m for minutes/],
    [['--stable-for', '10'], /10s for seconds/],
    [['--migrations-timeout', 'soon'], /90s, 5m, 1h30m/],
    [['--timeout=-5m'], /not a duration/],
    [['--until', 'nosuch'], /the steps are: pause-workload-updates, /],
    [['--pause-before', 'nosuch'], /the steps are: /],
    [['--deadline', 'tomorrow'], /04:30/],
    [['--leave-paused', '--no-pause-updates'], /exclude each other/],
    [['--leave-paused', '--wait-workloads'], /exclude each other/],
    [['--migrations', 'kill'], /wait, cancel, ignore/],
  ])('%j', async (flags, words) => {
    expect(await upgrade('--yes', '--to', 'v1.8.4', ...flags)).toEqual(refused(2, words))
  })

  test('manner 34: no terminal and no --yes: the flag is named', async () => {
    expect(await upgrade('--to', 'v1.8.4')).toEqual(
      refused(2, /kvup must ask .*, but there is no terminal\n.*--yes/),
    )
  })

  test('a manifest from standard input leaves no way to answer', async () => {
    expect(await upgrade('--to', 'v1.8.4', '--method', 'operator-manifest', '--manifest', '-')).toEqual(
      refused(2, /--yes/),
    )
  })
})

describe.concurrent('a manifest that does not fit', () => {
  const method = ['--yes', '--to', 'v1.8.4', '--method', 'operator-manifest'] as const

  test.each([
    ['nothing', '', /empty|nothing/],
    ['no YAML', 'a: [b', /no-YAML\.yaml/],
    ['a web page', '<!DOCTYPE html><html><body>Sign in</body></html>', /HTML|web page/],
    ['something else', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', /virt-operator/],
    [
      'the KubeVirt resource',
      'apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\n',
      /kubevirt-operator\.yaml/,
    ],
  ])('%s: exit 2', async (name, text, words) => {
    const file = join(alive.folder, `${name.replaceAll(' ', '-')}.yaml`)
    writeFileSync(file, text)
    expect(await upgrade(...method, '--manifest', file)).toEqual(refused(2, words))
  })

  test.each([
    ['a file that is missing', '/nonexistent/operator.yaml', /no such file/],
    ['a folder', '/', /folder|directory/i],
    ['an address without https', 'http://example.org/operator.yaml', /https/],
  ])('%s: exit 2', async (_, place, words) => {
    expect(await upgrade(...method, '--manifest', place)).toEqual(refused(2, words))
  })

  test('another version than --to: exit 2', async () => {
    expect(await upgrade(...method, '--manifest', alive.manifest('v1.8.2'))).toEqual(
      refused(2, /v1\.8\.2.*v1\.8\.4/),
    )
  })

  test('another namespace than the operator lives in: refused, or rewritten on request', async () => {
    const file = alive.manifest('v1.8.4', elsewhere)
    const ended = await upgrade(...method, '--manifest', file)
    expect(ended).toEqual(refused(ended.code ?? 0, /namespace.*--rewrite-namespace/))
    expect([2, 3]).toContain(ended.code)
  })

  test.each([
    ['another checksum than was said', '0'.repeat(64), /checksum|sha256/],
    ['a checksum that is none', 'abc', /64/],
  ])('%s: exit 2', async (_, sum, words) => {
    expect(
      await upgrade(...method, '--manifest', alive.manifest('v1.8.4'), '--manifest-sha256', sum),
    ).toEqual(refused(2, words))
  })
})

const elsewhere = (objects: KubeObject[]): KubeObject[] =>
  JSON.parse(
    JSON.stringify(objects)
      .replaceAll('"namespace":"kubevirt"', '"namespace":"virt"')
      .replace('"name":"kubevirt"', '"name":"virt"'),
  ) as KubeObject[]
