import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (file: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8'))

interface Locked {
  dev?: boolean
  hasInstallScript?: boolean
  resolved?: string
  integrity?: string
}

const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
const runAtInstall = new Set(['preinstall', 'install', 'postinstall', 'prepare'])

test('nothing that users install runs a script while it is installed', () => {
  expect(installed.length).toBeGreaterThan(9)
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([])
  const { scripts } = read('package.json') as { scripts: Record<string, string> }
  expect(Object.keys(scripts).filter((name) => runAtInstall.has(name))).toEqual([])
  expect(packages['']?.hasInstallScript).toBeUndefined()
})

test('all of it is tied to its digest', () => {
  expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([])
})

test('what has such a script is for development alone, and known by name', () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(scripted.map(([path]) => path)).toEqual(['node_modules/node'])
})
