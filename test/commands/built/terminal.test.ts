// Processes on a terminal that watch whole upgrades: more than 3 s of processor time.
import { execFileSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { displayWidth } from '../../../src/lib/output/text.ts'
import { bin, type Live, startProcess } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeEach(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'], workers: 6, speed: 40 })
})
afterEach(() => alive.stop())

const hidden = '\u001b[?25l'
const shown = '\u001b[?25h'
const upgrade = ['upgrade', '--to', 'v1.8.4', '--stable-for', '0s'] as const

interface Terminal extends Live {
  /** Of kvup itself, not of the terminal around it. */
  kvup(): number
  screen(): string
}

/** kvup on a pseudo-terminal of util-linux' script; what is typed goes to it. */
async function onTerminal(argv: readonly string[], columns = 80): Promise<Terminal> {
  const words = [process.execPath, bin, ...argv].map((word) => `'${word}'`).join(' ')
  const command = `stty cols ${columns} rows 24 -echo; echo "pid $$ "; exec ${words}`
  const env = { TERM: 'xterm-256color', SHELL: '/bin/sh' }
  const live = startProcess('script', ['-qefc', command, '/dev/null'], { ...alive, env, stdin: 'open' })
  await live.until(/pid \d+ /, 'stdout')
  const pid = Number(/pid (\d+)/.exec(live.said().stdout)?.[1])
  return { ...live, kvup: () => pid, screen: () => live.said().stdout.replace(/^pid .*\r?\n/, '') }
}

/** Without it there is no pseudo-terminal to be had from Node alone. */
const reason = 'needs script of util-linux for a pseudo-terminal'
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).includes('util-linux')
  } catch {
    return false
  }
}

/** Which of both was said last. */
const cursor = (screen: string) =>
  screen.lastIndexOf(shown) > screen.lastIndexOf(hidden) ? 'shown' : 'hidden'

describe.skipIf(!hasScript())(`on a terminal (${reason})`, () => {
  test.each([80, 20])(
    'manner 27: %i columns: drawn in place, never wider, and the cursor is given back',
    async (columns) => {
      const terminal = await onTerminal([...upgrade, '--yes'], columns)
      const { code } = await terminal.ended
      const screen = terminal.screen()
      expect(code).toBe(0)
      expect(screen).toContain(hidden)
      expect(cursor(screen)).toBe('shown')
      const drawn = screen.slice(screen.lastIndexOf(hidden), screen.lastIndexOf(shown))
      const lines = stripVTControlCharacters(drawn)
        .split(/\r?\n/)
        .map((line) => displayWidth(line.replaceAll('\r', '')))
      expect(Math.max(...lines)).toBeLessThan(columns)
      expect(stripVTControlCharacters(screen)).toMatch(/✔ KubeVirt\s+v1\.8\.4\s+on\s/)
    },
  )

  test('status -w draws its page in place, and Ctrl-C gives the cursor back', async () => {
    const terminal = await onTerminal(['status', '-w'])
    await terminal.until(/healthy/, 'stdout')
    expect(cursor(terminal.screen())).toBe('hidden')
    const { writer } = alive.cluster.cluster()
    const kubevirt = { namespace: 'kubevirt', name: 'kubevirt' }
    await writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4' } })
    await terminal.until(/virt-handler +[1-5]\/6/, 'stdout')
    terminal.type('\u0003')
    expect((await terminal.ended).code).toBe(130)
    expect(cursor(terminal.screen())).toBe('shown')
    const moves = terminal
      .screen()
      .split('\u001b[')
      .filter((part) => /^\d+A/.test(part))
    expect(moves.length).toBeGreaterThan(1)
  })

  test('manner 27: SIGTSTP gives it back, SIGCONT draws on; Ctrl-C gives it back, and the loan lines stand below the view', async () => {
    const terminal = await onTerminal([...upgrade, '--yes', '--stable-for', '60s'])
    await terminal.until(/▸ \S*virt-handler/, 'stdout')
    const before = terminal.screen().length
    process.kill(terminal.kvup(), 'SIGTSTP')
    await expect.poll(() => stateOf(terminal.kvup()), { timeout: 5000 }).toBe('T')
    // script stops with its child, sometimes before it has passed on what the child wrote last.
    terminal.kill('SIGCONT')
    process.kill(terminal.kvup(), 'SIGCONT')
    const since = () => terminal.screen().slice(before)
    await expect.poll(() => since().indexOf(shown), { timeout: 5000 }).toBeGreaterThan(-1)
    await expect.poll(() => cursor(since()), { timeout: 5000 }).toBe('hidden')
    terminal.type('\u0003')
    expect((await terminal.ended).code).toBe(130)
    expect(cursor(terminal.screen())).toBe('shown')
    expect(stripVTControlCharacters(terminal.screen()).split('error: ')[1]).toMatch(
      /kvup workloads resume-updates/,
    )
  })

  test.each([
    ['no', 'n\r', 3, 'Canceled. Nothing was changed.'],
    ['Ctrl-C', '\u0003', 130, 'nothing was changed'],
  ])('%s at the question changes nothing', async (_, typed, code, said) => {
    const terminal = await onTerminal(upgrade)
    await terminal.until(/Upgrade KubeVirt from v1\.7\.4 to v1\.8\.4\?/, 'stdout')
    terminal.type(typed)
    expect((await terminal.ended).code).toBe(code)
    expect(stripVTControlCharacters(terminal.screen())).toContain(said)
    expect(cursor(`${hidden}${terminal.screen()}`)).toBe('shown')
    expect(alive.writes()).toEqual([])
  })

  test('a dumb terminal gets lines', async () => {
    const words = [process.execPath, bin, ...upgrade, '--yes'].map((word) => `'${word}'`).join(' ')
    const setting = { ...alive, env: { TERM: 'dumb', SHELL: '/bin/sh' } }
    const { code, stdout } = await startProcess('script', ['-qefc', words, '/dev/null'], setting).ended
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/\d\d:\d\d:\d\d virt-handler: done.*, 6 of 6 nodes/)
  })
})

/** The state letter of a process on Linux; `T` is stopped. */
function stateOf(pid: number): string {
  return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).slice(0, 1)
}
