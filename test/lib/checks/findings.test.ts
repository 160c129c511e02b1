import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { allChecks, type ReportedCheck } from '../../../src/lib/checks/check-run.ts'
import { explanations } from '../../../src/lib/checks/explanations.ts'
import { rightsOf } from '../../../src/lib/upgrade/role-rights.ts'
import { builtInKinds } from '../../../src/simulator/api/kinds/built-in-kinds.ts'
import {
  type CheckExample,
  expectedItems,
  judgedExample,
  otherFindings,
  roleOfJane,
} from './check-example.ts'
import never from './never-ends.json' with { type: 'json' }
import fixture from './findings.json' with { type: 'json' }

/** What the role of kvup-operator-manifest allows, but for what can be done without. */
const onlyWhatItTakes = [
  ...rightsOf('kvup-operator-manifest')
    .filter(({ optional, onlyChecks }) => onlyChecks || !optional)
    .map(({ group, resources, verbs }) => ({
      apiGroups: [group],
      resources: [...resources],
      verbs: [...verbs],
    })),
  { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
]
const rows = [
  ...otherFindings(),
  [
    'rights',
    'only what can be done without',
    ['warning rights-optional'],
    { user: 'jane', changes: roleOfJane(onlyWhatItTakes) },
  ] as const,
]

const judged = new Map<CheckExample, readonly ReportedCheck[]>()
beforeAll(async () => {
  for (const [, , , example] of rows) judged.set(example, (await judgedExample(example)).document.items)
}, 60_000)

const failing = allChecks.flatMap(({ id }) => expectedItems(id))
const items = () => [...judged.values()].flat().concat(failing)
const findings = () => items().flatMap((item) => (item.is === 'found' ? item.findings : []))

test.each(rows)('%s: %s', (check, _, said, example) => {
  const item = judged.get(example)?.find(({ id }) => id === check)
  expect(item?.findings.map(({ level, id }) => `${level} ${id}`)).toEqual(said)
})

test('every finding that a check can make is in an example', () => {
  const made = new Set(findings().map(({ id }) => id))
  const declared = allChecks.flatMap((check) => (check.findings === 'any' ? [] : (check.findings ?? [])))
  expect(declared.filter((id) => !made.has(id))).toEqual([])
})

test('whoever says that it blocks can block, and nobody else does', () => {
  const blocking = items().filter((item) => item.findings.some(({ level }) => level === 'blocker'))
  const ids = new Set(blocking.map(({ id }) => id))
  expect(allChecks.filter(({ id }) => ids.has(id))).toEqual(allChecks.filter(({ blocks }) => blocks))
})

test('the levels that docs/checks.md names are those that there are', () => {
  const sections = (readFileSync('docs/checks.md', 'utf8').split('\n# Refusals')[0] ?? '')
    .split(/^## /mu)
    .slice(1)
  const wrong = sections.flatMap((text) => {
    const [id = '', line = ''] = text.split('\n\n', 2)
    const named = levels.filter((level) => new RegExp(`\\b${level}\\b`, 'iu').test(line))
    const observed = levels.filter(
      (level) => byOthers[id] === level || findings().some((one) => one.id === id && one.level === level),
    )
    return observed.length > 0 && observed.join() !== named.join()
      ? [`${id}: ${observed.join()}, not ${named.join()}`]
      : []
  })
  expect(wrong).toEqual([])
})

const levels = ['blocker', 'warning', 'info'] as const

/** What another command than check makes of the same finding: in front of a window it blocks, and where OLM takes a hop it does not. */
const byOthers: Readonly<Record<string, string>> = fixture.byOthers

const grouped = (groups: Readonly<Record<string, readonly string[]>>) => Object.values(groups).flat()

test('each blocker makes an upgrade stand still, or is known to let it end; of the first kind none is offered to accept', () => {
  const stands = grouped(never.standsStill)
  const blockers = explanations.filter(({ kind, level }) => kind === 'finding' && /blocker/iu.test(level))
  const all = new Set(['vms-block-drains', ...blockers.map(({ id }) => id)])
  expect([...stands, ...grouped(never.ends)].toSorted()).toEqual([...all].toSorted())
  const made = new Set(findings().map(({ id }) => id))
  const told = new Set(findings().flatMap((one) => (one.standsAt !== undefined ? [one.id] : [])))
  expect([...told].toSorted()).toEqual(stands.filter((id) => made.has(id)).toSorted())
})

test('every finding says what to do, and its commands in which namespace', () => {
  expect(findings().filter(({ remedy }) => remedy.length === 0)).toEqual([])
  const commands = new Set(
    findings().flatMap(({ remedy }) => remedy.filter((one) => one.startsWith('kubectl '))),
  )
  expect(commands.size).toBeGreaterThan(40)
  const astray = [...commands].filter(
    (text) => text.split(/[\s/]+/u).some((word) => namespaced.has(word)) && !/ (?:-n|-A)\b/u.test(text),
  )
  expect(astray).toEqual([])
})

/** Every name that kubectl takes for a kind that lies in namespaces. */
const namespaced = new Set(
  builtInKinds.filter((kind) => kind.namespaced).flatMap(({ kind, plural }) => [kind.toLowerCase(), plural]),
)
