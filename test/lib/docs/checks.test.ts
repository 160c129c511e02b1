import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allChecks } from '../../../src/lib/checks/check-run.ts'
import { doubtIds } from '../../../src/lib/kubevirt/rollout-status.ts'
import { explanations } from '../../../src/lib/checks/explanations.ts'

const page = readFileSync('docs/checks.md', 'utf8')
const chapter = (name: string): string => page.split(/^# /mu).find((text) => text.startsWith(name)) ?? ''
const idsIn = (name: string): readonly string[] =>
  [...chapter(name).matchAll(/^## (\S+)$/gmu)].map(([, id = '']) => id)
const headings = idsIn('Findings')
const sources = globSync('src/**/*.ts')
  .filter((file) => !file.includes('/simulator/') && !file.includes('/output/'))
  .map((file) => ({ file, code: readFileSync(file, 'utf8') }))

/** A finding in the code: an id, and a level right after it or right before it; or the check that has it. */
const literals = sources.flatMap(({ code }) =>
  [
    ...code.matchAll(
      /(?:\bid: '(?=[a-z-]+',\s*level\b)|\b(?:warning|blocker)\(\{\s*id: '|\b[a-z]+Check\(')([a-z-]+)/gu,
    ),
  ].map(([, id = '']) => id),
)
const withoutPlainId = /\bid(: `[^`]*`)?,\n\s*level\b|\b(?:warning|blocker)\(\{\s*id(: `[^`]*`)?,/u

/** Findings whose id is no plain text, by file, and what they can be; checks declare theirs. */
const computed: Record<string, readonly string[]> = {
  'src/lib/eus/plan/findings/operator-findings.ts': ['kubevirt-deleting', 'hyperconverged-deleting'],
  'src/lib/upgrade/upgrade-report.ts': doubtIds,
  'src/lib/upgrade/upgrade-findings.ts': ['managed-by-helm', 'managed-by-gitops'],
  'src/lib/upgrade/rollback.ts': ['downgrade', 'way-back'],
  'src/lib/vms/strategy/settings-owner.ts': ['managed-by-helm', 'managed-by-gitops'],
}

/** A warning that is left of a doubt has its id. */
const doubtsIn = 'src/lib/kubevirt/rollout-status.ts'

/** What a step ends with in the middle of a run, and goes on with once it is accepted by name. */
const asked: Record<string, string> = {
  'override-changed': 'src/lib/eus/settings/setting-steps.ts',
  'no-room': 'src/lib/eus/steps/pool-steps.ts',
  'pool-appeared': 'src/lib/eus/settings/setting-steps.ts',
}

/** Checks, and the findings that they declare. */
const checked = allChecks.flatMap(({ id, findings: more = [] }) => [id, ...(more === 'any' ? [] : more)])
const refused = new Set(idsIn('Refusals'))

test('there are findings to document', () => {
  expect(literals.length).toBeGreaterThan(15)
})

test('every finding has a heading, and every heading a finding', () => {
  const made = [...literals, ...Object.values(computed).flat(), ...checked, ...Object.keys(asked)]
  expect(headings.toSorted()).toEqual([...new Set(made)].filter((id) => !refused.has(id)).toSorted())
})

test('manner 29: every check has a name of its own, and kvup explain knows all that it may find', () => {
  expect(new Set(allChecks.map(({ id }) => id)).size).toBe(allChecks.length)
  const known = new Set(explanations.map(({ id }) => id))
  expect(checked.filter((id) => !known.has(id))).toEqual([])
})

test('an id that is no plain text is listed here, with what it can be', () => {
  const found = sources
    .filter(({ file, code }) => !file.includes('/checks/') && withoutPlainId.test(code))
    .map(({ file }) => file)
  expect(found.toSorted()).toEqual(Object.keys(computed).toSorted())
  for (const [file, ids] of Object.entries(computed))
    for (const id of ids)
      expect(readFileSync(file === 'src/lib/upgrade/upgrade-report.ts' ? doubtsIn : file, 'utf8')).toContain(
        id.startsWith('managed-by-') ? 'managed-by-' : `'${id}'`,
      )
})

test('what a step asks about is a reason that it ends with', () => {
  for (const [id, file] of Object.entries(asked))
    expect(readFileSync(file, 'utf8')).toContain(`reason: '${id}'`)
})

test('every finding says whether it stops the run, and more than its name', () => {
  const found = explanations.filter(({ kind }) => kind === 'finding')
  expect(found.filter(({ level }) => !/blocker|warning|info/iu.test(level)).map(({ id }) => id)).toEqual([])
  expect(found.filter(({ means, fix }) => means.length < 20 || fix.length < 10)).toEqual([])
})

test('every refusal on the page is one that the code makes', () => {
  const all = sources.map(({ code }) => code).join('\n')
  const made = idsIn('Refusals')
  expect(made.length).toBeGreaterThan(8)
  expect(made.filter((reason) => !all.includes(`'${reason}'`))).toEqual([])
})
