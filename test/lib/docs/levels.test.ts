import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { explanations } from '../../../src/lib/checks/explanations.ts'
import { standsInTheWay } from '../../../src/lib/eus/plan/eus-snapshot.ts'

/** What a page calls a level. */
const words = {
  blocker: /blocker/iu,
  warning: /warning/iu,
  info: /\binfo\b/iu,
  'not-checked': /not checked/iu,
}
type Level = keyof typeof words

/** Each finding whose id and level stand in the code, with the levels that it can have there. */
function levelsInCode(pattern: string): Map<string, Set<Level>> {
  const found = new Map<string, Set<Level>>()
  for (const file of globSync(pattern).filter((one) => !/[/](?:simulator|output)[/]/u.test(one))) {
    /** A finding without an id has that of the check above it. */
    let check = ''
    for (const [, row, named, after, before, only] of readFileSync(file, 'utf8').matchAll(
      /\b[a-z]+Check\('([a-z-]+)'|(?:\bid: '([a-z-]+)',\s*|\{\s*)level: ([^\n]*)|\b(warning|blocker)\(\{\s*id: '([a-z-]+)'/gu,
    )) {
      if (row !== undefined) check = row
      const id = named ?? only ?? check
      const level = after ?? before ?? ''
      if (row !== undefined || id === '') continue
      const all = found.get(id) ?? new Set()
      // Only what follows a question mark, where there is one, is a level.
      const given = level.replace(/^.*\?/u, '').match(/blocker|warning|info|not-checked/gu) ?? []
      found.set(id, new Set([...all, ...(given as Level[])]))
    }
  }
  return found
}

const all = levelsInCode('src/lib/**/*.ts')
const ofWindow = levelsInCode('src/lib/eus/plan/findings/*.ts')
const pages = new Map(explanations.map(({ id, level }) => [id, level.replaceAll('\n', ' ')]))
const isRefused = (text: string) => text.startsWith('Refused')
const rows = [...all].flatMap(([id, levels]) => {
  const text = pages.get(id)
  return text === undefined || isRefused(text) || levels.size === 0 ? [] : [[id, [...levels], text] as const]
})

test('there are levels to compare', () => {
  expect(rows.length).toBeGreaterThan(70)
})

test.each(rows)('the page of %s names each level that the code gives it: %j', (_, levels, text) => {
  expect(levels.filter((level) => !words[level].test(text))).toEqual([])
})

/** Levels that are given elsewhere: by the check of the id, by another command, or by a value. */
const elsewhere: Readonly<Record<string, readonly Level[]>> = {
  'images-not-tried': ['warning'],
  'images-pullable': ['warning'],
}

test.each(rows)('the page of %s begins with a level that the code gives it: %j', (id, levels, text) => {
  const given: readonly string[] = [
    ...levels,
    ...(elsewhere[id] ?? []),
    ...(levels.includes('not-checked') ? ['blocker'] : []),
  ]
  const [first = given[0]] = /^(?:blocker|warning|info)\b/u.exec(text.toLowerCase()) ?? []
  expect(given).toContain(first)
})

const loosened = [...ofWindow].filter(
  ([id, levels]) =>
    !standsInTheWay.has(id) &&
    // It blocks only in front of a window.
    id !== 'methods-empty-without-override' &&
    (levels.has('blocker') || levels.has('not-checked')) &&
    pages.has(id),
)

test.each(loosened)('the page of %s says that it is a warning during an EUS upgrade', (id) => {
  expect(pages.get(id)).toMatch(/warning during an EUS upgrade|no EUS upgrade is under way/iu)
})

test('what stands in the way of an open window as well is no warning there', () => {
  for (const id of standsInTheWay) expect(pages.get(id) ?? '').not.toMatch(/warning during an EUS upgrade/iu)
})
