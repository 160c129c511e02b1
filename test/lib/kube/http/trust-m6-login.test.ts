import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { execLogin } from '../../../../src/lib/kube/http/login-methods.ts'
import type { Target } from '../../../../src/lib/kube/http/target.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { configMapBody, opened, reply, tinyServer } from './tiny-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'kvup-plugin-'))

/** A plug-in that writes down its pid and then does what it is told. */
function plugin(name: string, body: string) {
  const [script, pid] = [join(folder, `${name}.mjs`), join(folder, `${name}.pid`)]
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(pid)}, String(process.pid))\n${body}`,
  )
  return { command: process.execPath, args: [script], pid: () => Number(readFileSync(pid, 'utf8')) }
}
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const target = { cluster: {}, login: { name: 'u' } } as unknown as Target
const logIn = (command: string, args: string[], more: { within?: number; ending?: AbortSignal } = {}) =>
  execLogin(target, { command, args }, { env: {}, ending: undefined, within: 60_000, ...more })()
const hangs = 'setInterval(() => undefined, 1000)'

describe('trust M6: a login plug-in that hangs', () => {
  test('is given up, named as what did not end, and is gone', async () => {
    const { command, args, pid } = plugin('hangs', hangs)
    await expect(logIn(command, args, { within: 1500 })).rejects.toThrow('it did not finish within 1.5 s')
    await pause(100)
    expect(isAlive(pid())).toBe(false)
  })

  test('does not outlive kvup', async () => {
    const { command, args, pid } = plugin('orphan', hangs)
    const over = new AbortController()
    const failed = logIn(command, args, { ending: over.signal })
    setTimeout(() => over.abort(new Error('kvup has ended')), 1000)
    await expect(failed).rejects.toThrow('aborted')
    await pause(100)
    expect(isAlive(pid())).toBe(false)
  })

  test('is named while it is waited for', async () => {
    const { command, args } = plugin(
      'slow',
      `setTimeout(() => console.log(JSON.stringify({ status: { token: 't' } })), 6000)`,
    )
    const server = await tinyServer((_, response) => reply(response, 200, configMapBody('x')))
    const said: string[] = []
    const config = {
      'current-context': 'one',
      clusters: [{ name: 'c', cluster: { server: server.url } }],
      contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { exec: { command, args } } }],
    }
    const kubeconfig = join(folder, 'config')
    writeFileSync(kubeconfig, JSON.stringify(config))
    const { cluster } = await opened(undefined, {
      connection: { kubeconfig },
      warn: (text) => said.push(text),
    })
    await cluster.reader.get(ConfigMaps, { name: 'x', namespace: 'ns' })
    await server.close()
    expect(said).toEqual([`waiting for the login plug-in ${command}`])
    expect(server.asked[0]?.headers.authorization).toBe('Bearer t')
  })
})

describe('trust L5: what a plug-in prints', () => {
  test.each([
    ['more than any credential has', `process.stdout.write('x'.repeat(3e6))`, 'larger than 1 MB'],
    ['no JSON', `console.log('sekret')`, 'its output is no JSON'],
    ['nothing', '', 'it printed nothing'],
    ['another document', 'console.log("{}")', 'no ExecCredential'],
    ['null', 'console.log("null")', 'no ExecCredential'],
    ['a token that is no text', 'console.log(JSON.stringify({ status: { token: 5 } }))', 'status.token'],
    ['its last words', 'console.error("go and log in"); process.exit(1)', 'go and log in'],
  ])('%s', async (name, body, said) => {
    const { command, args } = plugin(name.replaceAll(' ', '-'), body)
    await expect(logIn(command, args)).rejects.toThrow(said)
    await expect(logIn(command, args)).rejects.not.toThrow('sekret')
  })
})
