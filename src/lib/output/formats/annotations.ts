import type { ReportedFinding } from '../../checks/check-run.ts'
import type { Document } from '../printer.ts'
import type { CheckDocument } from '../views/check-report.ts'
import type { StatusDocument } from '../views/status.ts'
import type { UpgradeReport } from '../../upgrade/upgrade-report.ts'
import type { PlanDocument } from '../../upgrade/plan/plan-document.ts'
import type { WorkloadsUpdateDocument } from '../../vms/waves/wave-run.ts'
import type { OutdatedDocument } from '../../vms/outdated-vms.ts'
import type { Told } from './reports.ts'
import { plainHelpLine } from '../text.ts'
import { type Verdict, verdictOf } from './verdicts.ts'

type Level = 'error' | 'warning' | 'notice'

/** One line that GitHub's runner shows beside the job: an error, a warning or a notice. */
interface Annotation {
  level: Level
  title: string
  /** Lines; the first one is what is seen at a glance. */
  lines: readonly string[]
}

/** The runner reads these back: `%` first, so that nothing is escaped twice. */
const dataEscapes = [
  ['%', '%25'],
  ['\r', '%0D'],
  ['\n', '%0A'],
] as const
const propertyEscapes = [...dataEscapes, [':', '%3A'], [',', '%2C']] as const

function escapedBy(escapes: readonly (readonly [string, string])[], text: string): string {
  return escapes.reduce((escaped, [from, to]) => escaped.replaceAll(from, to), text)
}

/** `::error title=kvup check%3A node-ready::node worker-2 is NotReady%0A…` */
export function annotationLine({ level, title, lines }: Annotation): string {
  return `::${level} title=${escapedBy(propertyEscapes, title)}::${escapedBy(dataEscapes, lines.join('\n'))}`
}

const worstFirst: readonly Level[] = ['error', 'warning', 'notice']

/** What was found, the worst first, for GitHub shows only the first ten of each level; then the verdict. A failure stands for both. */
export function annotationReport({ command, document, error }: Told): string {
  const found = document ? foundIn(command, document) : []
  const sorted = worstFirst.flatMap((level) => found.filter((one) => one.level === level))
  const end = error ? [failure(command, error)] : verdictLine(command, document)
  return [...sorted, ...end].map((one) => `${annotationLine(one)}\n`).join('')
}

const withRemedy = (sentences: readonly string[], remedy: readonly string[] = []): readonly string[] => [
  ...sentences,
  ...remedy.map(plainHelpLine),
]

function failure(
  command: string,
  { reason, message, notes = [], remedy }: NonNullable<Told['error']>,
): Annotation {
  return { level: 'error', title: `${command}: ${reason}`, lines: withRemedy([message, ...notes], remedy) }
}

const levelOf: Readonly<Record<Verdict['is'], Level>> = { good: 'notice', warning: 'warning', bad: 'error' }

function verdictLine(command: string, document: Document | undefined): readonly Annotation[] {
  const verdict = document && verdictOf(document)
  if (document === undefined || verdict === undefined) return []
  return [
    {
      level: levelOf[verdict.is],
      title: command,
      lines: withRemedy(
        ['dryRun' in document ? `dry run, nothing was changed: ${verdict.text}` : verdict.text],
        nextOf(document, verdict),
      ),
    },
  ]
}

/** What to type: the document's own next lines, and what helps against the cause that the verdict names. */
function nextOf(document: Document, { text }: Verdict): readonly string[] {
  const { next = [], why = [] } = document as {
    next?: string | readonly string[]
    why?: StatusDocument['why']
  }
  const named = why.find(({ sentence }) => text.endsWith(sentence))
  return [...[next].flat().map(unattended), ...(named?.commands ?? [])]
}

/** A job of CI has nobody to ask. */
const unattended = (line: string): string =>
  line.startsWith('kvup upgrade ') && !/ --yes\b/u.test(line)
    ? line.replace(/^.*?(?= {3,}|$)/u, (command) => `${command} --yes`)
    : line

type Find = (command: string, document: Document) => readonly Annotation[]
const finding = <T extends Document>(find: (command: string, document: T) => readonly Annotation[]) =>
  find as Find

const finds: Readonly<Record<string, Find>> = {
  CheckReport: finding(checkFindings),
  Status: finding(statusCauses),
  UpgradeReport: finding(upgradeFindings),
  UpgradePlan: finding(planFindings),
  OutdatedWorkloads: finding(outdatedVms),
  WorkloadsUpdate: finding(failedVms),
}

const foundIn: Find = (command, document) => finds[document.kind]?.(command, document) ?? []

/** What was accepted by name is no news. */
function checkFindings(command: string, { items, strict }: CheckDocument): readonly Annotation[] {
  return items.flatMap((item) =>
    item.findings
      .filter(({ accepted }) => !accepted)
      .map((one) => ({
        level: levelOfFinding(one, strict),
        title: `${command}: ${one.id}`,
        lines: withRemedy([one.summary], one.remedy),
      })),
  )
}

function levelOfFinding({ level }: ReportedFinding, strict: boolean): Level {
  if (level === 'blocker' || level === 'not-checked') return 'error'
  if (level === 'warning') return strict ? 'error' : 'warning'
  return 'notice'
}

/** But for the cause that the verdict names. */
function statusCauses(command: string, document: StatusDocument): readonly Annotation[] {
  const { verdict = 'unknown', why = [] } = document
  const level = verdict === 'Stalled' || verdict === 'Degraded' ? 'error' : 'warning'
  const said = verdictOf(document)?.text ?? ''
  return why
    .filter(({ sentence }) => !said.endsWith(sentence))
    .map(({ sentence, commands }) => ({
      level,
      title: `${command}: ${verdict}`,
      lines: withRemedy([sentence], commands),
    }))
}

/** A run that ended early has none. */
function upgradeFindings(
  command: string,
  { findings = [] }: Document & Partial<Pick<UpgradeReport, 'findings'>>,
): readonly Annotation[] {
  return findings.map(({ id, summary, remedy }) => ({
    level: 'warning',
    title: `${command}: ${id}`,
    lines: withRemedy([summary], remedy),
  }))
}

/** Of a dry run; what it is refused for is its error. */
function planFindings(command: string, { findings, accepted }: PlanDocument): readonly Annotation[] {
  const isTaken = (id: string) => accepted.some((risk) => risk.id === id)
  return findings
    .filter(({ id, level }) => !isTaken(id) && (level === 'warning' || level === 'info'))
    .map(({ id, level, summary, remedy }) => ({
      level: level === 'warning' ? 'warning' : 'notice',
      title: `${command}: ${id}`,
      lines: withRemedy([summary], remedy),
    }))
}

/** GitHub shows no more of a step. */
const shownAtMost = 10

function failedVms(command: string, { items }: WorkloadsUpdateDocument): readonly Annotation[] {
  return items
    .filter(({ outcome }) => outcome === 'failed')
    .slice(0, shownAtMost)
    .map(({ namespace, name, why, remedy }) => ({
      level: 'error',
      title: `${command}: ${namespace}/${name}`,
      lines: withRemedy([why ?? 'it failed'], remedy),
    }))
}

/** Not a line for each VM: there may be thousands. */
function outdatedVms(command: string, { totals: { old }, remarks }: OutdatedDocument): readonly Annotation[] {
  return [
    ...remarks,
    ...(old > 0 ? [`${old} of them run a virt-launcher that is more than a year old`] : []),
  ].map((line) => ({ level: 'warning', title: command, lines: [line] }))
}
