import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { blocked } from '../../../src/lib/kube/errors.ts'
import { dangerIn, throwAtDanger } from '../../../src/lib/kube/line-guard.ts'
import { withoutDanger } from '../../../src/lib/output/command-line.ts'
import { toType } from '../../../src/lib/output/terminal.ts'
import { wrap } from '../../../src/lib/output/text.ts'
import fixture from './line-guard.json' with { type: 'json' }

const { deletes, kinds } = fixture
const never = [
  ...kinds.flatMap((kind) => [
    `delete ${kind} x`,
    `delete ${kind}/x`,
    `-n y delete ${kind} x --wait=false`,
    `delete ${kind} --all`,
  ]),
  ...fixture.never,
]
const programs = ['kubectl', 'oc', 'kubectl --context prod -n x', 'virtctl -n x']

describe('a printed line', () => {
  test.each(deletes)('may delete %s', (what) => {
    for (const program of programs)
      expect(dangerIn(`${program} delete ${what}     says what`)).toBeUndefined()
  })

  test.each(never)('may not: %s', (what) => {
    for (const line of programs.map((program) => `${program} ${what}`))
      for (const printed of [line, `kubectl get x -o yaml | ${line}     says what`, `true && ${line}`]) {
        expect(dangerIn(printed)).toBeDefined()
        expect(() => blocked('x', 'x', { remedy: printed })).toThrow('a line to type')
        expect(() => wrap(`  ${toType('→', printed)}`, 40)).toThrow('a line to type')
        for (const field of ['remedy', 'next', 'commands', 'instead'])
          expect(() => withoutDanger({ items: [{ [field]: [printed] }, { [field]: printed }] })).toThrow(
            'a line to type',
          )
      }
  })

  test('is left out of errors, documents and screens in the product, and nothing else is', () => {
    const [bad, good] = ['kubectl delete kubevirt kubevirt', 'kubectl get kubevirt']
    throwAtDanger(false)
    try {
      expect(blocked('x', 'x', { remedy: [bad, good] }).remedy).toEqual([good])
      expect(wrap(toType('→', bad), 80)).toEqual([])
      expect(withoutDanger({ next: bad, is: bad, items: [{ remedy: [good, bad] }] })).toEqual({
        is: bad,
        items: [{ remedy: [good] }],
      })
    } finally {
      throwAtDanger()
    }
  })

  test('that only reads, waits or applies may say the same words', () => {
    for (const line of fixture.allowed) expect(dangerIn(line)).toBeUndefined()
  })
})

const filesIn = (folder: string, ends: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    ends.test(name) ? [`${folder}/${name}`] : [],
  )

/** Each text of a source as it is printed: a value is a name, a joined string one line. */
const textsOf = (source: string) =>
  source
    .replaceAll(/'\s*\+\s*'/gu, '')
    // The selectors of what kvup makes.
    .replaceAll(/\$\{(?:probeLabel|jobSelector\(place\))\}/gu, 'kvup.io/x')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/gu, 'virt-x')
    .split('\n')

test('no text of kvup, no explanation and no page has a line that may not be printed', () => {
  const sources = filesIn('src', /(?<!\.test)\.(?:ts|json)$/u).filter(
    (name) => !/simulator|line-guard|releases\.json/u.test(name),
  )
  const pages = [...filesIn('docs/guide', /\.md$/u), 'docs/checks.md', 'README.md', 'docs/exit-codes.md']
  const found = [...sources, ...pages].flatMap((name) => {
    const text = readFileSync(name, 'utf8')
    const lines = name.endsWith('.json')
      ? text
          .replaceAll(String.raw`\n`, '\n')
          .replaceAll(String.raw`\"`, '"')
          .split('\n')
      : textsOf(text)
    return lines.flatMap((line) =>
      dangerIn(line.replaceAll(/["'](?=(?:kubectl|oc|virtctl) )/gu, ' ')) === undefined
        ? []
        : [`${name}: ${line.trim()}`],
    )
  })
  expect(found).toEqual([])
  expect(sources.length).toBeGreaterThan(300)
})
