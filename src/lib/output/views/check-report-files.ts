import type { ReportedCheck, ReportedFinding } from '../../checks/check-run.ts'
import type { CheckDocument } from './check-report.ts'
import { jsonText } from '../formats/output-format.ts'
import { fenced, markdownText } from '../markdown-text.ts'

/** JUnit XML: a suite for each group, a case for each check. A blocker fails; what could not be made is skipped. */
export function junit(document: CheckDocument): string {
  const { items, strict, takenAt } = document
  const groups = [...new Set(items.map(({ group }) => group))]
  const suites = groups.map((group) =>
    suite(
      group,
      items.filter((item) => item.group === group),
      { strict, takenAt },
    ),
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    element('testsuites', { name: 'kvup check', ...totals(items, strict) }, suites),
    '',
  ].join('\n')
}

interface Of {
  strict: boolean
  takenAt: string
}

function suite(group: string, items: readonly ReportedCheck[], { strict, takenAt }: Of): string {
  const cases = items.map((item) => testCase(item, strict))
  const timestamp = takenAt.replace(/\.\d+|Z$/gu, '')
  return element('testsuite', { name: group, ...tally(items, strict), timestamp }, cases)
}

function tally(items: readonly ReportedCheck[], strict: boolean): Record<string, number> {
  const became = items.map((item) => outcomeOf(item, strict))
  const many = (is: string) => became.filter((one) => one === is).length
  return { tests: items.length, failures: many('failure'), errors: 0, skipped: many('skipped') }
}

/** The schema knows no sum of the skipped ones. */
function totals(items: readonly ReportedCheck[], strict: boolean): Record<string, number> {
  const { skipped: _, ...rest } = tally(items, strict)
  return rest
}

type Outcome = 'failure' | 'skipped' | 'passed'

function outcomeOf({ is, findings }: ReportedCheck, strict: boolean): Outcome {
  if (is === 'skipped' || is === 'not-checked') return 'skipped'
  return findings.some((finding) => fails(finding, strict)) ? 'failure' : 'passed'
}

function fails({ level, accepted }: ReportedFinding, strict: boolean): boolean {
  return !accepted && (level === 'blocker' || (strict && level === 'warning'))
}

function testCase(item: ReportedCheck, strict: boolean): string {
  const { id, group, title, findings, without } = item
  const outcome = outcomeOf(item, strict)
  const message = findings.map(({ summary }) => summary).join('; ')
  const body = {
    failure: () => [
      element(
        'failure',
        {
          message: findings
            .filter((one) => fails(one, strict))
            .map(({ summary }) => summary)
            .join('; '),
          type: 'blocker',
        },
        [escaped(findings.map(textOf).join('\n'))],
      ),
    ],
    skipped: () => [element('skipped', {}, [escaped(message || `needs ${without ?? '--to'}`)])],
    passed: () =>
      findings.length > 0 ? [element('system-out', {}, [escaped(findings.map(textOf).join('\n'))])] : [],
  }[outcome]()
  return element('testcase', { name: `${id}: ${title}`, classname: `kvup.${group}`, time: 0 }, body)
}

const textOf = ({ id, level, summary, remedy, accepted }: ReportedFinding) =>
  [`${accepted ? 'accepted ' : ''}${level} ${id}: ${summary}`, ...remedy.map((line) => `-> ${line}`)].join(
    '\n',
  )

function element(
  name: string,
  attributes: Record<string, string | number>,
  children: readonly string[] = [],
): string {
  const words = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  const open = `<${name}${words.join('')}`
  return children.length === 0
    ? `${open}/>`
    : `${open}>${children.join(children.some((child) => child.startsWith('<')) ? '\n' : '')}</${name}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** What XML 1.0 cannot hold was taken out with the other control characters; lone surrogates are left. */
function escaped(raw: string): string {
  return raw.toWellFormed().replaceAll(/[&<>"]/gu, (found) => entities[found] ?? found)
}

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const levels: Readonly<Record<ReportedFinding['level'], string>> = {
  blocker: 'error',
  warning: 'warning',
  info: 'note',
  'not-checked': 'none',
}

/** SARIF 2.1.0: a rule for each check, a result for each finding; what was accepted is suppressed. */
export function sarif(document: CheckDocument): string {
  const { items, kvup, takenAt } = document
  const run = {
    tool: { driver: { name: 'kvup', semanticVersion: kvup, rules: items.map(rule) } },
    invocations: [{ executionSuccessful: true, endTimeUtc: takenAt }],
    results: items.flatMap((item, ruleIndex) =>
      item.findings.map((finding) => result(finding, item, ruleIndex)),
    ),
  }
  return jsonText({ $schema: schema, version: '2.1.0', runs: [run] })
}

function rule({ id, title, group, runbook }: ReportedCheck): object {
  const more = runbook && { helpUri: `https://kubevirt.io/monitoring/runbooks/${runbook}` }
  return {
    id,
    shortDescription: { text: title },
    help: { text: `kvup explain ${id}` },
    ...more,
    properties: { group },
  }
}

/** What could not be looked at is `open`, and an `open` result has no level (3.27.10). */
function result(finding: ReportedFinding, { id, is }: ReportedCheck, ruleIndex: number): object {
  const { level, summary, remedy, accepted, reason, objects = [] } = finding
  const open = is === 'not-checked'
  return {
    ruleId: id,
    ruleIndex,
    kind: open ? 'open' : 'fail',
    level: open ? 'none' : levels[level],
    message: { text: [summary, ...remedy.map((line) => `-> ${line}`)].join('\n') },
    ...(objects.length > 0 && { locations: [{ logicalLocations: objects.map(location) }] }),
    ...(accepted && {
      suppressions: [{ kind: 'external', status: 'accepted', ...(reason && { justification: reason }) }],
    }),
    properties: { finding: finding.id, level },
  }
}

const location = (name: string) => ({ fullyQualifiedName: name, kind: 'resource' })

/** For a merge request: what was found first, what passed below it. */
export function checkMarkdown(document: CheckDocument): string {
  const { items, counts, outcome, kubevirt, to } = document
  const found = items.filter(({ findings }) => findings.length > 0)
  const passed = items.filter(({ is }) => is === 'passed')
  return [
    `# kvup check: KubeVirt ${markdownText(kubevirt.version ?? 'unknown')}${to === undefined ? '' : ` to ${markdownText(to)}`}: ${outcome}`,
    '',
    `${counts.blockers} blockers, ${counts.warnings} warnings, ${counts.notChecked} not checked, ${counts.accepted} accepted, ${counts.passed} passed`,
    '',
    ...found.flatMap(section),
    ...(passed.length > 0
      ? ['## Passed', '', ...passed.map(({ id, title }) => `- \`${id}\`: ${markdownText(title)}`), '']
      : []),
  ].join('\n')
}

function section({ id, group, findings }: ReportedCheck): string[] {
  return [`## ${group}: \`${id}\``, '', ...findings.flatMap(entry), '']
}

function entry({ id, level, summary, remedy, accepted, reason }: ReportedFinding): string[] {
  const taken = accepted ? ` (accepted${reason ? `: ${markdownText(reason)}` : ''})` : ''
  return [
    `- **${level}** \`${id}\`${taken}: ${markdownText(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}
