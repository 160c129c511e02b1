import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { carriesProgram, machineOf } from '../../../build/package/executable.ts'
import { kubectlProgram } from '../lab.ts'

const root = path.dirname(path.dirname(path.dirname(import.meta.dirname)))
const run = promisify(execFile)
const folder = mkdtempSync(path.join(tmpdir(), 'kvup-packages-'))
const first = path.join(folder, 'first')
const krew = path.join(process.env['KVUP_LAB_CACHE'] ?? path.join(homedir(), '.cache/kvup-lab'), 'krew')
const krewVersion = 'v0.4.3'

let server: Server
let url: string
let listing: string
let asked: string[] = []

/** Packages all platforms, as who makes a release does. */
async function packageAll(out: string, umask: string, zone: string): Promise<string> {
  const line = [process.execPath, path.join(root, 'build/package.ts'), '--out', out, '--download-url', url]
  const { stdout } = await run('bash', ['-c', `umask ${umask} && exec "$@"`, 'package', ...line], {
    env: { ...process.env, TZ: zone },
  })
  return stdout
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const name = path.basename(request.url ?? '')
    asked.push(name)
    try {
      response.end(readFileSync(path.join(first, name)))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  listing = await packageAll(first, '022', 'UTC')
  for (const program of ['validate-krew-manifest', 'krew'])
    await run('go', ['install', `sigs.k8s.io/krew/cmd/${program}@${krewVersion}`], {
      env: { ...process.env, GOBIN: krew, CGO_ENABLED: '0' },
    })
}, 900_000)
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const sums = (out: string): string => readFileSync(path.join(out, 'sha256sums.txt'), 'utf8')

test('four platforms are built, each for its machine, and the listing says sizes, what is missing and what is unsigned', () => {
  const machines = {
    'linux-x64/kvup': 'ELF x86-64',
    'linux-arm64/kvup': 'ELF aarch64',
    'darwin-arm64/kvup': 'Mach-O arm64',
    'win32-x64/kvup.exe': 'PE x86-64',
  }
  console.log(listing)
  for (const [file, machine] of Object.entries(machines)) {
    expect(machineOf(path.join(first, file))).toBe(machine)
    expect(carriesProgram(path.join(first, file))).toBe(true)
    expect(listing).toMatch(new RegExp(`^${path.dirname(file)}: \\d+ MB, ${machine}, (?:un)?signed`, 'm'))
  }
  expect(listing).toContain('darwin-x64 is missing: Node does not support single executables there')
  expect(listing).toContain('No executable is signed by anybody')
})

test('two builds of one commit are byte-equal, whatever umask and time zone', async () => {
  const second = path.join(folder, 'second')
  await packageAll(second, '077', 'Asia/Tokyo')
  expect(sums(second)).toBe(sums(first))
  rmSync(second, { recursive: true })
}, 600_000)

test("krew's own rules accept the manifest, and krew installs each archive", async () => {
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(kubectlProgram, path.join(bin, 'kubectl'))
  symlinkSync(path.join(krew, 'krew'), path.join(bin, 'kubectl-krew'))
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  asked = []
  const validator = path.join(krew, 'validate-krew-manifest')
  const { stderr } = await run(validator, ['-manifest', path.join(first, 'kvup.yaml')], { env })
  expect(stderr).toContain('all 4 spec.platforms installed fine')
  expect(asked.filter((name) => /^kubectl-kvup_v.*\.(?:tar\.gz|zip)$/.test(name))).toHaveLength(4)

  const wrong = path.join(folder, 'wrong')
  mkdirSync(wrong)
  const manifest = readFileSync(path.join(first, 'kvup.yaml'), 'utf8')
  writeFileSync(
    path.join(wrong, 'kvup.yaml'),
    manifest.replaceAll(/sha256: \w/g, (sum) => `sha256: ${sum.endsWith('0') ? 1 : 0}`),
  )
  await expect(run(validator, ['-manifest', path.join(wrong, 'kvup.yaml')], { env })).rejects.toThrow(
    /checksum|sha256/i,
  )
}, 300_000)

test('what krew installed is kubectl kvup', async () => {
  const home = path.join(folder, 'krew-root')
  const env = { PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}`, KREW_ROOT: home, HOME: folder }
  await run('kubectl', ['krew', 'install', '--manifest', path.join(first, 'kvup.yaml')], { env })
  const alone = { PATH: `${path.join(home, 'bin')}:${path.join(folder, 'bin')}`, HOME: folder }
  const said = execFileSync(path.join(folder, 'bin/kubectl'), ['kvup', 'status', '--help'], {
    env: alone,
    encoding: 'utf8',
  })
  expect(said).toMatch(/^Usage: kubectl kvup status /)
})
