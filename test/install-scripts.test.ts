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
const locked = Object.entries(packages).filter(([path]) => path !== '')
const installed = locked.filter(([, { dev }]) => dev !== true)
const runAtInstall = new Set(['preinstall', 'install', 'postinstall', 'prepare'])

test('users install kvup alone: what it needs is in its bundle', () => {
  expect(locked.length).toBeGreaterThan(100)
  expect(installed.map(([path]) => path)).toEqual([])
  const named = read('package.json') as Readonly<Record<string, unknown>>
  const kinds = ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']
  expect(kinds.filter((kind) => named[kind] !== undefined)).toEqual([])
})

test('kvup itself runs no script while it is installed', () => {
  const { scripts } = read('package.json') as { scripts: Record<string, string> }
  expect(Object.keys(scripts).filter((name) => runAtInstall.has(name))).toEqual([])
  expect(packages['']?.hasInstallScript).toBeUndefined()
})

test('all that the bundle is made of is tied to its digest', () => {
  expect(locked.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([])
})

test('what has such a script is for development alone, and known by name', () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(scripted.map(([path]) => path)).toEqual(['node_modules/node'])
})
