import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { licencesOf } from '../build/licences.ts'

const commander = createRequire(import.meta.url).resolve('commander')

test('the licence of each package goes with its code, once', () => {
  const text = licencesOf([commander, path.join(path.dirname(commander), 'lib/option.js')])
  expect(text).toMatch(/^commander \d+\.\d+\.\d+ \(MIT\)\n\n/)
  expect(text).toContain('Permission is hereby granted')
  expect(text.match(/^commander /gm)).toHaveLength(1)
})

test('our own modules, and those that the bundler made, need none', () => {
  expect(licencesOf([import.meta.filename, `\0imported:fs?${commander}`])).toBe('')
})

test('a package that says nothing of its licence cannot be bundled', () => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'kvup-licences-')), 'node_modules', 'silent')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{"name":"silent","version":"1.0.0"}')
  expect(() => licencesOf([path.join(folder, 'index.js')])).toThrow('silent says nothing of its licence')
})
