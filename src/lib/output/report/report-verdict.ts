import type { JournalRun } from '../../engine/journal-runs.ts'
import type { Rehearsal } from '../../rehearsal/rehearsal.ts'
import { type Verdict, verdictOf } from '../formats/verdicts.ts'
import type { Document } from '../printer.ts'
import { runVerdict } from '../views/history.ts'
import { rehearsalSentence, unknownTarget } from '../views/rehearsal.ts'
import { fieldsOf, listOf, type ReportSource, textOf } from './fields.ts'

/** What a failure comes to, in words. */
const failures: ReadonlyMap<string, string> = new Map([
  ['blocked', 'Blocked'],
  ['stalled', 'Stalled'],
  ['timed-out', 'Timed out'],
  ['interrupted', 'Interrupted'],
])

/** As the terminal has it; of what failed the error says it, unless the document tells of what failed. */
export function verdictIn(document: ReportSource['document']): Verdict {
  const { is, text } = judged(document)
  return { is, text: text.charAt(0).toUpperCase() + text.slice(1) }
}

function judged(document: ReportSource['document']): Verdict {
  const outcome = textOf(document['outcome'])
  const message = textOf(fieldsOf(document['error'])['message'])?.split('\n', 1)[0] ?? ''
  const isFailed = document['status'] === 'failed'
  const isWhole = Array.isArray(document['items']) || Array.isArray(document['steps'])
  if (isFailed && !isWhole) return { is: 'bad', text: withOutcome(message, outcome) }
  const verdict = ofKind(document) ?? { is: 'warning', text: 'This document has no verdict.' }
  return verdict.is === 'bad' || !isFailed
    ? verdict
    : { is: 'bad', text: withOutcome(message === '' ? verdict.text : message, outcome) }
}

function ofKind(document: ReportSource['document']): Verdict | undefined {
  if (document.kind === 'Rehearsal') {
    const rehearsal = document as unknown as Rehearsal
    const unknown = unknownTarget(rehearsal)
    const why = textOf(fieldsOf(document['why'])['message']) ?? unknown
    const text = [rehearsalSentence(rehearsal), why].filter(Boolean).join(' ')
    return { is: rehearsal.outcome !== 'through' ? 'bad' : unknown === undefined ? 'good' : 'warning', text }
  }
  if (document.kind === 'History') {
    const [run] = listOf(document['runs'])
    return run && runVerdict(run as unknown as JournalRun)
  }
  return verdictOf(document as unknown as Document)
}

/** `Blocked: 2 blockers …`; a message that begins with the word has said it. */
function withOutcome(message: string, outcome = ''): string {
  const word = failures.get(outcome) ?? 'Failed'
  return message.toLowerCase().startsWith(word.toLowerCase()) ? message : `${word}: ${message}`
}
