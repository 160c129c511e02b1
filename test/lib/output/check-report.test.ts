import { describe, expect, test } from 'vitest'
import type { Check, Finding } from '../../../src/lib/checks/check-definition.ts'
import type { AcceptedRisk } from '../../../src/lib/releases/hop-findings.ts'
import { reportOf, runChecks } from '../../../src/lib/checks/check-run.ts'
import {
  type CheckDocument,
  checkMarkdown,
  checkView,
  junit,
  wholeCheckView,
} from '../../../src/lib/output/views/check-report.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { evidence, question, unread } from '../checks/evidence.ts'
import { type Element, parseXml } from './parse-xml.ts'

const finding = (id: string, level: Finding['level'], summary: string): Finding => ({
  id,
  level,
  summary,
  remedy: ['kubectl get nodes'],
  objects: ['node/a'],
})

const check = (id: string, more: Partial<Check>): Check => ({
  id,
  group: 'path',
  title: `${id} is good`,
  unchecked: `${id} was not checked`,
  needs: [],
  blocks: true,
  assess: () => [],
  ...more,
})

/** One of each fate. */
const checks = [
  check('good', {}),
  check('later', { needsTarget: true }),
  check('bad', { assess: () => [finding('bad', 'blocker', 'it is <bad> & "worse"\nfor two lines')] }),
  check('odd', { group: 'nodes', assess: () => [finding('odd-one', 'warning', 'it is odd')] }),
  check('said', { group: 'nodes', assess: () => [finding('said', 'info', 'by the way')] }),
  check('unseen', { group: 'workloads', needs: ['nodes'] }),
  check('unseen-too', { group: 'workloads', needs: ['nodes'], blocks: false, runbook: 'LowKVMNodesCount' }),
]

function documentOf(accepted: readonly AcceptedRisk[] = [], strict = false): CheckDocument {
  const results = runChecks(checks, question({ snapshot: evidence({ nodes: unread }) }))
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'CheckReport',
    takenAt: '2026-11-21T07:31:29.259Z',
    kubevirt: { name: 'kubevirt', namespace: 'kubevirt', version: 'v1.8.4' },
    releasesAsOf: '2026-08-22',
    kvup: '0.1.0',
    strict,
    accepted,
    ...reportOf(results, accepted, strict),
    next: ['kubectl get nodes'],
  }
}

const accepted = [{ id: 'bad', reason: 'lab' }, { id: 'unseen' }]

describe('what stops', () => {
  test.each([
    ['a blocker and a check that could not be made', [], false, 'blocked'],
    ['one of them', [{ id: 'bad' }], false, 'blocked'],
    ['none, when both were accepted', accepted, false, 'passed'],
    ['a warning, with --strict', accepted, true, 'blocked'],
    ['nothing', [...accepted, { id: 'odd-one' }, { id: 'unseen-too' }], true, 'passed'],
  ] as const)('%s', (_, risks, strict, outcome) => {
    expect(documentOf(risks, strict).outcome).toBe(outcome)
  })

  test('counts findings by level, checks by what became of them', () => {
    expect(documentOf().counts).toEqual({
      blockers: 1,
      warnings: 1,
      infos: 1,
      notChecked: 2,
      accepted: 0,
      passed: 1,
      skipped: 1,
    })
    expect(documentOf(accepted).counts).toMatchObject({ blockers: 0, accepted: 2 })
  })
})

const paint = paintFor({ colour: false, unicode: true })
const textOf = (document: CheckDocument, size: { columns?: number; wide?: boolean } = {}) =>
  checkView.text(document, paint, { columns: Infinity, wide: false, ...size }).map(printedLine)

test('no title that is true of a pass heads what did not pass', () => {
  for (const text of [textOf(documentOf()), wholeText(documentOf())])
    for (const id of ['bad', 'odd', 'said']) expect(text.join('\n')).not.toContain(`${id} is good`)
})

const wholeText = (document: CheckDocument) =>
  wholeCheckView.text(document, paint, { columns: Infinity, wide: false }).map(printedLine)

test('what was accepted stands under its own heading with its reason, without what would help, and the counts add up', () => {
  const text = textOf(documentOf(accepted))
  expect(text[0]).toContain('READY: 2 not checked, 1 warning, 2 accepted, 1 info')
  const at = text.indexOf('ACCEPTED')
  expect(text.slice(at, at + 5)).toEqual([
    'ACCEPTED',
    ' · lab: it is <bad> & "worse" for two lines (bad)',
    '   node/a',
    ' · unseen was not checked: nodes is forbidden (unseen)',
    'INFO',
  ])
  expect(text.at(-2)).toBe('READY')
})

test.each([
  ['--all', wholeText],
  ['-o wide', (document: CheckDocument) => textOf(document, { wide: true })],
] as const)(
  '%s lists each check that passed, what was not made with the reason, and what helps against an info',
  (_, shown) => {
    const text = shown(documentOf())
    expect(text).toContain(' ✔ good is good (good)')
    expect(text).toContain(' · not made (needs --to): later is good (later)')
    const said = text.indexOf(' · by the way (said)')
    expect(text.slice(said, said + 3)).toEqual([
      ' · by the way (said)',
      '   node/a',
      '   → kubectl get nodes',
    ])
    expect(textOf(documentOf()).join('\n')).not.toMatch(/later is good|good is good/u)
  },
)

test('-o wide names every object', () => {
  const items = [{ ...documentOf().items[3]!, findings: [manyObjects] }, ...documentOf().items]
  expect(textOf({ ...documentOf(), items })).toContain('   node/b, node/c, node/d and 1 more')
  expect(textOf({ ...documentOf(), items }, { wide: true })).toContain('   node/b, node/c, node/d, node/e')
})

