import type { FieldChange, Leaf } from '../../cluster/leaves.ts'
import type { RehearsedChange } from '../../procedure/rehearsed-change.ts'
import { count } from '../count.ts'
import { cut, displayWidth } from '../display-width.ts'

/** A blank sign is the object that the lines below are of. */
interface DiffLine {
  sign: '-' | '+' | ' '
  /** Of a field. */
  path?: string
  /** Of the longer of its two values: both lines show as much of the path. */
  width?: number
  text: string
}

interface StepDiff {
  lines: readonly DiffLine[]
  /** `and 12 more fields, 3 more objects`; absent where all is shown. */
  more?: string
}

/**
 * At most so many lines with a sign, objects by what they say to a person: roles and CustomResourceDefinitions last, for their rights and
 * versions are told elsewhere.
 */
export function stepDiff(changes: readonly RehearsedChange[], most: number): StepDiff {
  const lines: DiffLine[] = []
  const hidden = { fields: 0, objects: 0 }
  let room = most
  for (const change of changes.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const whole = linesOf(change)
    const shown = whole.slice(0, fitting(whole, room))
    if (shown.length === 0) hidden.objects += 1
    else
      lines.push(
        ...(change.is === 'changed' ? [{ sign: ' ' as const, text: nameOf(change) }] : []),
        ...shown.flat(),
      )
    hidden.fields += shown.length === 0 || change.is !== 'changed' ? 0 : whole.length - shown.length
    room -= shown.flat().length
  }
  const more = inWords(hidden)
  return more === '' ? { lines } : { lines, more: `and ${more}` }
}

const rankOf = ({ object: { kind } }: RehearsedChange): number =>
  kind.endsWith('Role') || kind === 'CustomResourceDefinition' ? 1 : 0

/** A field is one or two lines; what is not changed but new, gone or called is a line by itself. */
function linesOf(change: RehearsedChange): DiffLine[][] {
  if (change.is === 'changed') return change.fields.map(fieldLines)
  const name = nameOf(change)
  if (change.is === 'deleted') return [[{ sign: '-', text: name }]]
  if (change.is === 'called') return [[{ sign: '+', text: `${change.call ?? 'call'} of ${name}` }]]
  return [[{ sign: '+', text: `${name} (new, ${count(change.fields.length, 'field')})` }]]
}

function fieldLines({ path, from, to }: FieldChange): DiffLine[] {
  const [was, is] = [from, to].map((leaf) => (leaf === undefined ? '' : leafText(leaf))) as [string, string]
  const field = { path, width: Math.max(displayWidth(was), displayWidth(is)) }
  return [
    ...(from === undefined ? [] : [{ sign: '-' as const, ...field, text: was }]),
    ...(to === undefined ? [] : [{ sign: '+' as const, ...field, text: is }]),
  ]
}

function fitting(whole: readonly DiffLine[][], room: number): number {
  let used = 0
  const end = whole.findIndex((lines) => (used += lines.length) > room)
  return end < 0 ? whole.length : end
}

function nameOf({ object: { kind, namespace, name } }: RehearsedChange): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

function inWords({ fields, objects }: { fields: number; objects: number }): string {
  return [
    ...(fields > 0 ? [`${fields} more field${fields === 1 ? '' : 's'}`] : []),
    ...(objects > 0 ? [`${objects} more object${objects === 1 ? '' : 's'}`] : []),
  ].join(', ')
}

/** On one line, as YAML would have it: `[LiveMigrate, Evict]`. */
function leafText(leaf: Leaf): string {
  if (Array.isArray(leaf)) return `[${leaf.map((value) => leafText(value as Leaf)).join(', ')}]`
  if (typeof leaf !== 'string') return JSON.stringify(leaf)
  return leaf === '' || leaf.trim() !== leaf || leaf.includes('\n') ? JSON.stringify(leaf) : leaf
}

/**
 * The line as it fits `columns`: its value is worth more than the beginning of its path, and the end of the path more than the middle of a
 * long value.
 */
export function diffText({ sign, path, text, width = 0 }: DiffLine, columns: number): string {
  const room = columns - displayWidth(`${sign} `)
  if (path === undefined) return `${sign} ${cut(text, room)}`
  const forBoth = room - ': '.length
  const shown = endOf(path, Math.max(Math.floor(forBoth / 2), forBoth - width))
  return `${sign} ${shown}: ${withoutMiddle(text, forBoth - displayWidth(shown))}`
}

/** What tells two images apart is at the end, whose they are at the beginning. */
function withoutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  const head = cut(text, Math.ceil(width / 3))
  let end = text
  while (displayWidth(end) > width - displayWidth(head))
    end = end.slice((end.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)
  return head + end
}

/** Whole steps of the path, from its end; the last one is cut where even it is too long. */
function endOf(path: string, width: number): string {
  if (displayWidth(path) <= width) return path
  const steps = path.match(/\[[^\]]*\]|\.?[^.[\]]+/gu) ?? [path]
  const fits = (from: number) => displayWidth(`…${tail(steps, from)}`) <= width
  const from = steps.findIndex((_, index) => index > 0 && fits(index))
  return from < 0 ? cut(tail(steps, steps.length - 1), width) : `…${tail(steps, from)}`
}

function tail(steps: readonly string[], from: number): string {
  return steps.slice(from).join('').replace(/^\./u, '')
}
