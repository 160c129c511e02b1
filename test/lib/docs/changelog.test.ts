import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Of https://keepachangelog.com, in its order. */
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
const mostWords = 25

const page = readFileSync('CHANGELOG.md', 'utf8')

/** What is wrong with a change log, as sentences. */
function wrongIn(text: string): string[] {
  const [, ...releases] = text.split(/^## /mu)
  const titles = releases.map((release) => release.split('\n')[0] ?? '')
  const first = titles[0] === '[Unreleased]' ? [] : ['it does not begin with [Unreleased]']
  return [...first, ...releases.flatMap(wrongInRelease)]
}

function wrongInRelease(release: string): string[] {
  const [head = '', ...groups] = release.split(/^### /mu)
  const names = groups.map((group) => group.split('\n')[0] ?? '')
  const inOrder = kinds.filter((kind) => names.includes(kind))
  const entries = groups.flatMap((group) =>
    group
      .split('\n')
      .slice(1)
      .filter((line) => line.trim() !== ''),
  )
  return [
    ...(head.includes('\n- ') ? ['an entry stands outside of Added, Changed and so on'] : []),
    ...(names.join() === inOrder.join() ? [] : [`groups are ${names.join(', ')}`]),
    ...entries.filter((line) => !line.startsWith('- ')).map((line) => `no entry on one line: ${line}`),
    ...entries
      .filter((line) => line.split(' ').length - 1 > mostWords)
      .map((line) => `over ${mostWords} words: ${line}`),
  ]
}

test('every change is one line of at most 25 words, in the groups of Keep a Changelog', () => {
  expect(page.match(/^- /gmu)?.length).toBeGreaterThan(20)
  expect(wrongIn(page)).toEqual([])
})

test('what does not keep to it would be found', () => {
  const long = Array.from({ length: mostWords + 1 }, () => 'word').join(' ')
  const bad = `# Changelog\n\n## 0.1.0\n\n- outside\n\n### Fixed\n\n- ${long}\n  and more\n\n### Added\n\n- x\n`
  expect(wrongIn(bad)).toHaveLength(5)
})
