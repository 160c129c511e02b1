import { execFile, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sbom } from '../../build/package/sbom.ts'
import { layOut, readContainerfile } from './root-file-system.ts'

const root = path.dirname(path.dirname(import.meta.dirname))
const run = promisify(execFile)
const folder = mkdtempSync(path.join(tmpdir(), 'kvup-package-'))
const file = path.join(folder, 'packages', 'linux-x64', 'kvup')
/** A Debian for amd64: the first stage of the Containerfile is one, and its files are taken from here. */
const isDebian = process.arch === 'x64' && existsSync('/etc/debian_version')

beforeAll(async () => {
  await run(process.execPath, [
    path.join(root, 'build/package.ts'),
    'linux-x64',
    '--out',
    path.join(folder, 'packages'),
  ])
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** On a machine without Node and without anything else. */
function alone(args: readonly string[], called = file, env: Readonly<Record<string, string>> = {}) {
  const home = path.join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const { status, stdout, stderr } = spawnSync(called, args, {
    encoding: 'utf8',
    env: { PATH: path.join(folder, 'nothing'), HOME: home, ...env },
  })
  return { status, stdout, stderr }
}

/** A link to the file under another name, as krew makes one. */
function linked(name: string): string {
  const link = path.join(folder, name)
  if (!existsSync(link)) symlinkSync(file, link)
  return link
}

describe('the one file, with no Node in the path', () => {
  test('--help and completion are those of the program', () => {
    for (const args of [
      ['--help'],
      ['upgrade', '--help'],
      ['completion', 'bash'],
      ['explain', 'qemu-jump'],
    ]) {
      const own = spawnSync(process.execPath, [path.join(root, 'bin/kvup.js'), ...args], { encoding: 'utf8' })
      expect(alone(args)).toEqual({ status: 0, stdout: own.stdout, stderr: '' })
    }
  })

  test('the demo upgrades its simulated cluster', () => {
    const { status, stdout } = alone(['demo', '--speed', '120'])
    expect(stdout).toContain('KubeVirt v1.8.4 on sim')
    expect(status).toBe(0)
  })

  test('it makes pages', () => {
    const saved = path.join(root, 'test/examples/canary-crashes')
    expect(alone(['check', '--from', saved, '-o', 'html']).stdout).toMatch(/^<!doctype html>/u)
  })

  test('it is called as it was typed, and completes under the name of a completion', () => {
    expect(alone(['status', '--help'], linked('kubectl-kvup')).stdout).toMatch(/^Usage: kubectl kvup status /)
    expect(alone(['status', '--help'], linked('oc-kvup')).stdout).toMatch(/^Usage: oc kvup status /)
    expect(alone(['upgr'], linked('kubectl_complete-kvup')).stdout).toMatch(/^upgrade\b/)
  })

  test('a mistake ends with the code and the words of the program', () => {
    expect(alone(['upgarde'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean upgrade?') as string,
    })
  })

  test('NODE_OPTIONS put neither code nor flags into it', () => {
    const { status, stderr } = alone(['--help'], file, { NODE_OPTIONS: '--require=/nowhere/evil.js' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

test('the archive has program, licences, completions, man pages and SBOM, by nobody and of one time', async () => {
  const archive = readdirSync(path.join(folder, 'packages')).find((name) => name.endsWith('.tar.gz'))!
  const { stdout } = await run('tar', ['--numeric-owner', '-tvzf', path.join(folder, 'packages', archive)])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
  const names = lines.map((words) => words.at(-1))
  expect(archive).toMatch(/^kubectl-kvup_v\d+\.\d+\.\d+_linux_amd64\.tar\.gz$/)
  expect(names).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'completions/kvup.bash',
      'kvup',
      'licence-node.txt',
      'man/kvup.1',
      'sbom.cdx.json',
      'third-party-licences.txt',
    ]),
  )
  expect(names).toEqual(names.toSorted((one = '', other = '') => (one < other ? -1 : 1)))
  expect(new Set(lines.map(([, owner]) => owner))).toEqual(new Set(['0/0']))
  expect(new Set(lines.map(([, , , day, time]) => `${day} ${time}`)).size).toBe(1)
  await run('sha256sum', ['--check', '--strict', 'sha256sums.txt'], { cwd: path.join(folder, 'packages') })
})

test('the SBOM lists every package whose licence goes with the bundle, each with its licence, and Node', () => {
  const { components } = JSON.parse(
    readFileSync(path.join(path.dirname(file), 'sbom.cdx.json'), 'utf8'),
  ) as Sbom
  const licences = readFileSync(path.join(root, 'dist/third-party-licences.txt'), 'utf8')
  expect(components.length).toBeGreaterThan(20)
  expect(components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([])
  const inText = [...licences.matchAll(/^(?<name>@?[\w./-]+) (?<version>\d+\.\d+\.\S+) \(.+\)$/gm)].map(
    ({ groups }) => `${groups!['name']}@${groups!['version']}`,
  )
  const listed = components.map(({ name, version }) => `${name}@${version}`)
  expect(listed.filter((name) => !name.startsWith('node@')).toSorted()).toEqual(inText.toSorted())
  expect(listed.filter((name) => name.startsWith('node@'))).toHaveLength(1)
})

test('npm installs no more than 12 MB, nothing but kvup, and runs no script', async () => {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  })
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>)
  const prefix = path.join(folder, 'prefix')
  // With the scripts that a package may have: there are none, so nothing is left out.
  await run('npm', [
    'install',
    '--global',
    '--offline',
    '--no-audit',
    '--prefix',
    prefix,
    path.join(folder, packed!.filename),
  ])
  const installed = path.join(prefix, 'lib/node_modules')
  expect(readdirSync(installed)).toEqual(['kvup'])
  expect(existsSync(path.join(installed, 'kvup/node_modules'))).toBe(false)
  const { scripts } = JSON.parse(readFileSync(path.join(installed, 'kvup/package.json'), 'utf8')) as {
    scripts: object
  }
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([])
  const bytes = readdirSync(prefix, { recursive: true, encoding: 'utf8' }).map((name) =>
    statSync(path.join(prefix, name)),
  )
  const megabytes =
    bytes.reduce((sum, found) => sum + (found.isFile() ? Math.ceil(found.size / 4096) * 4096 : 0), 0) / 1e6
  console.log(`npm install -g: ${megabytes.toFixed(1)} MB on disk`)
  expect(megabytes).toBeLessThan(12)
  const { stdout: help } = await run(path.join(prefix, 'bin/kvup'), ['--help'])
  expect(help).toMatch(/^kvup upgrades KubeVirt/)
})

if (!isDebian)
  console.warn('the image was not looked at: its libraries come from a Debian for amd64, which this is not')
describe.runIf(isDebian)('the image of the Containerfile', () => {
  const image = readContainerfile(path.join(root, 'Containerfile'))
  const isRoot = process.getuid?.() === 0

  test('has every shared library that the file names, and no shell', () => {
    const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' })
    const named = [...stdout.matchAll(/^\s*(?:(\S+) => )?\/\S+/gm)].map(([line, name]) =>
      path.basename(name ?? line.trim()),
    )
    const files = new Set(image.copied.map(({ to }) => path.basename(to)))
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !files.has(name))).toEqual([])
    expect(image.copied.filter(({ to }) => /bin\//.test(to)).map(({ to }) => to)).toEqual(['/usr/bin/kvup'])
    expect(image.user).toBe('65532:65532')
    expect(image.entrypoint).toEqual(['/usr/bin/kvup'])
  })

  if (!isRoot) console.warn('the image was not run: only root may change the root of a process')
  test.runIf(isRoot)('runs the demo in a root that is read-only, as nobody', () => {
    const rootfs = path.join(folder, 'rootfs')
    layOut(image, rootfs, (name) => path.join(name.startsWith('packages/') ? folder : root, name))
    for (const name of ['proc', 'dev', 'tmp']) mkdirSync(path.join(rootfs, name))
    const inside = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      spawnSync(
        'unshare',
        ['--mount', 'sh', '-c', script, rootfs, image.user, ...image.entrypoint, ...args],
        {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'], ...image.env, ...more },
        },
      )
    expect(inside(['--help'])).toMatchObject({ status: 0, stderr: '' })
    expect(inside(['releases'])).toMatchObject({ status: 0, stderr: '' })
    const demo = inside(['demo', '--speed', '120'])
    expect(demo.stdout).toContain('KubeVirt v1.8.4 on sim')
    expect(demo.status).toBe(0)
    expect(inside(['demo', '--speed', '120'], { TMPDIR: '/licenses' })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('nothing can be written to the temporary folder /licenses') as string,
    })
    expect(readdirSync(path.join(rootfs, 'tmp'))).toEqual([])
  })
})

const script = [
  'set -e; mount --make-rprivate /; mount --bind "$0" "$0"',
  'mount --bind /dev "$0/dev"; mount -t proc proc "$0/proc"',
  'mount -o remount,ro,bind "$0"; mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"; user=$1; shift',
  'exec chroot --userspec="$user" "$0" "$@"',
].join('\n')
