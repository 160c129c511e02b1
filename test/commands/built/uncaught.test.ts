import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kvup } from './program.ts'

/** Thrown where nobody can catch it, as a library's callback does it. */
const thrower = `data:text/javascript,${encodeURIComponent(`setTimeout(() => { throw new Error('out of the blue') }, 600)`)}`

const silent = createServer(() => undefined)
const folder = mkdtempSync(join(tmpdir(), 'kvup-test-'))
const kubeconfig = join(folder, 'config')
let port: number
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  ;({ port } = silent.address() as AddressInfo)
  const at = {
    name: 'x',
    cluster: { server: `http://127.0.0.1:${port}` },
    user: {},
    context: { cluster: 'x', user: 'x' },
  }
  writeFileSync(
    kubeconfig,
    JSON.stringify({ clusters: [at], users: [at], contexts: [at], 'current-context': 'x' }),
  )
})
afterAll(() => {
  silent.close()
  rmSync(folder, { recursive: true })
})

/** A command that waits for a server that is silent, until something is thrown. */
async function thrown(name: string, ...more: readonly string[]) {
  const logs = join(folder, name)
  mkdirSync(logs)
  const env = { NODE_OPTIONS: `--import=${thrower}`, TMPDIR: logs }
  const ended = await kvup(['status', ...more], { kubeconfig, env })
  const found = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.log'),
  )
  return { ...ended, logs: found.map((file) => join(logs, file)) }
}

describe('manner 30: what a callback throws', () => {
  test('is told as a bug, without a stack, with exit 1 and one document', async () => {
    const { code, stdout, stderr } = await thrown('document', '-o', 'json')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('this is a bug in kvup') as string,
    })
    expect(stderr).toContain('out of the blue')
    expect(stderr).not.toContain('    at ')
    const document = JSON.parse(stdout) as { error: { remedy: string[] } }
    expect(document).toMatchObject({ kind: 'Status', status: 'failed', error: { code: 1, reason: 'bug' } })
    expect(existsSync(/report it with (\S+),/.exec(document.error.remedy[0] ?? '')?.[1] ?? '')).toBe(true)
  })

  test('names a file that tells more, for this user alone and without secrets', async () => {
    const { stderr, logs } = await thrown('log', '--as', 'o k', '--server', `http://me:pw@127.0.0.1:${port}`)
    expect(logs).toHaveLength(1)
    const [log = ''] = logs
    expect(stderr).toContain(`  report it with ${log}, `)
    const text = readFileSync(log, 'utf8')
    expect(text).toMatch(/^kvup \d+\.\d+\.\d+, Node v\d+/)
    expect(text).toContain("kvup status --as 'o k' --server")
    expect(text).toMatch(/Error: out of the blue\n {4}at /)
    expect(text).not.toContain('me:pw')
    expect(statSync(log).mode & 0o077).toBe(0)
  })

  test('where no file can be written, -v 6 is what helps', async () => {
    const env = { NODE_OPTIONS: `--import=${thrower}`, TMPDIR: join(kubeconfig, 'below-a-file') }
    const { code, stderr } = await kvup(['status'], { kubeconfig, env })
    expect(code).toBe(1)
    expect(stderr).toContain('run it again with -v 6')
  })
})
