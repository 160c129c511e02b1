import type { ReportedCheck, ReportedFinding } from '../../checks/report.ts'
import { brief } from '../brief.ts'
import { displayWidth, paintedWidth } from '../display-width.ts'
import type { Paint, Size } from '../printer.ts'
import { onOneLine } from '../sanitise.ts'
import { wrap } from '../wrap.ts'

/** No sentence is wider, however wide the terminal is. */
const readable = 100
/** Below this many columns an id does not stand at the right any more. */
const roomForRight = 60
/** Of its objects a finding shows so many. */
const objectsShown = 3

/**
 * A check that passed by its title, which is true then; one that found something by what it found, each finding with its mark, the
 * name to accept it by, its objects and what helps.
 */
export function checkLines(item: ReportedCheck, paint: Paint, size: Size): string[] {
  if (item.is === 'passed') return [` ${paint.good(paint.mark.done)} ${item.title}`]
  if (item.is === 'skipped')
    return [` ${paint.dim(paint.mark.dot)} skipped without ${item.without ?? '--to'}: ${item.title}`]
  return item.findings.flatMap((finding) => findingLines(finding, item, { paint, size }))
}

interface Look {
  paint: Paint
  size: Size
}

function findingLines(finding: ReportedFinding, { is }: ReportedCheck, look: Look): string[] {
  const { paint, size } = look
  const { accepted, reason, summary, remedy } = finding
  const taken = accepted ? `accepted${reason ? `, ${reason}` : ''}: ` : ''
  const mark = accepted ? paint.dim(paint.mark.dot) : markOf(is === 'not-checked' ? is : finding.level, paint)
  const objects = objectsText(finding, size)
  return [
    ...named(` ${mark} ${taken}${brief(summary)}`, finding.id, look),
    ...(objects === '' ? [] : [paint.dim(`   namely ${objects}`)]),
    ...remedy.map((line) => `   ${paint.dim(paint.mark.next)} ${line}`),
  ]
}

/** The shape of a level; the legend below the report says the same in words. */
export function markOf(level: ReportedFinding['level'], paint: Paint): string {
  if (level === 'blocker') return paint.bad(paint.mark.failed)
  if (level === 'not-checked') return paint.bad('?')
  return level === 'warning' ? paint.warn(paint.mark.warning) : paint.dim(paint.mark.dot)
}

/** The name stands at the right, on a line of its own where there is no room, and in brackets where nothing is cut. */
function named(head: string, id: string, { paint, size: { columns } }: Look): string[] {
  if (!Number.isFinite(columns)) return [`${head} ${paint.dim(`(${id})`)}`]
  const room = Math.min(columns, readable)
  const lines = wrap(head, room)
  const last = lines.pop() ?? ''
  const left = room - paintedWidth(last) - displayWidth(id)
  if (columns < roomForRight) return [...lines, last, `   ${paint.dim(id)}`]
  if (left >= 2) return [...lines, `${last}${' '.repeat(left)}${paint.dim(id)}`]
  return [...lines, last, `${' '.repeat(Math.max(3, room - displayWidth(id)))}${paint.dim(id)}`]
}

/** Those that the sentence does not name; that it is about the KubeVirt resource goes without saying. */
function objectsText({ objects = [], summary }: ReportedFinding, { wide }: Size): string {
  const words = new Set(summary.split(/[\s(),;:"]+/u))
  const isSaid = (name: string) => words.has(name) || words.has(name.slice(name.indexOf('/') + 1))
  const more = objects.filter((name) => !isSaid(bare(name)) && !name.startsWith('kubevirt/'))
  const shown = wide ? more : more.slice(0, objectsShown)
  const rest = more.length - shown.length
  return onOneLine(rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', '))
}

/** Without what is said of it: `demo/web-1 (why)`, `VIRT_API_IMAGE=image`. */
const bare = (name: string): string => name.replace(/[=( ].*$/su, '')
