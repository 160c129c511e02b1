import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { entries } from '../../../src/commands/entries.ts'
import { explanations, isBlocking, meaningOf } from '../../../src/lib/checks/explanations.ts'
import { exitCode } from '../../../src/lib/kube/errors.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { example } from '../kubevirt/example.ts'
import { runText } from '../run-text.ts'
import { explanations as parsed } from '../../../build/reference/explanations.ts'
import fixture from './explanations.json' with { type: 'json' }

const ofKind = (kind: string) => explanations.filter((one) => one.kind === kind).map(({ id }) => id)
const prose = (text: string) =>
  text
    .split(/\n{2,}/u)
    .filter((paragraph) => !paragraph.startsWith('    '))
    .join(' ')
    .replaceAll(/\s+/gu, ' ')

describe('what kvup explain knows', () => {
  test('names are told apart', () => {
    const ids = explanations.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test.each(['means', 'text'] as const)('no two names share a text: %s', (part) => {
    const texts = explanations.map(({ means, matters, fix }) =>
      part === 'means' ? means : [means, matters, fix].join('\n'),
    )
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  })

  test.each(fixture.known)('%s %s', (kind, id) => {
    expect(ofKind(kind)).toContain(id)
  })

  test('every command that is shown, and every exit code', () => {
    const shown = entries.filter(({ hidden, name }) => hidden !== true && !name.startsWith('__'))
    expect(ofKind('command').toSorted()).toEqual(shown.map(({ name }) => name).toSorted())
    expect(ofKind('exit-code').toSorted()).toEqual(
      Object.values(exitCode)
        .map((code) => `exit-${code}`)
        .toSorted(),
    )
  })

  test('what can block is what --accept is for', () => {
    const byId = new Map(explanations.map((one) => [one.id, isBlocking(one)]))
    expect([byId.get('node-ready'), byId.get('clock-skew'), byId.get('managed-by-olm')]).toEqual([
      true,
      false,
      false,
    ])
    expect(byId.get('alerts-firing')).toBe(true)
  })

  test('names that a page points at are there', () => {
    const ids = new Set(explanations.map(({ id }) => id))
    const named = explanations.flatMap(({ id, means, matters, fix }) =>
      [...`${means} ${matters} ${fix}`.matchAll(/\(#([\w-]+)\)|\bkvup explain ([A-Za-z][\w-]+)/gu)].map(
        ([, link, typed]) => [id, link ?? typed ?? ''] as const,
      ),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(([, name]) => !ids.has(name) && name !== 'NAME')).toEqual([])
  })
})

function explained(...words: string[]) {
  const { store, clock } = example('wrong-tag')
  return runText(['explain', ...words], { cluster: storeCluster(store), clock })
}

describe('a line of a log', () => {
  test.each([
    ['level=error msg="failed to detect kvm"', 'log-detect-kvm'],
    ['update failed: etcdserver: request is too large', 'log-request-too-large'],
    ['Exec format error', 'log-exec-format'],
  ])('%s', async (line, id) => {
    const { out } = await explained(line, '-o', 'name')
    expect(out).toBe(`message/${id}\n`)
  })

  test('a name that nothing has ends in what is near and in the list', async () => {
    const { code, err } = await explained('virt-hander')
    expect(code).toBe(2)
    expect(err).toMatch(/kvup explain virt-handler .*\n.*kvup explain +(?:# )?lists every name/u)
  })
})

describe('plain English', () => {
  test.each(explanations.map((one) => [one.id, one] as const))(
    '%s: no sentence over 30 words, and no semicolon twice',
    (_, { level, means, matters, fix }) => {
      const sentences = [level, means, matters, fix].flatMap((part) => prose(part).split(/(?<=[.:?!])\s/u))
      expect(sentences.filter((sentence) => sentence.split(' ').length > 30)).toEqual([])
      expect(sentences.filter((sentence) => sentence.split(';').length > 2)).toEqual([])
    },
  )

  test('no page says what was said before: held, borrowed, lent, given back, settled, a way that leads nowhere', () => {
    const former =
      /\b(?:borrow\w*|loans?|lent|lend\w*|g[ai]ven? back|gives? back|settled?|settles|leads nowhere|hops?|speaks? against|at work)\b/iu
    expect(
      explanations
        .filter(({ means, matters, fix }) => former.test(`${means} ${matters} ${fix}`))
        .map(({ id }) => id),
    ).toEqual([])
  })

  test('a meaning is one sentence, and short enough for a line', () => {
    const meanings = explanations.map(({ means }) => meaningOf(means))
    expect(meanings.filter((meaning) => meaning.length < 8 || meaning.length > 160)).toEqual([])
    expect(meanings.filter((meaning) => /[`\]]|\. [A-Z]/u.test(meaning))).toEqual([])
  })
})

describe('the page', () => {
  test('has three parts in every section', () => {
    expect(() => parsed('# Findings\n\n## a\n\nInfo.\n\n**What it means.** x\n')).toThrow(
      /a has What it means/u,
    )
  })

  test('leads to pages that are there', () => {
    expect(existsSync('docs/exit-codes.md')).toBe(true)
    for (const id of ofKind('command')) expect(existsSync(`docs/commands/${id}.md`)).toBe(true)
    expect(JSON.parse(parsed(readFileSync('docs/checks.md', 'utf8')))).toEqual(explanations)
  })
})
