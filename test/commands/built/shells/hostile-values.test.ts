import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextsNamed } from '../contexts-named.ts'
import { serveObjects, type Served } from '../simulated.ts'
import { missing, openShell, type ShellName, sooner, type TerminalShell } from './terminal-shell.ts'

/** Each would do something if a shell read it as its own words. */
const harmful = [
  'aa$(touch pwned)',
  'ab`touch pwned`',
  'ac;touch pwned|touch pwned&touch pwned>pwned',
  'ag two  words',
  'ah"quoted" it\'s',
  'ai\\back\\\\slash',
  'aj!!',
  'ak*?[a]~{b,c}',
  'al#hash %s',
  'am=eq:col@at',
  'an$HOME${IFS}',
  'aoünï→',
  "ap'; touch pwned; '",
] as const

/** They cannot be said on one line of a terminal: they are not offered at all. */
const unsayable = ['za\nzz', 'zb\tzz', 'zc\u001b]0;owned\u0007', 'zd\u202eevil', 'ze\u009b31m']

/** What nothing else begins with. */
const begun = (value: string) => value.slice(0, 2)

let served: Served
let kubeconfig = ''
beforeAll(async () => {
  served = await serveObjects()
  kubeconfig = contextsNamed([...harmful, ...unsayable], served)
})
afterAll(() => served.stop())

describe.each<ShellName>(['bash', 'zsh', 'fish'])('%s', (name) => {
  const reason = missing(name)
  describe.skipIf(reason !== undefined)(`with its editor (${reason ?? 'runs here'})`, () => {
    let shell: TerminalShell
    beforeAll(async () => {
      shell = await openShell(name, kubeconfig)
    })
    afterAll(() => shell.stop())

    test.each(harmful)('%s is one word to the program', async (value) => {
      await expect
        .poll(() => shell.enter(`kvup --context ${begun(value)}`), sooner)
        .toEqual(['--context', value])
      expect(existsSync(join(shell.folder, 'pwned'))).toBe(false)
    })

    test('so it is after "=", and where a quote was open already', async () => {
      for (const value of [
        'aa$(touch pwned)',
        'ag two  words',
        'ah"quoted" it\'s',
        'ai\\back\\\\slash',
        'am=eq:col@at',
      ] as const) {
        await expect
          .poll(() => shell.enter(`kvup --context=${begun(value)}`), sooner)
          .toEqual([`--context=${value}`])
        await expect
          .poll(() => shell.enter(`kvup --context "${begun(value)}`), sooner)
          .toEqual(['--context', value])
        await expect
          .poll(() => shell.enter(`kvup --context '${begun(value)}`), sooner)
          .toEqual(['--context', value])
      }
      expect(existsSync(join(shell.folder, 'pwned'))).toBe(false)
    })

    test.each([
      ['am=eq:c', 'am=eq:col@at'],
      ['ag\\ t', 'ag two  words'],
      ['"ag t', 'ag two  words'],
      ['ag" t', 'ag two  words'],
      ['--cluster "x\\"y" --context aa\\$', 'aa$(touch pwned)'],
      ['ai\\\\ba', 'ai\\back\\\\slash'],
    ])('%s goes on in the middle of the word', async (typed, value) => {
      await expect.poll(async () => (await shell.enter(`kvup --context ${typed}`)).at(-1), sooner).toBe(value)
    })

    test.runIf(name === 'bash')('inside double quotes nothing keeps "!" from being expanded', async () => {
      expect(await shell.tab('kvup --context "aj')).toBe('kvup --context "aj')
    })

    test('what a terminal would act on is not offered', async () => {
      expect(await shell.tab('kvup --context z')).toBe('kvup --context z')
      expect(shell.screen()).not.toMatch(/owned|evil|31m/)
    })
  })
})
