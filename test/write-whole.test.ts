import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeWhole } from '../src/open.ts'

let folder: string
const at = (name: string) => join(folder, name)
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kvup-write-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('the file is whole, for this user alone, and nothing else is left', async () => {
  writeFileSync(at('plan.yaml'), 'old', { mode: 0o644 })
  await writeWhole(at('plan.yaml'), 'new')
  expect(readFileSync(at('plan.yaml'), 'utf8')).toBe('new')
  expect(statSync(at('plan.yaml')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['plan.yaml'])
})

test('a link stays a link, and what it leads to is written', async () => {
  writeFileSync(at('kept.yaml'), 'old')
  symlinkSync(at('kept.yaml'), at('plan.yaml'))
  await writeWhole(at('plan.yaml'), 'new')
  expect(lstatSync(at('plan.yaml')).isSymbolicLink()).toBe(true)
  expect(readFileSync(at('kept.yaml'), 'utf8')).toBe('new')
})

test('a link that somebody laid where the half-written file would lie is not followed', async () => {
  writeFileSync(at('precious'), 'precious')
  symlinkSync(at('precious'), at('plan.yaml.part'))
  await writeWhole(at('plan.yaml'), 'new')
  expect(readFileSync(at('precious'), 'utf8')).toBe('precious')
})

test('a directory is refused, and stays', async () => {
  mkdirSync(at('plans'))
  await expect(writeWhole(at('plans'), 'new')).rejects.toThrow('EISDIR')
  expect(readdirSync(folder)).toEqual(['plans'])
})

test.skipIf(process.platform === 'win32')('a pipe is written into, and is one afterwards', async () => {
  execFileSync('mkfifo', [at('pipe')])
  const reader = openSync(at('pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    await writeWhole(at('pipe'), 'new')
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true)
    expect(readFileSync(reader, 'utf8')).toBe('new')
  } finally {
    closeSync(reader)
  }
})
