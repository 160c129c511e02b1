import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { goldenFile, keptIn } from '../../screens/golden-file.ts'

const pages = ['README.md', ...globSync('docs/guide/*.md')]
/** `<!-- screen 80x24/image-tag: kvup status -->`, and the block below it. */
const block =
  /(<!-- screen (?<size>\S+)\/(?<scenario>\S+): (?<heading>.+) -->\n```text\n)[\s\S]*?(?=^```$)/gmu

/** The page with each screen in it as its golden file has it. */
function withScreens(text: string): string {
  return text.replaceAll(block, (...found) => {
    const { size = '', scenario = '', heading } = found.at(-1) as Record<string, string>
    const screen = keptIn(goldenFile(size, scenario)).find((kept) => kept.heading === heading)
    if (screen === undefined) throw new Error(`there is no screen ${size}/${scenario}: ${heading}`)
    // The next prompt is no part of what was said.
    return `${found[1]}${screen.lines.filter((line) => line !== '$').join('\n')}\n`
  })
}

test('README and guide have screens in them', () => {
  const shown = pages.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(block)])
  expect(shown.length).toBeGreaterThan(2)
  // A mark with anything between it and its block would show what nobody compares.
  const marks = pages.flatMap((page) => readFileSync(page, 'utf8').match(/<!-- screen /gu) ?? [])
  expect(shown).toHaveLength(marks.length)
})

test.each(pages)('%s shows screens as they are', (page) => {
  const now = withScreens(readFileSync(page, 'utf8'))
  if (process.env['UPDATE'] === '1') writeFileSync(page, now)
  expect(readFileSync(page, 'utf8')).toBe(now)
})
