import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (name: string) => readFileSync(`docs/facts/${name}.md`, 'utf8')
const kubevirt = new Set(
  [...read('kubevirt').matchAll(/^##+ (\d+(?:\.\d+)?)/gmu)].map(([, section]) => section),
)
const lab = new Set([...read('lab').matchAll(/^(\d+)\. /gmu)].map(([, number]) => number))
const hco = new Set([...read('hyperconverged').matchAll(/^(\d+)\. /gmu)].map(([, number]) => number))
const openshift = new Set([
  ...[...read('openshift').matchAll(/^##+ (\d+(?:\.\d+)?)/gmu)].map(([, section]) => section),
  ...numberedIn(read('openshift')),
])

/** Sections that are one list or table: `9.20` is the twentieth of it. */
function numberedIn(page: string): string[] {
  const sections = page.split(/^## (?=\d+\. )/mu).slice(1)
  return sections
    .filter((section) => !/^### /mu.test(section))
    .flatMap((section) =>
      [...section.matchAll(/^(?:(\d+)\. |\| (\d+) \|)/gmu)]
        .slice(1)
        .map(([, item, row]) => `${Number.parseInt(section, 10)}.${item ?? row ?? ''}`),
    )
}
const night = new Set(
  [...read('night').matchAll(/^## ([A-Z]) — [\s\S]*?(?=^## |$(?![\s\S]))/gmu)].flatMap(([text, letter]) =>
    [...text.matchAll(/^(\d+)\. /gmu)].map(([, number]) => `${letter}${number}`),
  ),
)

const citations = globSync('{src,test}/**/*.ts').flatMap((file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /\b(facts|night|lab|hco|ocp)(?: README)?,?(?: "?Seen"?)? ([A-Z]?\d+(?:\.\d+)?)/gu,
    ),
  ].map(([text, book = '', place = '']) => ({ file, text, book, place: place.replace(/\.$/u, '') })),
)
const books: Record<string, ReadonlySet<string | undefined>> = {
  facts: kubevirt,
  night,
  lab,
  hco,
  ocp: openshift,
}

test('what docstrings cite is in docs/facts', () => {
  expect(citations.length).toBeGreaterThan(60)
  expect(citations.filter(({ book, place }) => !books[book]?.has(place))).toEqual([])
})

test('a section of the contract that is cited is one of docs/conventions.md', () => {
  const sections = new Set([...read('../conventions').matchAll(/^## (.*)$/gmu)].map(([, title]) => title))
  const cited = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/contract "([^"]+)"/gu)].map(([, title]) => title),
  )
  expect(cited.length).toBeGreaterThan(5)
  expect(cited.filter((title) => !sections.has(title))).toEqual([])
})

test('a citation that leads nowhere would be found', () => {
  expect([
    kubevirt.has('2.8'),
    kubevirt.has('12.1'),
    night.has('U9'),
    night.has('U10'),
    lab.has('16'),
    lab.has('99'),
    openshift.has('9.20'),
    openshift.has('9.21'),
    openshift.has('7.28'),
    openshift.has('3.9'),
  ]).toEqual([true, false, true, false, true, false, true, false, true, false])
})
