import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLogFile, withLog } from '../src/log-file.ts'
import { openPrinter, type PrinterOptions } from '../src/lib/output/open-printer.ts'
import { waitView } from '../src/lib/output/views/status.ts'
import { blocked } from '../src/lib/kube/errors.ts'
import { SimClock } from '../src/simulator/simulated-clock.ts'
import { Pipe, Terminal } from './lib/output/terminal.ts'
import { at, stalledEvents } from './lib/output/upgrade-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'kvup-log-'))
afterAll(() => rmSync(folder, { recursive: true }))
const clock = new SimClock(at('13:14'))
const uid = process.getuid?.()
const open = (file: string, more: Partial<Parameters<typeof openLogFile>[1]> = {}) =>
  openLogFile(join(folder, file), { clock, uid, failed: () => undefined, ...more })

const document = {
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'Wait',
  for: 'healthy',
  met: true,
  tookSeconds: 5,
} as const

async function said(stdout: Pipe | Terminal, output: string, file: string, quiet = false) {
  const options: PrinterOptions = {
    stdout,
    stderr: stdout,
    output,
    headers: true,
    color: 'auto',
    env: { LANG: 'C.UTF-8', TERM: 'xterm' },
    clock,
    beat: () => () => undefined,
    quiet,
  }
  const log = open(file)
  const plain = { output: 'table', color: 'never', quiet: false, stdout: log, stderr: log } as const
  const both = withLog(await openPrinter(options), await openPrinter({ ...options, ...plain }))
  both.note('plan: \u001b]0;owned\u0007x\nsecond line')
  both.screen?.(() => ['Upgrade?'])
  both.warn('careful')
  for (const event of stalledEvents) both.event(event)
  both.result(document, waitView)
  both.finish(blocked('snag', 'cannot do it', { remedy: 'kvup mend' }))
  return readFileSync(join(folder, file), 'utf8')
}

test('the lines of a pipe, each with its whole time, whatever is on the screen and whatever the format', async () => {
  const onPipe = await said(new Pipe(), 'table', 'pipe.log')
  expect(onPipe).not.toContain('\u001b')
  const lines = onPipe.trimEnd().split('\n')
  expect(lines.filter((line) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /u.test(line))).toEqual([])
  const texts = lines.map((line) => line.slice('2026-11-21T07:13:14Z '.length))
  expect(texts).toEqual(
    expect.arrayContaining([
      'plan: x second line',
      'Upgrade?',
      'warning: careful',
      'KubeVirt v1.8.4 → v1.9.0 on prod-eu',
      'error: cannot do it',
      '  → kvup mend',
      expect.stringMatching(/^healthy is met/u),
      expect.stringContaining('STALLED while waiting for pod kubevirt-5f3c-job: cannot pull'),
    ]),
  )
  expect(await said(new Terminal(), 'table', 'live.log')).toBe(onPipe)
  expect(await said(new Pipe(), 'json', 'json.log')).toBe(onPipe)
  expect(await said(new Pipe(), 'table', 'quiet.log', true)).toBe(onPipe)
})

test('it is appended to, and only this user reads it, whatever it was before', () => {
  writeFileSync(join(folder, 'there.log'), 'before\n')
  chmodSync(join(folder, 'there.log'), 0o644)
  open('there.log').write('now\n')
  open('there.log').write('again')
  open('new.log').write('first\n')
  // A line that has no end yet waits for it.
  expect(readFileSync(join(folder, 'there.log'), 'utf8')).toBe('before\n2026-11-21T07:13:14Z now\n')
  expect(['there.log', 'new.log'].map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual([
    0o600, 0o600,
  ])
})

test.each([
  ['a symbolic link', 'symbolic link', (file: string) => symlinkSync(join(folder, 'target'), file)],
  ['a hard link', 'hard link', (file: string) => linkSync(target(), file)],
  ['a pipe', 'pipe', (file: string) => void execFileSync('mkfifo', [file])],
  ['a folder', 'it is a folder', (file: string) => void execFileSync('mkdir', [file])],
])('%s is refused before anything is written', (name, why, make) => {
  const file = `${name.replaceAll(' ', '-')}.log`
  make(join(folder, file))
  expect(() => open(file)).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'log-file', message: expect.stringContaining(why) }),
  )
})

function target(): string {
  const file = join(folder, 'somewhere')
  writeFileSync(file, 'secret\n')
  return file
}

test('the file of another user is refused, and a folder that is not there', () => {
  writeFileSync(join(folder, 'theirs.log'), '')
  expect(() => open('theirs.log', { uid: 4711 })).toThrow('belongs to another user')
  expect(() => open('no/such.log')).toThrow('there is no such folder')
})

test.each(['', '-'])('%j is refused: it is no name of a file', (file) => {
  expect(() => openLogFile(file, { clock, uid, failed: () => undefined })).toThrow('it is no name of a file')
})

test('a device is refused', () => {
  expect(() => openLogFile('/dev/full', { clock, uid, failed: () => undefined })).toThrow(
    'not a regular file',
  )
})
