import type { JournalRun } from '../../engine/journal-runs.ts'
import type { Rehearsal } from '../../rehearsal/rehearsal.ts'
import { type Verdict, verdictOf } from '../formats/verdicts.ts'
import type { Document } from '../printer.ts'
import { count } from '../text.ts'
import { checkWords, stateWords } from '../views/fleet-words.ts'
import { runVerdict } from '../views/history.ts'
import { rehearsalSentence, unknownTarget } from '../views/rehearsal.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './fields.ts'
import { findingsOf } from './report-findings.ts'
import type { ReportSource } from './report-source.ts'

/** How a document ends where nothing failed. One of another kind has no outcome then. */
const outcomes: Readonly<Record<string, readonly string[]>> = {
  CheckReport: ['passed', 'blocked'],
  UpgradeReport: ['done', 'nothing-to-do', 'stopped-before'],
  EusReport: ['done', 'nothing-to-do', 'stopped-before', 'aborted', 'restored', 'dry-run'],
  WorkloadsUpdate: ['done', 'incomplete', 'stopped', 'nothing-to-do', 'dry-run'],
  VmRestarts: ['done', 'incomplete', 'stopped', 'nothing-to-do', 'dry-run'],
  Rehearsal: ['through', 'stalls', 'degraded', 'timed-out', 'stops', 'blocked'],
}

/** What a failure comes to, in words. */
const failures: ReadonlyMap<string, string> = new Map([
  ['blocked', 'Blocked'],
  ['stalled', 'Stalled'],
  ['timed-out', 'Timed out'],
  ['interrupted', 'Interrupted'],
  ['failed', 'Failed'],
])

/** Without this list a document says nothing of how it went. */
const lists: Readonly<Record<string, string>> = {
  CheckReport: 'items',
  UpgradePlan: 'steps',
  EusPlan: 'steps',
  WorkloadsUpdate: 'items',
  VmRestarts: 'items',
  History: 'runs',
  FleetPlan: 'clusters',
  FleetCheck: 'items',
  FleetStatus: 'items',
}

const without: Verdict = { is: 'warning', text: 'This document has no verdict.' }
const unreadable: Verdict = {
  is: 'warning',
  text: 'kvup did not write this document as it is: it has no verdict.',
}

/**
 * As the terminal has it, but for what speaks against it: whoever reads a page sees nothing else of its document, and files are edited, cut, and written by other versions. What
 * does not read as kvup writes it has no verdict, which is said.
 */
export function verdictIn(source: ReportSource): Verdict {
  const { is, text } = trusted(source)
  return { is, text: text.charAt(0).toUpperCase() + text.slice(1) }
}

function trusted(source: ReportSource): Verdict {
  const { document } = source
  const { kind } = document
  const outcome = textOf(document['outcome'])
  const message = textOf(fieldsOf(document['error'])['message'])?.split('\n', 1)[0] ?? ''
  const isWhole = Array.isArray(document['items']) || Array.isArray(document['steps'])
  if (document['status'] === 'failed' && message !== '' && !isWhole)
    return { is: 'bad', text: withOutcome(message, outcome) }
  const verdict = readVerdict(source)
  if (verdict.is === 'bad') return verdict
  if (hasFailed(document))
    return { is: 'bad', text: withOutcome(message === '' ? verdict.text : message, outcome) }
  if (!(outcomes[kind]?.includes(outcome ?? '') ?? document['outcome'] === undefined))
    return noVerdict(document['outcome'])
  const against = contradictionIn(document, verdict)
  return against === undefined ? verdict : { is: 'bad', text: `This document contradicts itself: ${against}` }
}

const noVerdict = (outcome: unknown): Verdict => ({
  is: 'warning',
  text: `This document has no verdict: its outcome${typeof outcome === 'string' ? ` ${JSON.stringify(outcome)}` : ''} is not known.`,
})

