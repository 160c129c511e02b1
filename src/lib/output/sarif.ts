import type { ReportedCheck, ReportedFinding } from '../checks/report.ts'
import { jsonText } from './json-text.ts'
import type { CheckDocument } from './check-document.ts'

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
