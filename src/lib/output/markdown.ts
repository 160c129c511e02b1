import type { ReportedCheck, ReportedFinding } from '../checks/report.ts'
import type { CheckDocument } from './check-document.ts'
import { markdownText as text, fenced } from './markdown-text.ts'

/** For a merge request: what was found first, what passed below it. */
export function checkMarkdown(document: CheckDocument): string {
  const { items, counts, outcome, kubevirt, to } = document
  const found = items.filter(({ findings }) => findings.length > 0)
  const passed = items.filter(({ is }) => is === 'passed')
  return [
    `# kvup check: KubeVirt ${text(kubevirt.version ?? 'unknown')}${to === undefined ? '' : ` to ${text(to)}`}: ${outcome}`,
    '',
    `${counts.blockers} blockers, ${counts.warnings} warnings, ${counts.notChecked} not checked, ${counts.accepted} accepted, ${counts.passed} passed`,
    '',
    ...found.flatMap(section),
    ...(passed.length > 0
      ? ['## Passed', '', ...passed.map(({ id, title }) => `- \`${id}\`: ${text(title)}`), '']
      : []),
  ].join('\n')
}

function section({ id, group, findings }: ReportedCheck): string[] {
  return [`## ${group}: \`${id}\``, '', ...findings.flatMap(entry), '']
}

function entry({ id, level, summary, remedy, accepted, reason }: ReportedFinding): string[] {
  const taken = accepted ? ` (accepted${reason ? `: ${text(reason)}` : ''})` : ''
  return [
    `- **${level}** \`${id}\`${taken}: ${text(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}
