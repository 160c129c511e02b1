import { Chalk } from 'chalk'
import { onSingleLine } from '../kube/text.ts'
import type { Paint } from './printer.ts'

/** What output needs of a stream: a terminal, a pipe, or a string in a test. */
export interface Stream {
  write(text: string): void
  readonly isTTY?: boolean
  columns?(): number | undefined
  rows?(): number | undefined
  /** Calls back after each change of the terminal's size; returns what ends that. */
  onResize?(changed: () => void): () => void
}

/** What of the environment output obeys: NO_COLOR, FORCE_COLOR, TERM, CI, LANG … */
export type Environment = Readonly<Record<string, string | undefined>>

/** True where the cursor may be moved: a terminal that is not dumb and no CI log. */
export function isLive(stream: Stream, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb' && !isSet(env['CI'])
}

/** Set to anything but an empty string, `0` or `false`. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

export type ColourWish = 'auto' | 'always' | 'never'

/** Whether this stream is coloured: `--color`, then KVUP_NO_COLOR and NO_COLOR, FORCE_COLOR, and then only a terminal that is not dumb. */
export function isColoured(stream: Pick<Stream, 'isTTY'>, wish: ColourWish, env: Environment): boolean {
  if (wish !== 'auto') return wish === 'always'
  if ((env['NO_COLOR'] ?? '') !== '' || isSet(env['KVUP_NO_COLOR'])) return false
  if (env['FORCE_COLOR'] !== undefined) return isSet(env['FORCE_COLOR'])
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Whether marks and bars may leave ASCII: the first of LC_ALL, LC_CTYPE, LANG that is set decides, as in POSIX. */
export function isUnicode(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (value) => value !== undefined && value !== '',
  )
  if (locale !== undefined) return /utf-?8/i.test(locale)
  return isSet(env['WT_SESSION'])
}

/** Stands before what kvup made to be typed. `sanitise` takes it out of every text of somebody else, and `printedLine` out of every line at last. */
export const ownMark = '\u2060'

/** A line to type behind its word: `Next: kvup status`. */
export const toType = (lead: string, line: string): string => `${ownMark}${lead} ${line}`

/** Reads as what leads to a line to type: an arrow of any kind, or the word of one. */
export const readsAsLead = new RegExp(
  String.raw`^(?:[\u2190-\u21ff\u2794-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b11]|[-=~]+>|(?:next|then|or|details|back|look):(?!\S))`,
  'iu',
)

/* oxlint-disable-next-line no-control-regex */
const indentation = /^(?:\s|\u001b\[[0-9;]*m)*/u

/** What stands in a terminal or file: nothing but text and colours. A line that kvup did not make to be typed, and that begins as one, is somebody's text and gets a bar. */
export function printedLine(line: string): string {
  const indent = indentation.exec(line)?.[0] ?? ''
  const rest = line.slice(indent.length)
  return onlyColours(readsAsLead.test(rest) ? `${indent}| ${rest}` : line)
}

const unicodeMarks: Paint['mark'] = {
  done: '✔',
  failed: '✖',
  running: '▸',
  warning: '!',
  next: `${ownMark}→`,
  to: '→',
  dot: '·',
}
const asciiMarks: Paint['mark'] = {
  done: '+',
  failed: 'x',
  running: '>',
  warning: '!',
  next: `${ownMark}->`,
  to: '->',
  dot: '-',
}

/** The words' colours and the marks for one stream. */
export function paintFor(style: { colour: boolean; unicode: boolean }): Paint {
  const chalk = new Chalk({ level: style.colour ? 1 : 0 })
  const [full, empty] = style.unicode ? ['█', '░'] : ['#', '.']
  return {
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    warn: (text) => chalk.yellow(text),
    dim: (text) => chalk.dim(text),
    strong: (text) => chalk.bold(text),
    mark: style.unicode ? unicodeMarks : asciiMarks,
    bar: (done, total, cells) => {
      const filled = total <= 0 ? 0 : Math.min(cells, Math.floor((Math.max(0, done) / total) * cells))
      return full.repeat(filled) + empty.repeat(Math.max(0, cells - filled))
    },
  }
}

const asciiFor: Readonly<Record<string, string>> = {
  '→': '->', '←': '<-', '·': '-', '…': '...', '✔': '+', '✖': 'x', '▸': '>', '–': '-', '—': '-', '≥': '>=', '≤': '<=', '×': 'x', '“': '"', '”': '"', '’': "'",
} // oxfmt-ignore

/** The text in the typography of this paint: as it is, or in ASCII. */
export function inLocale(text: string, paint: Paint): string {
  return paint.mark.next === unicodeMarks.next ? text : asciiOnly(text)
}

/** Our own typography in ASCII, for a locale that is not UTF-8; other characters are left alone. */
function asciiOnly(text: string): string {
  return text.replace(/[→←·…✔✖▸–—≥≤×“”’]/g, (found) => asciiFor[found] ?? found)
}

/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** CSI, OSC/DCS/SOS/PM/APC with their text, and two-byte escapes, in their 7-bit and 8-bit (C1) forms. */
const escapeSequence = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]*[0-~]',
  ].join('|'),
  'g',
)
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** Characters that reorder or hide text: bidi marks and overrides, line separators, tag characters. */
const invisible =
  /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu
const suspicious = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u206f\ufeff\ufff9-\ufffb\udb40]/

/** Text of somebody else (cluster, file, server) without anything a terminal would act on. Newlines and tabs stay. */
export function sanitise(text: string): string {
  if (!suspicious.test(text)) return text
  return text.replaceAll('\r\n', '\n').replace(escapeSequence, '').replace(control, '').replace(invisible, '')
}

/** As `sanitise`, on one line. */
export function sanitiseLine(text: string): string {
  return onOneLine(sanitise(text)).trimEnd()
}

/** Somebody's text where a line is all there is room for: what goes on below, or further on after a tab, would look like a line or a column of ours. */
export function onOneLine(text: string): string {
  if (!/[\n\t]/.test(text)) return text
  return onSingleLine(text).replaceAll('\t', ' ')
}

/**
 * Text of others in the log of a GitHub job: a line that begins with `::`, or has `##[` anywhere, would be a command to the runner, which reads both streams.
 */
export function withoutRunnerCommands(text: string): string {
  return text.replaceAll(/^(\s*)::/gmu, '$1: :').replaceAll('##[', '## [')
}

/** The same document with every string and key in it sanitised; what needs no change is not copied twice. */
export function sanitiseDeep<T>(value: T): T {
  return clean(value) as T
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return sanitise(value)
  if (Array.isArray(value)) return value.map(clean)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitise(key), clean(inner)]))
}

/** A painted line: colour sequences stay, every other escape and control character goes. */
export function onlyColours(line: string): string {
  if (!line.includes('\u001b')) return sanitise(line)
  return line
    .split(/(\u001b\[[0-9;]*m)/)
    .map((part, index) => (index % 2 === 1 ? part : sanitise(part)))
    .join('')
}

const needsEscape =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

/** JSON and double-quoted YAML: what `JSON.stringify` leaves raw but a terminal may act on becomes `\uXXXX`. */
export function escapeUnsafe(json: string): string {
  return json.replace(needsEscape, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** True where a string holds something that must not reach a terminal raw; newlines and tabs are harmless. */
export function isUnsafe(text: string): boolean {
  return /[\u0000-\u0008\u000b-\u001f]/.test(text) || text.search(needsEscape) >= 0
}
