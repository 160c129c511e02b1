import type { DryRunChange } from '../../engine/dry-run-change.ts'
import { diffText, stepDiff } from '../views/dry-run.ts'
import { type Fields, fieldsOf, laterEntries, listOf, textOf, timeOf, type ReportSource } from './fields.ts'
import { titleOf } from './lanes.ts'

/** What a step changed or would change. */
export interface ReportChange {
  title: string
  /** In words: what is done, or when. */
  says: string
  /** A diff: each begins with `+`, `-` or a blank. Empty where the fields were not compared. */
  lines: readonly string[]
  /** It was refused, or nobody knows whether it was done. */
  isOpen?: true
}

/** Every change that the document or the events tell of: of a plan what would change, of a run what it changed. */
export function changesOf({ document, events }: ReportSource): readonly ReportChange[] {
  if (document.kind === 'History') return ofJournal(listOf(document['items']))
  const applied = events.filter(({ event }) => event === 'step-applied')
  if (applied.length > 0)
    return applied.map((event) => ({
      title: titleOf(fieldsOf(event['step'])),
      says: `${timeText(event)}${withoutFields(textOf(event['change']) ?? '')}`,
      lines: [],
    }))
  return [...listOf(document['steps']), ...listOf(document['dryRunSteps'])].flatMap((step) => ofStep(step))
}

/** Of a dry run with its fields; of a run that is over what it noted. */
function ofStep(step: Fields): readonly ReportChange[] {
  const lines = diffOf(step['changes'])
  const refused = textOf(fieldsOf(step['refused'])['message'])
  const says =
    refused === undefined ? (textOf(step['change']) ?? textOf(step['note']) ?? '') : `refused: ${refused}`
  const isChange = step['changed'] === true || step['state'] === 'would-change' || lines.length > 0
  if (refused !== undefined) return [{ title: titleOf(step), says, lines, isOpen: true }]
  return isChange ? [{ title: titleOf(step), says: withoutFields(says), lines }] : []
}

/** Nobody's document makes it fail: what does not read as a change is left out. */
function diffOf(changes: unknown): readonly string[] {
  const whole = listOf(changes).filter(
    (change) => textOf(fieldsOf(change['object'])['name']) !== undefined && Array.isArray(change['fields']),
  )
  const readable = whole.map((change) =>
    Object.assign({}, change, {
      fields: listOf(change['fields']).filter(({ path }) => typeof path === 'string'),
    }),
  ) as unknown as readonly DryRunChange[]
  return stepDiff(readable, Infinity).lines.map((line) => diffText(line, Infinity))
}

/** `20:24:05 UTC: ` */
function timeText({ at }: Fields): string {
  const time = timeOf(at)
  return time === undefined ? '' : `${new Date(time).toISOString().slice(11, 19)} UTC: `
}

function ofJournal(items: readonly Fields[]): readonly ReportChange[] {
  const later = laterEntries(items, 'applied', 'failed')
  return items.flatMap((item): readonly ReportChange[] => {
    const [text, title] = [textOf(item['text']) ?? '', textOf(item['step']) ?? '']
    const at = timeText(item)
    if (item['what'] === 'applied') return [{ title, says: `${at}${withoutFields(text)}`, lines: [] }]
    if (item['what'] !== 'intends') return []
    const became = later.get(item)
    if (became === undefined)
      return [{ title, says: `${at}${text} (not known whether it was done)`, lines: [], isOpen: true }]
    if (became['what'] !== 'failed') return []
    const why = textOf(became['text']) ?? ''
    const says = why.startsWith(text) ? why : `${text}: ${why}`
    return [{ title, says: `${timeText(became)}not done: ${says}`, lines: [], isOpen: true }]
  })
}

/** Of a manifest neither journal nor events have the fields. */
const withoutFields = (says: string): string =>
  /\bsha256 [\da-f]{1,64}….{0,1000}\bobjects? changes?\b/u.test(says)
    ? `${says}. Its fields are not recorded: kvup plan -o wide shows them before an upgrade`
    : says
