import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextsNamed } from './contexts-named.ts'
import { startProcess } from './program.ts'
import { sooner } from './shells/terminal-shell.ts'
import { type Alive, serveCluster } from './simulated.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  bin: Record<string, string>
}

let alive: Alive
let folder = ''
beforeAll(async () => {
  alive = await serveCluster({ version: 'v1.7.0', method: 'image-tag', operator: 'v1.8.4', speed: 1 })
  folder = mkdtempSync(join(tmpdir(), 'kvup-plugin-'))
  for (const [name, file] of Object.entries(bin)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${join(root, file)}' "$@"\n`)
    chmodSync(join(folder, name), 0o755)
  }
})
afterAll(async () => {
  await alive.stop()
  rmSync(folder, { recursive: true, force: true })
})

const run = async (program: string, words: readonly string[], kubeconfig = alive.kubeconfig) => {
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder }
  const { code, stdout, stderr } = await startProcess(program, words, { kubeconfig, env }).ended
  return { code, lines: stdout.trimEnd().split('\n'), stderr }
}

const alike = (line: string | RegExp) =>
  typeof line === 'string' ? line : (expect.stringMatching(line) as string)

/** What kubectl looks for when it completes `kubectl kvup`, and oc for `oc kvup`: the name of the plug-in with `_complete` before the dash. */
describe('a plug-in', () => {
  test.each<[string, string, (string | RegExp)[]]>([
    ['kubectl_complete-kvup', 'sta', [/^status\tShow whether/, ':4']],
    ['oc_complete-kvup', 'sta', [/^status\tShow whether/, ':4']],
    ['kubectl_complete-kvup', 'status --kubeconfig ', [':0']],
    ['kubectl_complete-kvup', '-o name status --hel', [/^--help\t/, ':4']],
    ['kubectl_complete-kvup', 'wait --for ver', ['version=', ':6']],
    ['kubectl_complete-kvup', 'upgrade --to v1.8', [/^v1\.8\.4\t/, ':4']],
    // kubectl puts "--to=" before it.
    ['oc_complete-kvup', 'upgrade --to=v1.8', [/^v1\.8\.4\t/, ':4']],
  ])('%s: %s', async (program, line, lines) => {
    const answer = () => run(join(folder, program), line.split(' '))
    await expect.poll(answer, sooner).toEqual({
      code: 0,
      lines: lines.map(alike),
      stderr: '',
    })
  })

  test('a value that would have to be quoted is not offered: whether they quote depends on their version', async () => {
    const file = contextsNamed(['harmless', 'has blank', '$(touch pwned)'], alive)
    const { lines } = await run(join(folder, 'kubectl_complete-kvup'), ['--context', ''], file)
    expect(lines).toEqual(['harmless', ':4'])
  })
})

test('an old Node says nothing', () => {
  const text = readFileSync(join(root, bin['kubectl_complete-kvup'] ?? ''), 'utf8')
  const old = text.replace('process.versions.node', "'20.1.0'").replace('../dist/main.js', '/nowhere.js')
  expect(old).not.toBe(text)
  const file = join(folder, 'old.mjs')
  writeFileSync(file, old)
  expect(execFileSync(process.execPath, [file, 'st'], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
})

function completesPlugins(kubectl: string): boolean {
  try {
    const { clientVersion } = JSON.parse(
      execFileSync(kubectl, ['version', '--client', '-o', 'json'], { encoding: 'utf8', stdio: 'pipe' }),
    ) as { clientVersion: { minor: string } }
    return Number.parseInt(clientVersion.minor, 10) >= 26
  } catch {
    return false
  }
}

describe.skipIf(!completesPlugins('kubectl'))('kubectl itself (needs kubectl 1.26 or newer)', () => {
  test.each<[string, (string | RegExp)[]]>([
    ['kvup sta', [/^status\tShow whether/]],
    ['kvup upgrade --to ', [/^v1\.7\.4\t/, /^v1\.8\.4\t/]],
    ['kvup upgrade --to v1.8.4 --until healthy-', [/^healthy-again\t/]],
    ['kvup check --accept=kubernetes-w', ['kubernetes-window']],
  ])('kubectl %s', async (line, lines) => {
    const answer = async () => (await run('kubectl', ['__complete', ...line.split(' ')])).lines
    await expect.poll(answer, sooner).toEqual([...lines.map(alike), ':4'])
  })
})
