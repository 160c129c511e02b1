import type { DryRunChange } from '../../engine/dry-run-change.ts'
import { diffText, stepDiff } from '../views/dry-run.ts'
import { changedField, fieldDiff, restores } from './changed-field.ts'
import { type Fields, fieldsOf, laterEntry, listOf, textOf, timeOf } from './fields.ts'
import { titleOf } from './lanes.ts'
import type { ReportSource } from './report-source.ts'

/** What a step changed or would change, as a diff. */
export interface ReportChange {
  title: string
  /** In words: what is done, or when. */
  says: string
  /** Each begins with `+`, `-` or a blank. Empty where nothing is known of it beforehand. */
  lines: readonly string[]
  /** It was refused, or nobody knows whether it was done. */
  isOpen?: true
}

/** Every change that the document or the events tell of: of a plan what would change, of a run what it changed. */
export function changesOf({ document, events }: ReportSource): readonly ReportChange[] {
  if (document.kind === 'History') return ofJournal(listOf(document['items']))
  const applied = events.filter(({ event }) => event === 'step-applied')
  if (applied.length > 0) {
    const sentences = applied.map(({ change }) => textOf(change) ?? '')
    return applied.map((event, index) => ({
      title: titleOf(fieldsOf(event['step'])),
      says: `${timeText(event)}${withoutFields(sentences[index] ?? '')}`,
      lines: withWas(sentences[index] ?? '', sentences.slice(0, index)),
    }))
  }
  const planned = [...listOf(document['steps']), ...listOf(document['dryRunSteps'])]
  return planned.flatMap((step) => ofStep(step))
}

/** Of a dry run with its fields; of a run that is over what it noted. */
function ofStep(step: Fields): readonly ReportChange[] {
  const lines = diffOf(step['changes'])
  const refused = textOf(fieldsOf(step['refused'])['message'])
  const says =
    refused === undefined ? (textOf(step['change']) ?? textOf(step['note']) ?? '') : `refused: ${refused}`
  const isChange = step['changed'] === true || step['state'] === 'would-change' || lines.length > 0
  return isChange || refused !== undefined
    ? [
        {
          title: titleOf(step),
          says: withoutFields(says),
          lines: lines.length > 0 ? lines : sentenceDiff(says),
          ...(refused !== undefined && { isOpen: true as const }),
        },
      ]
    : []
}

/** Nobody's document makes it fail: what does not read as a change is left out. */
function diffOf(changes: unknown): readonly string[] {
  const whole = listOf(changes).filter(
    (change) => textOf(fieldsOf(change['object'])['name']) !== undefined && Array.isArray(change['fields']),
  )
  const readable = whole.map(readableChange) as unknown as readonly DryRunChange[]
  return stepDiff(readable, Infinity).lines.map((line) => diffText(line, Infinity))
}

const readableChange = (change: Fields): Fields => ({
  ...change,
  fields: listOf(change['fields']).filter(({ path }) => typeof path === 'string'),
})

/** `20:24:05 UTC: ` */
function timeText({ at }: Fields): string {
  const time = timeOf(at)
  return time === undefined ? '' : `${new Date(time).toISOString().slice(11, 19)} UTC: `
}

function sentenceDiff(text: string): readonly string[] {
  const change = changedField(text)
  return change === undefined ? [] : fieldDiff(change)
}

function ofJournal(items: readonly Fields[]): readonly ReportChange[] {
  return items.flatMap((item, index): readonly ReportChange[] => {
    const [what, text, title] = [textOf(item['what']), textOf(item['text']) ?? '', textOf(item['step']) ?? '']
    if (what === 'applied')
      return [
        {
          title,
          says: `${timeText(item)}${withoutFields(text)}`,
          lines: withWas(
            text,
            items.slice(0, index).map((one) => textOf(one['text']) ?? ''),
          ),
        },
      ]
    if (what === 'failed') return ofFailure(item, items.slice(0, index))
    const isOpen = laterEntry(items, index, 'applied', 'failed') === undefined
    return what === 'intends' && isOpen
      ? [
          {
            title,
            says: `${timeText(item)}${text} (not known whether it was done)`,
            lines: sentenceDiff(text),
            isOpen: true,
          },
        ]
      : []
  })
}

/** A step that failed before it wrote anything, or after that, changed nothing then. */
function ofFailure(item: Fields, before: readonly Fields[]): readonly ReportChange[] {
  const [text, title] = [textOf(item['text']) ?? '', textOf(item['step']) ?? '']
  const last = before.findLast((one) => one['step'] === title)
  const intended = textOf(last?.['text']) ?? ''
  if (last?.['what'] !== 'intends') return []
  const says = text.startsWith(intended) ? text : `${intended}: ${text}`
  return [{ title, says: `${timeText(item)}not done: ${says}`, lines: [], isOpen: true }]
}

/** Of a manifest neither journal nor events have the fields. */
const withoutFields = (says: string): string =>
  /\bsha256 [\da-f]+….*\bobjects? changes?\b/u.test(says)
    ? `${says}. Its fields are not recorded: kvup plan -o wide shows them before an upgrade`
    : says

/** What is set back was set before: the other side of the diff is in that sentence. */
function withWas(text: string, earlier: readonly string[]): readonly string[] {
  const change = changedField(text)
  if (change === undefined) return []
  const before = earlier.map(changedField).findLast((one) => one !== undefined && restores(change, one))
  return fieldDiff(
    before === undefined
      ? change
      : { ...change, ...(before.object !== undefined && { object: before.object }), was: before.is },
  )
}
