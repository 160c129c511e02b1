import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { reportMarkdown } from '../../../../src/lib/output/report/report-markdown.ts'
import { sanitise } from '../../../../src/lib/output/terminal.ts'
import { markdownText } from '../../../../src/lib/output/text.ts'
import { hostile } from './hostile.ts'
import { bare, check, manyVms, page, recorded, recordedFiles, sourceOf, withTexts } from './recorded.ts'

/** Elements and attributes that the page has of its own. */
const markup = (text: string): string[] =>
  [
    ...bare(text)
      .replaceAll(/="[^"]*"/gu, '=""')
      .matchAll(/<(\/?[a-z][a-z0-9-]*)([^>]*)>/giu),
  ].map(
    ([, name = '', rest = '']) =>
      `${name} ${[...rest.matchAll(/([a-z-]+)(?==)/giu)].map(([attribute]) => attribute).join(' ')}`,
  )

/** Of each document, with few events: a page of all of them takes long to be looked at so often. */
const every = [...recordedFiles.map(recorded), check()].map(({ document, events }) => ({
  document,
  events: events.slice(0, 8),
}))
/** The markup that such pages have without anybody's texts. */
const allowed = new Set([...recordedFiles.map(recorded), check()].flatMap((source) => markup(page(source))))

test.each(hostile.map((text) => [JSON.stringify(text).slice(0, 60), text] as const))(
  '%s stays text',
  (_, text) => {
    for (const source of every) {
      const spoilt = sourceOf(withTexts(source, [text]).document)
      const html = page({ ...spoilt, events: withTexts(source, [text]).events })
      expect(
        markup(html).filter(
          (one) =>
            !allowed.has(one) &&
            !/^(\/?(div|p|li|ul|note|span|code|dd|dt|title|text|g|h2|section|a|nav)) /u.test(one),
        ),
      ).toEqual([])
      expect(html).not.toMatch(/<script/iu)
      expect(bare(html).replaceAll(/="[^"]*"/gu, '=""')).not.toMatch(/<[a-z][^>]*\son[a-z]+=/iu)
      // Nothing that turns text around or hides it is left in what is shown.
      const ticket = reportMarkdown(spoilt)
      expect(ticket).toBe(sanitise(ticket))
    }
  },
)

test('Markdown of hostile text has no markup of its own', () => {
  const text = hostile.find((one) => one.startsWith('| a |')) ?? ''
  const lines = reportMarkdown(withTexts(recorded('upgrade.ndjson'), [text])).split('\n')
  expect(lines.filter((line) => /^#+ /u.test(line)).every((line) => /^## [A-Z]|^# Upgrade/u.test(line))).toBe(
    true,
  )
  expect(lines.join('\n').replaceAll(/^( *)(`{3,})[^\n]*\n[\s\S]*?\n\1\2$/gmu, '')).not.toMatch(
    /(?<!\\)<b>|(?<!\\)\[link|(?<!\\)!\[x/u,
  )
})

test.each([
  ['&lt;b&gt; & c', String.raw`\&lt;b\&gt; & c`],
  ['~~gone~~ and $x$', String.raw`\~\~gone\~\~ and \$x\$`],
  ['~~~', String.raw`\~\~\~`],
  ['---', String.raw`\---`],
  ['===', String.raw`\===`],
  ['+ more', String.raw`\+ more`],
  ['    indented', ' indented'],
  [' - nested', String.raw` \- nested`],
  ['1) first', String.raw`1\) first`],
  ['12. twelfth', String.raw`12\. twelfth`],
  ['1.8.4 is there', '1.8.4 is there'],
  ['see https://evil.example/_x_?a=1&b=2.', 'see `https://evil.example/_x_?a=1&b=2`.'],
  ['(www.evil.example)', '(`www.evil.example`)'],
  ['ask @org/team, or ops@example.com!', 'ask `@org/team`, or `ops@example.com`!'],
  ['`@org`', '\\``@org`\\`'],
  ['a | b@c', String.raw`a \| ${'`b@c`'}`],
])('%j is text in Markdown', (words, markdown) => {
  expect(markdownText(words)).toBe(markdown)
})

test('the page runs nothing and asks for nothing: what styles is named by its hash', () => {
  for (const source of every) {
    const html = page(source)
    const policy = /Content-Security-Policy" content="([^"]+)"/u.exec(html)?.[1] ?? ''
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;/u)
    expect(policy).not.toMatch(/unsafe|script/u)
    const style = /<style>([\s\S]*?)<\/style>/u.exec(html)?.[1] ?? ''
    expect(policy).toContain(createHash('sha256').update(style).digest('base64'))
    expect(html).not.toMatch(/<script|javascript:/iu)
    expect(bare(html)).not.toMatch(/<[^>]+\s(?:src|href|action|data)="(?!#|data:,)/u)
    expect(bare(html)).not.toMatch(/<[^>]+\s(?:style|on[a-z]+)="/u)
  }
})

test('10,000 VMs are less than 1 MB', () => {
  const source = recorded('rehearsal.json')
  expect(page({ ...source, document: { ...source.document, vms: manyVms } }).length).toBeLessThan(1_000_000)
})
