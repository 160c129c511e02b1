import { onOneLine, sanitise } from './terminal.ts'
import { onSingleLine, shorten } from '../kube/text.ts'

/** Columns that East Asian and emoji characters take two of; combining marks and joiners take none. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** One column for each: ASCII, Latin letters, and the dots, dashes, arrows, bars and ticks of our own typography. */
const narrow = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f✔✖▸]*$/
const markOnly = /^(?:\p{Mark}|\u200d)+$/u

let segmenter: Intl.Segmenter | undefined

/** Made for the first text that needs it: that takes a third of what Node takes to start. */
function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return segmenter.segment(text)
}

/** How many terminal columns a text without escape sequences takes. */
export function displayWidth(text: string): number {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment)
  return width
}

function graphemeWidth(grapheme: string): number {
  if (markOnly.test(grapheme)) return 0
  return wide.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1
}

/** The text cut to `width` columns, the last of them an ellipsis where something was cut. */
export function cut(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return ''
  if (displayWidth(text) <= width) return text
  const room = width - displayWidth(ellipsis)
  if (room <= 0) return ellipsis.slice(0, width)
  let kept = ''
  let used = 0
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment)
    if (used > room) break
    kept += segment
  }
  return kept + ellipsis
}

/** The text in pieces of at most `width` columns, for a word that is wider than the terminal and must be shown whole. */
export function pieces(text: string, width: number): string[] {
  if (displayWidth(text) <= width || width < 2) return [text]
  const parts = ['']
  let used = 0
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment)
    if (used > width) {
      parts.push('')
      used = graphemeWidth(segment)
    }
    parts[parts.length - 1] += segment
  }
  return parts
}

/** Padded with blanks to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/* oxlint-disable-next-line no-control-regex */
const colour = /\u001b\[[0-9;]*m/g

/** As `displayWidth`, for a painted line. */
export function paintedWidth(line: string): number {
  return displayWidth(line.replace(colour, ''))
}

const label = /^\S+(?: \S+)* {2,}(?=\S)/
/** The arrow is the first thing after blanks and colours. */
const arrow = /^ *(?:→|->|Next:) /
const command = /^ *(?:→|->|Next:|Then:|Or:|Details:|Back:) (?:kvup|kubectl|oc|virtctl|helm|etcdctl) /
/** `kvup history     shows it`: what a command does stands behind some blanks. */
const remark = / {3,}(?=\S)/

/**
 * The line as it fits a terminal: broken between words, what goes on stands below the text behind its label or arrow. A command
 * behind an arrow goes on after a backslash, so that it can be pasted. A word that is too long is left to the terminal.
 */
export function wrap(text: string, columns: number): string[] {
  const line = onOneLine(text)
  if (!Number.isFinite(columns) || paintedWidth(line) <= columns) return [line]
  return command.test(sanitise(line)) ? wrapCommand(line, columns) : wrapText(line, columns)
}

/** Unpainted text broken between words, and inside of a word that is too long: no line is wider than `columns`. */
export function fill(text: string, columns: number): string[] {
  const words = text.split(/(?<=\S)(?= )/)
  return filled(words, { columns, indent: '', end: '' }).flatMap((line) => pieces(line, columns))
}

function wrapText(line: string, columns: number): string[] {
  return filled(line.split(/(?<=\S)(?= )/), { columns, indent: ' '.repeat(indentOf(line, columns)), end: '' })
}

function wrapCommand(line: string, columns: number): string[] {
  const before = /^ */.exec(line)?.[0].length ?? 0
  const indent = ' '.repeat(Math.min(before + 4, Math.floor(columns / 2)))
  const from = before + 1
  const split = line.slice(from).search(remark)
  const typed = split < 0 ? line : line.slice(0, from + split)
  const what = split < 0 ? [] : wrap(indent + line.slice(typed.length).trimStart(), columns)
  return [...filled(shellWords(typed), { columns: columns - 2, indent, end: ' \\' }), ...what]
}

/** Broken at blanks outside of quotes: inside of them a line end would be part of the word. */
const shellWords = (text: string): readonly string[] =>
  text.match(/ *(?:'[^']*'?|"[^"]*"?|[^ '"])+/gu) ?? [text]

interface Shape {
  columns: number
  indent: string
  /** Of every line but the last. */
  end: string
}

function filled(words: readonly string[], { columns, indent, end }: Shape): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of words) {
    const begun = sanitise(current).trim()
    const isFull = begun !== '' && !isMark(begun) && paintedWidth(current + word) > columns
    if (isFull) lines.push(current + end)
    current = isFull ? indent + word.trimStart() : current + word
  }
  return [...lines, current]
}

/** An arrow or another mark stays with the word behind it. */
const isMark = (text: string): boolean => /^(?:→|->|Next:|✔|✖|[!?·+x-])$/u.test(text)

function indentOf(line: string, columns: number): number {
  const bare = sanitise(line)
  const before = /^ */.exec(bare)?.[0].length ?? 0
  const head = label.exec(line)?.[0].length
  if (head !== undefined && head <= columns / 2) return head
  const beside = arrow.exec(bare)?.[0].length ?? before + 2
  return Math.min(beside, Math.floor(columns / 2))
}

/** A sentence with a text of the cluster in it: on one line, and of one that goes on for kilobytes the beginning and the end. Documents have all of it. */
export function brief(text: string): string {
  return shorten(onOneLine(text))
}

/** A sentence up to its first full stop, colon or semicolon outside of brackets: what follows are details. */
export function firstClause(text: string): string {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(/[()]|(?<!^not checked)[:;](?= )|\.(?= [A-Z\d])/gu)) {
    if (found === '(') depth++
    else if (found === ')') depth--
    else if (depth <= 0) return brief(text.slice(0, index))
  }
  return brief(text)
}

/** `1 VM`, `3 VMs`, `no VMs`. */
export function count(n: number, noun: string): string {
  return `${n === 0 ? 'no' : n} ${noun}${n === 1 ? '' : 's'}`
}

/** Somebody's text stays text, on one line. */
export function markdownText(words: string): string {
  return onSingleLine(words).replaceAll(/[\\`*_[\]<>|#]/gu, String.raw`\$&`)
}

/** A block of code that nothing inside of it can end. */
export function fenced(lines: readonly string[], language = ''): string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1))
  return [`${fence}${language}`, ...lines.map(onSingleLine), fence]
}

/** Code within a line, whatever backticks are in it. */
export function inlineCode(words: string): string {
  const text = onSingleLine(words)
  const run = longestRun(text)
  const [tick, gap] = ['`'.repeat(run + 1), run > 0 ? ' ' : '']
  return `${tick}${gap}${text}${gap}${tick}`
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length))
}

/** A section of a Markdown page; nothing where there are no lines. */
export function headed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
}
