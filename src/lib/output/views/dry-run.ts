import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import { count, cut, displayWidth, pad, wrap } from '../text.ts'
import type { Paint, Size } from '../printer.ts'
import type { FieldChange, Leaf } from '../../kube/field-changes.ts'
import type { DryRunChange } from '../../engine/dry-run-change.ts'

const indent = ' '.repeat(4)
const mostLines = 20

/** A dry run of a few steps, each with what it would change; `mode` names it as kubectl does. */
export function dryRunLines(
  { steps, mode }: { steps: readonly DryRunStep[]; mode: 'client' | 'server' },
  paint: Paint,
  size: Size,
): readonly string[] {
  const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
  const width = Math.max(0, ...steps.map(({ title }) => displayWidth(title)))
  return [
    `${mode} dry run: nothing was changed`,
    ...steps.flatMap((step) => [
      ...fitted([
        `${pad(step.title, size.columns < 60 ? 0 : width)}   ${stateText(step, steps)}`,
        ...(step.refused
          ? [`${indent}${paint.bad(paint.mark.failed)} refused: ${step.refused.message}`]
          : []),
      ]),
      ...diffLines(step, mostLines, { paint, size }),
      ...fitted(size.wide && step.canBeHeld ? [`${indent}can be held: --pause-before ${step.id}`] : []),
      ...fitted((step.overrides ?? []).map(({ path, value }) => `${indent}keeps ${path}: ${valueOf(value)}`)),
    ]),
  ]
}

/** Steps are named by their titles, as everywhere on this page. */
function stateText(step: DryRunStep, steps: readonly DryRunStep[]): string {
  const { state, change, on, dependsOn } = step
  const before = steps.find(({ id }) => id === dependsOn)?.title ?? dependsOn
  if (state === 'would-change') return `would change: ${change ?? ''}`
  if (state === 'already-so') return 'already so'
  if (state === 'depends')
    return backText(step, steps) ?? `after ${before ?? 'the step before it'} (no dry run possible)`
  return on === undefined ? 'cannot continue' : `waits for ${on}`
}

/** What the step gives back is known from the one that keeps it. */
function backText({ id }: DryRunStep, steps: readonly DryRunStep[]): string | undefined {
  for (const { title, overrides = [] } of steps) {
    const kept = overrides.find(({ restoredBy }) => restoredBy === id)
    if (kept) return `restores ${fieldOf(kept.path)}: ${valueOf(kept.value)}, which "${title}" saves`
  }
  return undefined
}

const fieldOf = (path: string): string =>
  path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')

const valueOf = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value))

/** What a step changes, `most` lines with a sign at most where `-o wide` was not asked for. */
export function diffLines(
  { changes = [] }: DryRunStep,
  most: number,
  { paint, size }: { paint: Paint; size: Size },
): readonly string[] {
  const { lines, more } = stepDiff(changes, size.wide ? Infinity : most)
  return [
    ...lines.map((line) => indent + signed(diffText(line, size.columns - indent.length), paint)),
    ...(more === undefined ? [] : [`${indent}… ${more} (-o yaml)`]),
  ]
}

/** A line of a diff in the colour of its sign; a blank one is left out. */
export function signed(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint.good(line)
  return line.startsWith('-') ? paint.bad(line) : line.trimStart()
}

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
 * At most so many lines with a sign. What is shown first is what could do harm: what pods run and may do, then rights and what is new, then the rest; last what only
 * names another version, and schemas, which are told elsewhere.
 */
export function stepDiff(changes: readonly DryRunChange[], most: number): StepDiff {
  const units = changes.flatMap((change) => unitsOf(change))
  // A release gives its operator dozens of rights: they do not fill all of the room.
  for (const unit of units.filter(({ weight }) => weight === ofRoles).slice(Math.floor(most / 2)))
    unit.weight = last
  const picked = new Set<Unit>()
  let room = most
  for (const unit of units.toSorted((a, b) => a.weight - b.weight)) {
    room -= unit.lines.length
    if (room < 0) break
    picked.add(unit)
  }
  const shownOf = (change: DryRunChange) =>
    units.filter((unit) => unit.of === change && picked.has(unit)).toSorted((a, b) => a.weight - b.weight)
  const ordered = changes
    .map((change) => ({ change, shown: shownOf(change) }))
    .toSorted((a, b) => (a.shown[0]?.weight ?? 9) - (b.shown[0]?.weight ?? 9))
  const lines = ordered.flatMap(({ change, shown }) => [
    ...(change.is === 'changed' && shown.length > 0 ? [{ sign: ' ' as const, text: nameOf(change) }] : []),
    ...shown.flatMap((unit) => unit.lines),
  ])
  const hidden = { fields: 0, objects: 0 }
  for (const { change, shown } of ordered) {
    const all = units.filter((unit) => unit.of === change).length
    if (shown.length === 0) hidden.objects += 1
    else hidden.fields += all - shown.length
  }
  const more = inWords(hidden)
  return more === '' ? { lines } : { lines, more: `and ${more}` }
}

/** What is shown whole or not at all: a field is one or two lines; what is not changed but new, gone or called is a line by itself. */
interface Unit {
  of: DryRunChange
  lines: readonly DiffLine[]
  /** 0 is shown first. */
  weight: number
}

function unitsOf(change: DryRunChange): Unit[] {
  if (change.is === 'changed')
    return change.fields.map((field) => ({
      of: change,
      lines: fieldLines(field),
      weight: weightOf(change, field),
    }))
  const name = nameOf(change)
  const line: DiffLine =
    change.is === 'deleted'
      ? { sign: '-', text: name }
      : change.is === 'called'
        ? { sign: '+', text: `${change.call ?? 'call'} of ${name}` }
        : { sign: '+', text: `${name} (new, ${count(change.fields.length, 'field')})` }
  return [{ of: change, lines: [line], weight: 1 }]
}

const ofRoles = 1
const last = 5

function weightOf({ object: { kind } }: DryRunChange, { path, from, to }: FieldChange): number {
  if (kind === 'CustomResourceDefinition')
    return path.includes('conversion') || path.startsWith('metadata') ? 1 : last
  if (isVersionOnly(from, to)) return 3
  if (path.startsWith('spec.template.spec.')) return 0
  if (/(?:^|\.)labels\b.*aggregate-to-|^(?:subjects|roleRef|aggregationRule)\b/u.test(path)) return 1
  return kind.endsWith('Role') ? ofRoles : 2
}

/** The same text but for versions and digests. */
function isVersionOnly(from: Leaf | undefined, to: Leaf | undefined): boolean {
  if (typeof from !== 'string' || typeof to !== 'string') return false
  const [was, is] = [from, to].map((text) =>
    text.replaceAll(/v?\d+\.\d+\.\d+[\w.-]*|sha256:[0-9a-f]+/gu, 'V'),
  )
  return was === is
}

function fieldLines({ path, from, to }: FieldChange): DiffLine[] {
  const [was, is] = [from, to].map((leaf) => (leaf === undefined ? '' : leafText(leaf))) as [string, string]
  const field = { path, width: Math.max(displayWidth(was), displayWidth(is)) }
  return [
    ...(from === undefined ? [] : [{ sign: '-' as const, ...field, text: was }]),
    ...(to === undefined ? [] : [{ sign: '+' as const, ...field, text: is }]),
  ]
}

function nameOf({ object: { kind, namespace, name } }: DryRunChange): string {
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