/** A value of another type than kvup writes ends in its sentence as a word of JavaScript, or makes none. */
function readVerdict(source: ReportSource): Verdict {
  try {
    const list = lists[source.document.kind]
    if (list !== undefined && !Array.isArray(source.document[list])) return unreadable
    const verdict = judged(source) ?? without
    return /\b(?:undefined|null|NaN|Infinity)\b|\[object /u.test(verdict.text) ? unreadable : verdict
  } catch {
    return unreadable
  }
}

function judged({ document, events }: ReportSource): Verdict | undefined {
  if (document.kind === 'Rehearsal') {
    const rehearsal = { product: 'KubeVirt', ...document } as unknown as Rehearsal
    const unknown = unknownTarget(rehearsal)
    const why = textOf(fieldsOf(document['why'])['message']) ?? unknown
    const text = [rehearsalSentence(rehearsal), why].filter(Boolean).join(' ')
    return { is: rehearsal.outcome !== 'through' ? 'bad' : unknown === undefined ? 'good' : 'warning', text }
  }
  const states = listOf(document['items']).flatMap(({ state }) => state ?? [])
  if (states.some((state) => !Object.hasOwn({ ...stateWords, ...checkWords }, textOf(state) ?? '')))
    return undefined
  if (document.kind === 'History') {
    const [run] = listOf(document['runs'])
    return run && runVerdict(run as unknown as JournalRun)
  }
  if (document.kind === 'Events') {
    const step = fieldsOf(events.findLast((event) => event['step'] !== undefined)?.['step'])
    const at = textOf(step['title']) ?? textOf(step['id']) ?? 'its start'
    return { is: 'warning', text: `Cut off: what the file has of this run ends at ${at}` }
  }
  return verdictOf(document as unknown as Document)
}

/** `Blocked: 2 blockers …`; a message that begins with the word has said it. */
function withOutcome(message: string, outcome = ''): string {
  const word = failures.get(outcome) ?? 'Failed'
  return message.toLowerCase().startsWith(word.toLowerCase()) ? message : `${word}: ${message}`
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

const hasFailed = ({ outcome, error, status, code, kind }: Fields): boolean =>
  kind === 'Error' ||
  status === 'failed' ||
  isThere(error) ||
  (isThere(code) && code !== 0) ||
  failures.has(textOf(outcome) ?? '')

/** What no document says that passed, is done, or goes through. */
function contradictionIn(document: Fields, { is }: Verdict): string | undefined {
  // A check that was not made is counted as that, whatever its finding weighs.
  const found =
    document['kind'] === 'CheckReport'
      ? listOf(document['items']).flatMap(({ findings }) =>
          listOf(findings).filter(({ accepted }) => accepted !== true),
        )
      : findingsOf(document).filter(({ level }) => level === 'blocker')
  const listed = found.filter(({ level }) => level === 'blocker' || level === 'not-checked').length
  const blockers = Math.max(listed, numberOf(fieldsOf(document['counts'])['blockers']) ?? 0)
  if (blockers > 0)
    return `it passed, with ${count(blockers, 'finding')} that block${blockers === 1 ? 's' : ''}`
  const parts = [...listOf(document['items']), ...listOf(document['clusters'])]
  if (String(document['kind']).startsWith('Fleet') && parts.length === 0)
    return 'it is of a fleet without clusters'
  const broken = parts.filter(isBroken).length
  const failed = Math.max(broken, numberOf(fieldsOf(document['totals'])['failed']) ?? 0)
  if (failed > 0 && is === 'good') return `all is well, and ${failed} of it failed`
  return isThere(document['why']) ? 'it goes through, and says why it does not' : undefined
}

const isBroken = ({ outcome, error, state, blockers, notChecked, plan }: Fields): boolean =>
  outcome === 'failed' ||
  isThere(error) ||
  (isThere(plan) && !isThere(fieldsOf(plan)['seal'])) ||
  (state === 'Passed' && (numberOf(blockers) ?? 0) + (numberOf(notChecked) ?? 0) > 0)
