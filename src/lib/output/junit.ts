import type { ReportedCheck, ReportedFinding } from '../checks/report.ts'
import type { CheckDocument } from './check-document.ts'

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
function escaped(text: string): string {
  return text.toWellFormed().replaceAll(/[&<>"]/gu, (found) => entities[found] ?? found)
}
