// Processes at pipes that close and disks that are full: more than 3 s of processor time.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kvup } from '../in-process.ts'
import { paste, startKvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeAll(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'] })
})
afterAll(() => alive.stop())

describe.concurrent('a pipe that closes early', () => {
  test.each(['kvup status -o json', 'kvup --help', 'kvup completion bash'])(
    'manner 20: %s | head -1 ends quietly',
    async (line) => {
      const { code, stdout, stderr } = await paste(`${line} | head -1`, alive)
      expect({ code, lines: stdout.split('\n').length, stderr }).toEqual({ code: 0, lines: 2, stderr: '' })
    },
  )

  test('a reader that is gone before the first byte is no failure', async () => {
    const running = startKvup(['status', '-o', 'json'], alive)
    running.closeStdout()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe.concurrent('an answer that cannot be written', () => {
  test.each(['kvup --help', 'kvup status -o json', 'kvup status -w'])(
    '%s on a full disk says so, and is no bug of kvup',
    async (line) => {
      const { code, stderr } = await paste(`${line} > /dev/full`, alive)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'error: standard output cannot be written: ENOSPC: no space left on device, write\n',
      })
    },
  )

  test('a story that cannot be written stops nothing', async () => {
    const { code, stdout } = await paste('kvup status 2> /dev/full', alive)
    expect({ code, isTold: stdout.includes('v1.7.4') }).toEqual({ code: 0, isTold: true })
  })
})

describe.concurrent('manner 22: colour', () => {
  const colour = '\u001b['
  test.each([
    ['on a pipe there is none', {}, [], false],
    ['FORCE_COLOR turns it on', { FORCE_COLOR: '1' }, [], true],
    ['NO_COLOR turns it off, FORCE_COLOR or not', { FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
    ['KVUP_NO_COLOR as well', { FORCE_COLOR: '1', KVUP_NO_COLOR: '1' }, [], false],
    ['an empty NO_COLOR is none', { FORCE_COLOR: '1', NO_COLOR: '' }, [], true],
    ['--color=always wins over NO_COLOR', { NO_COLOR: '1' }, ['--color=always'], true],
    ['--color=never over FORCE_COLOR', { FORCE_COLOR: '1' }, ['--color=never'], false],
    ['a dumb terminal is no reason for it', { TERM: 'dumb' }, [], false],
  ])('%s', async (_, env, flags, isColoured) => {
    const [good, bad] = await Promise.all([
      kvup(['status', ...flags], { ...alive, env }),
      kvup(['upgrade', '--to', 'v1.9', ...flags], { ...alive, env }),
    ])
    expect(good.code).toBe(0)
    expect(good.stdout.includes(colour)).toBe(isColoured)
    expect(bad.stderr.includes(colour)).toBe(isColoured)
  })

  test('documents have none, whatever is forced', async () => {
    const { stdout } = await kvup(['status', '-o', 'json', '--color=always'], {
      ...alive,
      env: { FORCE_COLOR: '1' },
    })
    expect(stdout).not.toContain('\u001b')
  })
})

describe.concurrent('manner 23: LANG=C', () => {
  test.each([
    ['status'],
    ['upgrade'],
    ['upgrade', '--to', 'v1.8.4', '--dry-run=client'],
    ['upgrade', '--to', 'v1.8.4'],
    ['upgrade', '--to', 'v1.6.0', '--yes'],
    ['upgarde'],
    ['status', '-o', 'nonsense'],
    ['history'],
    ['--help'],
    ['upgrade', '--help'],
  ])('%j keeps to ASCII on both streams', async (...argv) => {
    const { stdout, stderr } = await kvup(argv, { ...alive, env: { LANG: 'C' } })
    expect(stdout + stderr).toMatch(/^[\n -~]+$/)
  })

  test('UTF-8 is not kept from those who have it', async () => {
    const { stderr } = await kvup(['upgrade'], alive)
    expect(stderr).toContain('→ kvup upgrade --to v1.8.4')
  })
})

test('manner 19: stderr tells the story, stdout has the answer alone', async () => {
  const { code, stdout, stderr } = await kvup(['upgrade', '--to', 'v1.7.4', '--yes', '-o', 'name'], alive)
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'kubevirt.kubevirt.io/kubevirt\n', stderr: '' })
})

test('nothing of all that changed anything', () => {
  expect(alive.writes()).toEqual([])
})
