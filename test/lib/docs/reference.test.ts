import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFolders, referencePages } from '../../../build/reference/pages.ts'

const pages = await referencePages()

test.each([...pages.keys()])('manner 7: %s is what npm run reference makes', (file) => {
  expect(readFileSync(file, 'utf8'), 'run npm run reference').toBe(pages.get(file))
})

test('there is no page of a command that is gone', () => {
  const there = generatedFolders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  expect(there.filter((file) => !pages.has(file))).toEqual([])
})

test('every flag of upgrade is on its pages, every command on the index', () => {
  for (const page of ['docs/commands/upgrade.md', 'docs/man/kvup-upgrade.1'])
    for (const flag of ['--to', '--dry-run', '--accept', '--leave-paused'])
      expect(pages.get(page)?.replaceAll('\\-', '-')).toContain(flag)
  expect(pages.get('docs/commands/README.md')).toContain('kvup restore-settings')
})

test('hidden commands have no page', () => {
  expect([...pages.keys()].filter((file) => file.includes('complete'))).toEqual([])
})
