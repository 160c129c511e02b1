import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { bin, startProcess } from './program.ts'

/** What the program says of its cache as it ends. */
const atExit = `process.on('exit', () => process.stderr.write('cache ' + process.getBuiltinModule('node:module').getCompileCacheDir()))`
const programs: [string, string, string[]][] = [
  ['kvup', bin, ['version', '--client']],
  ['the completion', join(dirname(bin), 'kubectl_complete-kvup.js'), ['vers']],
]

let home: string
let shared: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kvup-home-'))
  shared = mkdtempSync(join(tmpdir(), 'kvup-shared-'))
  chmodSync(shared, 0o1777)
})

async function cacheOf([, program, argv]: (typeof programs)[number], env: Record<string, string> = {}) {
  const options = `--import=data:text/javascript,${encodeURIComponent(atExit)}`
  const all = { HOME: home, TMPDIR: shared, NODE_COMPILE_CACHE: '', NODE_OPTIONS: options, ...env }
  const { code, stderr } = await startProcess(process.execPath, [program, ...argv], { env: all }).ended
  expect(code).toBe(0)
  return /cache (.*)$/su.exec(stderr)?.[1]
}

describe.each(programs)('trust H2: %s', (...program) => {
  test('keeps compiled code in a folder of this user, that nobody else can write to', async () => {
    expect(await cacheOf(program)).toMatch(new RegExp(`^${join(home, '.cache/kvup')}/`, 'u'))
    expect(statSync(join(home, '.cache/kvup')).mode & 0o777).toBe(0o700)
    const caches = join(home, 'elsewhere')
    expect(await cacheOf(program, { XDG_CACHE_HOME: caches })).toMatch(new RegExp(`^${caches}/kvup/`, 'u'))
  })

  test('neither reads nor writes a cache that somebody put into the shared temporary folder', async () => {
    mkdirSync(join(shared, 'node-compile-cache'), { mode: 0o777 })
    expect(await cacheOf(program)).not.toContain(shared)
    expect(readdirSync(join(shared, 'node-compile-cache'))).toEqual([])
  })

  test.each([
    ['anybody can write to', () => makeWith(join(home, '.cache/kvup'), 0o777)],
    ['a group can write to', () => makeWith(join(home, '.cache/kvup'), 0o770)],
    ['lies where anybody can replace it', () => makeWith(join(home, '.cache'), 0o1777)],
    [
      'leads to another one',
      () => {
        mkdirSync(join(home, '.cache'))
        symlinkSync(shared, join(home, '.cache/kvup'))
      },
    ],
  ])('keeps nothing in a folder that %s', async (_, make) => {
    make()
    expect(await cacheOf(program)).toBe('undefined')
    expect(readdirSync(shared)).toEqual([])
  })

  test('starts where there is no home', async () => {
    expect(await cacheOf(program, { HOME: '/proc/nowhere' })).toBe('undefined')
    expect(existsSync('/proc/nowhere')).toBe(false)
  })
})

function makeWith(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, mode)
}