const manyObjects = {
  ...finding('many', 'warning', 'node a and others'),
  objects: 'abcde'.split('').map((n) => `node/${n}`),
}

test('more than a screen: what helps against blockers alone, and all the rest in a line each', () => {
  const warnings = 'cdefgh'.split('').map((id) => finding(id, 'warning', `${id} is odd: at length`))
  const items = [...documentOf().items, { ...documentOf().items[3]!, findings: warnings }]
  const text = textOf({ ...documentOf(), items }, { columns: 80 })
  expect(text.length).toBeLessThanOrEqual(24)
  expect(text).toContain('   → kubectl get nodes')
  expect(text).toContain(` ! h is odd${' '.repeat(68)}h`)
  expect(text).toContain('INFO · said (kvup explain NAME, or --all)')
  expect(textOf({ ...documentOf(), items }).join('\n')).toContain('h is odd: at length')
})

test('many infos: that there is no way back is told, the others by their names', () => {
  const infos = ['one', 'two', 'cannot-be-undone'].map((id) =>
    finding(id, 'info', `${id} is said: at length`),
  )
  const items = [{ ...documentOf().items[4]!, findings: infos }]
  const text = textOf({ ...documentOf(), items })
  expect(text.slice(text.indexOf('INFO'), text.indexOf('INFO') + 3)).toEqual([
    'INFO',
    ' · cannot-be-undone is said (cannot-be-undone)',
    ' · also one, two (kvup explain NAME, or --all)',
  ])
})

test('many checks that lack the same: one line with all their names, what helps once', () => {
  const unseen = documentOf().items.find(({ id }) => id === 'unseen')!
  const [missing] = unseen.findings
  const items = 'abcde'
    .split('')
    .map((id) => Object.assign({}, unseen, { id, findings: [Object.assign({}, missing, { id })] }))
  const text = textOf({ ...documentOf(), items })
  expect(text.filter((line) => line.startsWith(' ?'))).toEqual([
    ' ? 5 checks were not made: nodes is forbidden (a, b, c, d, e)',
  ])
  expect(text.filter((line) => line.includes('kvup rbac'))).toHaveLength(1)
})

test.each([
  [80, ' ! it is odd                                                             odd-one'],
  [40, '   odd-one'],
])('on %i columns the name is %j', (columns, line) => {
  expect(textOf(documentOf(), { columns })).toContain(line)
})

test('as names: what was found', () => {
  expect(checkView.names(documentOf())).toEqual([
    'check/bad',
    'check/odd-one',
    'check/said',
    'check/unseen',
    'check/unseen-too',
  ])
})

const suites = (document: CheckDocument) => parseXml(junit(document))
const cases = (root: Element) => root.children.flatMap(({ children }) => children)

describe('JUnit', () => {
  test('a suite for each group, a case for each check, and counts that are theirs', () => {
    const root = suites(documentOf())
    expect([root.name, root.children.map(({ name, attributes }) => `${name} ${attributes['name']}`)]).toEqual(
      ['testsuites', ['testsuite path', 'testsuite nodes', 'testsuite workloads']],
    )
    for (const suite of [root, ...root.children]) {
      const inside = suite === root ? cases(root) : suite.children
      const having = (name: string) =>
        inside.filter(({ children }) => children.some((c) => c.name === name)).length
      expect(suite.attributes).toMatchObject({
        tests: String(inside.length),
        failures: String(having('failure')),
        errors: '0',
        // The schema has no sum of them for the root.
        ...(suite !== root && { skipped: String(having('skipped')) }),
      })
    }
    expect(cases(root).every(({ attributes }) => attributes['name'] && attributes['classname'])).toBe(true)
  })

  test.each([
    ['good', undefined, false],
    ['later', 'skipped', false],
    ['bad', 'failure', false],
    ['odd', 'system-out', false],
    ['odd', 'failure', true],
    ['said', 'system-out', true],
    ['unseen', 'skipped', false],
  ])('%s has %s', (id, child, strict) => {
    const found = cases(suites(documentOf([], strict))).find(({ attributes }) =>
      attributes['name']?.startsWith(`${id}:`),
    )
    expect(found?.children.map(({ name }) => name)).toEqual(child === undefined ? [] : [child])
  })

  test('somebody else’s text cannot break out of it', () => {
    const found = cases(suites(documentOf())).find(({ attributes }) => attributes['name']?.startsWith('bad:'))
    expect(found?.children[0]?.attributes['message']).toContain('it is <bad> & "worse"')
  })

  test('what was accepted passes', () => {
    const root = suites(documentOf(accepted))
    expect(root.attributes['failures']).toBe('0')
  })
})

test('as Markdown: what was found first, each with its command; text stays text', () => {
  const text = checkMarkdown(documentOf(accepted))
  expect(text).toContain('# kvup check: KubeVirt v1.8.4: passed')
  expect(text).toContain(
    String.raw`- **blocker** ` +
      '`bad` (accepted: lab): ' +
      String.raw`it is \<bad\> & "worse" for two lines`,
  )
  expect(text).toContain('  ```\n  kubectl get nodes\n  ```')
  expect(text).toContain('- `good`: good is good')
})

test('the formats tell of the same findings', () => {
  const document = documentOf()
  const ids = document.items.flatMap(({ findings }) => findings.map(({ id }) => id))
  for (const id of ids) expect(checkMarkdown(document)).toContain(`\`${id}\``)
  for (const summary of document.items.flatMap(({ findings }) =>
    findings.map((one) => one.summary.split(':')[0] ?? ''),
  ))
    expect(junit(document)).toContain(
      summary
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;'),
    )
})
