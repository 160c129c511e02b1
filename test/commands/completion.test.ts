import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { completionScript } from '../../src/lib/output/completion/scripts.ts'

const root = path.resolve(import.meta.dirname, '../..')
const bin = (name: string) => path.join(root, 'bin', name)
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'kvup-completion-'))
  const kvup = path.join(folder, 'kvup')
  writeFileSync(kvup, `#!/bin/sh\nexec '${process.execPath}' '${bin('kvup.js')}' "$@"\n`)
  chmodSync(kvup, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What bash would offer for a line, with the real script and the built program. */
function bashOffers(line: string): string[] {
  const script = `${completionScript('bash', 'kvup')}
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_kvup
printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  return execFileSync('bash', ['-c', script, 'bash', line], { env, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
}

const kubectl = (...words: string[]) =>
  execFileSync(process.execPath, [bin('kubectl_complete-kvup.js'), ...words], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

describe('completion of the built program', () => {
  test('bash offers commands, options and values', () => {
    expect(bashOffers('kvup st')).toEqual(['status'])
    expect(bashOffers('kvup upgrade --meth')).toEqual(['--method'])
    expect(bashOffers('kvup status -o js')).toEqual(['json', 'jsonpath=', 'jsonpath-file='])
    expect(bashOffers('kvup status --output=ya')).toEqual(['yaml'])
    expect(bashOffers('kvup completion ')).toEqual(['bash', 'zsh', 'fish', 'powershell'])
    expect(bashOffers('kvup workloads ')).toContain('restore')
  })

  test('kubectl kvup <TAB> is answered in cobra’s words', () => {
    expect(kubectl('sta')).toEqual([expect.stringMatching(/^status\tShow where/), ':4'])
    expect(kubectl('status', '--kubeconfig', '')).toEqual([':0'])
    expect(kubectl('-o', 'name', 'status', '--hel')).toEqual([expect.stringMatching(/^--help\t/), ':4'])
  })
})
