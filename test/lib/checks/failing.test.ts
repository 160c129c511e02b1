import { beforeAll, describe, expect, test } from 'vitest'
import { allChecks, type ReportedCheck } from '../../../src/lib/checks/check-run.ts'
import { type CheckDocument, wholeCheckView } from '../../../src/lib/output/views/check-report.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { expected } from '../kubevirt/example.ts'
import { runText } from '../run-text.ts'
import {
  checkExample,
  clusterOf,
  exampleFolders,
  hasExample,
  isProbing,
  itemOf,
  type Judged,
  judgedExample,
  layered,
  nextMinor,
  wordsOf,
} from './check-example.ts'

const ids = allChecks.map(({ id }) => id)
const paint = paintFor({ colour: false, unicode: false })

/** What every hop to v1.9 has to be told, however well the cluster is. */
const ofTheHop = ['known-bad', 'rbac-diff', 'cannot-be-undone']

/** Made only where a flag asks for it, and skipped elsewhere. */
const ofAFlag = ['images-pullable']

/** Made only where there is a platform, HyperConverged or OLM. */
const ofLayers = new Set<string>(allChecks.flatMap(({ layers, id }) => (layers ? [id] : [])))

/** Skipped where no target is named. */
const ofATarget: readonly string[] = allChecks.flatMap(({ needsTarget, id }) => (needsTarget ? [id] : []))

let passing: Judged
let withLayers: Judged
beforeAll(async () => {
  passing = await judgedExample({})
  withLayers = await judgedExample(layered)
})

test('on a cluster with all layers every check is made, and nothing is found', () => {
  const made = withLayers.document.items.filter(({ is }) => is === 'passed').map(({ id }) => id)
  expect(made).toEqual(ids.filter((id) => !ofATarget.includes(id)))
  expect(withLayers.document.items.length).toBe(ids.length)
})

test('on a cluster without other layers nothing is said of them', () => {
  const told = passing.document.items.map(({ id }) => id)
  expect(told).toEqual(ids.filter((id) => !ofLayers.has(id)))
})

test('every check has a failing cluster, and every cluster a check', () => {
  expect(exampleFolders().toSorted()).toEqual(ids.toSorted())
  expect(ids.filter((id) => !hasExample(`${id}/failing.json`))).toEqual([])
})

test('the page of the cluster that everything passes on', async () => {
  const { code, out } = await runText(wordsOf({}), clusterOf({}))
  const text = `$ kvup ${nextMinor}\nexit ${code}\n${out}`
  expect(text).toBe(expected('checks', 'passing.txt', text))
  const json = `${JSON.stringify(passing.document, null, 2)}\n`
  expect(json).toBe(expected('checks', 'passing.json', json))
})

describe('passes', () => {
  test.each(ids)('%s', async (id) => {
    const own = hasExample(`${id}/passing.json`)
    expect(own).toBe([...ofTheHop, ...ofAFlag].includes(id))
    const clean = ofLayers.has(id) ? withLayers : passing
    const { document } = own ? await judgedExample(checkExample(`${id}/passing.json`)) : clean
    expect(itemOf(document, id)).toMatchObject({ is: 'passed', findings: [] })
  })
})

describe('fails', () => {
  test.each(ids)('%s', async (id) => {
    const example = checkExample(`${id}/failing.json`)
    const { code, document } = await judgedExample(example)
    const also = Object.keys(example.also ?? {})
    const isOfAHop = wordsOf(example).includes('--to')
    const said = isOfAHop ? ofTheHop.filter((one) => example.passes?.[one] === undefined) : []

    expect(found(document.items)).toEqual(ids.filter((one) => [...said, ...also, id].includes(one)))
    const left = document.items.filter(({ is }) => is === 'skipped')
    expect(left.map((item) => item.id)).toEqual(isProbing(example) ? [] : isOfAHop ? ofAFlag : ofATarget)
    const unseen = document.items.filter(({ is }) => is === 'not-checked').map((item) => item.id)
    expect(unseen.toSorted()).toEqual(Object.keys(example.unseen ?? {}).toSorted())

    const items = document.items.filter((item) => item.id === id || also.includes(item.id))
    const command = `kvup ${wordsOf(example).join(' ')}`
    const text = [`$ ${command}`, `exit ${code}`, ...linesOf(document, items), ''].join('\n')
    expect(text).toBe(expected(`checks/${id}`, 'expected.txt', text))
    const { outcome, counts } = document
    expect(counts).toMatchObject(countsIn(document.items))
    const json = `${JSON.stringify({ command, exit: code, outcome, items }, null, 2)}\n`
    expect(json).toBe(expected(`checks/${id}`, 'expected.json', json))
  })
})

/** What these checks bring to the page, but for the tally of all: each new check would change it in every folder. */
function linesOf(document: CheckDocument, items: readonly ReportedCheck[]): string[] {
  const page = (all: readonly ReportedCheck[]) =>
    wholeCheckView
      .text({ ...document, items: all }, paint, { columns: Number.POSITIVE_INFINITY, wide: false })
      .map(printedLine)
  const passed = document.items.map((item): ReportedCheck =>
    items.includes(item) ? { ...item, is: 'passed', findings: [] } : item,
  )
  const without = new Set(page(passed))
  return page(document.items).filter((line) => !without.has(line) && !isTally(line))
}

const isTally = (line: string): boolean => /^(?:\d+|no) checks? passed/u.test(line)

/** The tally, counted from the items themselves. */
function countsIn(items: readonly ReportedCheck[]) {
  const findings = items.filter(({ is }) => is === 'found').flatMap((item) => item.findings)
  const level = (wanted: string) => findings.filter((one) => !one.accepted && one.level === wanted).length
  const became = (wanted: ReportedCheck['is']) => items.filter(({ is }) => is === wanted).length
  return {
    blockers: level('blocker'),
    warnings: level('warning'),
    infos: level('info'),
    passed: became('passed'),
    skipped: became('skipped'),
    notChecked: became('not-checked'),
  }
}

const found = (items: readonly ReportedCheck[]) =>
  items.filter(({ is }) => is === 'found').map(({ id }) => id)
