import { mayBePrinted } from '../kube/line-guard.ts'
import { isCommand, programs } from '../kube/shell-line.ts'
import { onOneLine, ownMark, readsAsLead, sanitise } from './terminal.ts'
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
export function displayWidth(shown: string): number {
  const text = shown.replaceAll(ownMark, '')
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
/** The arrow is the first thing after blanks. */
const arrow = /^ *(?:→|->|Next:) /
const painted = String.raw`(?:\u001b\[[0-9;]*m)*`
const leadToType = new RegExp(`${painted}${ownMark}`, 'u')
/** The arrow or word before a command that kvup made. */
const leadOfCommand = new RegExp(`^${painted}${ownMark}\\S+ +${painted}(?=(?:${programs.join('|')}) )`, 'u')

/**
 * The line as it fits a terminal: broken between words, what goes on stands below the text behind its label or arrow. A command
 * that kvup made is broken so that it can be pasted. A word of a sentence that is too long is left to the terminal.
 */
export function wrap(text: string, columns: number): string[] {
  const line = withPlainBlanks(onOneLine(text))
  if (line.includes(ownMark) && !mayBePrinted(sanitise(line.slice(line.indexOf(ownMark))))) return []
  if (!Number.isFinite(columns) || paintedWidth(line) <= columns) return [line]
  const at = line.search(leadToType)
  const lead = at < 0 ? undefined : leadOfCommand.exec(line.slice(at))?.[0]
  if (lead === undefined) return wrapText(line, columns)
  const before = line.slice(0, at)
  if (/^(?:\S+(?: \S+)* {2,}| *)$/u.test(sanitise(before)))
    return wrapCommand(before + lead, line.slice(at + lead.length), columns)
  return [...wrapText(before.trimEnd(), columns), ...wrap(`  ${line.slice(at)}`, columns)]
}

/** Blanks that are none to a shell and look like one: a line is broken at them too. */
const withPlainBlanks = (text: string): string =>
  text.replaceAll(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu, ' ')

/** Unpainted text broken between words, and inside of a word that is too long: no line is wider than `columns`. */
export function fill(text: string, columns: number): string[] {
  const words = withPlainBlanks(text).split(/(?<=\S)(?= )/)
  return filled(words, { columns, indent: '' }).flatMap((line) => piecesWithoutLead(line, columns))
}

function wrapText(line: string, columns: number): string[] {
  const shape = { columns, indent: ' '.repeat(indentOf(line, columns)) }
  return filled(line.split(/(?<=\S)(?= )/), shape).flatMap((one) =>
    // The terminal would break it, before an arrow as anywhere else.
    paintedWidth(one) > columns && foreignLead.test(one) ? piecesWithoutLead(sanitise(one), columns) : [one],
  )
}

/** Somewhere in a text. */
const foreignLead = new RegExp(readsAsLead.source.replace('^', ''), 'iu')

/** As `pieces`: none but the first begins as a line to type does. */
function piecesWithoutLead(text: string, columns: number): string[] {
  const all = pieces(text, columns)
  if (!all.slice(1).some((piece) => readsAsLead.test(piece))) return all
  return pieces(text, columns - 1).map((piece) => (readsAsLead.test(piece) ? `|${piece}` : piece))
}

/**
 * A command in lines that work when all of them are pasted: broken between words behind a backslash, and inside of a word that is wider than the terminal so that the shell joins
 * its parts again. What is said of the command stands below it, each line of it a comment.
 */
function wrapCommand(lead: string, line: string, columns: number): string[] {
  const { words, comment } = typedIn(line)
  const bare = sanitise(lead)
  const before = (label.exec(bare)?.[0] ?? /^ */.exec(bare)?.[0] ?? '').length
  const indent = Math.min(before + 4, Math.floor(columns / 2))
  const lines: string[] = []
  let current = lead
  for (const [index, word] of words.entries()) {
    const width = word.reduce((sum, unit) => sum + unit.width, 0)
    const room = columns - (index < words.length - 1 ? 2 : 0)
    const isFull = index > 0 && paintedWidth(current) + 1 + width > columns - 2
    if (isFull) lines.push(`${current} \\`)
    // A word that has room further to the left is not broken.
    if (isFull) current = ' '.repeat(Math.max(0, Math.min(indent, room - width)))
    else if (index > 0) current += ' '
    const free = room - paintedWidth(current)
    const [first = '', ...rest] = width > free ? partsOf(word, free, columns) : [word.map(textOf).join('')]
    const last = rest.pop()
    if (last === undefined) current += first
    else {
      lines.push(current + first, ...rest)
      current = last
    }
  }
  return [...lines, current, ...commentLines(comment, indent, columns)]
}

/** Each line begins with `#`, which is a comment to a shell as well when it is pasted. */
function commentLines(comment: string, indent: number, columns: number): string[] {
  if (comment === '') return []
  const shape = { columns: Math.max(10, columns - indent - 2), indent: '' }
  return filled(comment.split(/(?<=\S)(?= )/), shape).map((line) => `${' '.repeat(indent)}# ${line}`)
}

/** What is never broken: a colour, an escaped character, a character. */
interface Unit {
  text: string
  width: number
  /** The quotes that are open before it. */
  quote: Quote
}

type Quote = '' | "'" | '"' | "$'"

const textOf = ({ text }: Unit): string => text

/** A line that was made for a shell, in its words, and what is said behind it: after a `#`, or after three blanks or more. */
function typedIn(line: string): { words: readonly Unit[][]; comment: string } {
  const words: Unit[][] = [[]]
  let quote: Quote = ''
  for (let at = 0; at < line.length;) {
    const rest = line.slice(at)
    const said = quote === '' ? /^ {3,}(?:# ?)?| +# ?/uy.exec(rest)?.[0] : undefined
    if (said !== undefined) return { words, comment: rest.slice(said.length) }
    const [text = rest[0] ?? ''] = unitAt(rest, quote)
    const before = quote
    quote = quoteAfter(text, quote)
    at += text.length
    if (text === ' ' && before === '') words.push([])
    else words.at(-1)?.push({ text, width: paintedWidth(text), quote: before })
  }
  return { words: words.filter((word) => word.length > 0), comment: '' }
}

/* oxlint-disable-next-line no-control-regex */
const escaped = /^(?:\u001b\[[0-9;]*m|\\u[0-9a-f]{4}|\\.)/u
/* oxlint-disable-next-line no-control-regex */
const plain = /^(?:\u001b\[[0-9;]*m|\$'|.)/u

function unitAt(rest: string, quote: Quote): readonly string[] {
  const found = (quote === "'" ? null : escaped.exec(rest)) ?? plain.exec(rest)
  return found ?? []
}

function quoteAfter(text: string, quote: Quote): Quote {
  if (quote === '') return text === "'" || text === '"' || text === "$'" ? text : ''
  return text === quote.at(-1) ? '' : quote
}

/** In less room a word is left to the terminal. */
const leastColumns = 12

/** A word in parts, each of them a line: a backslash at the end of one and no blank before the next join them. Single quotes are closed before it, and opened again behind it. */
function partsOf(word: readonly Unit[], first: number, columns: number): string[] {
  if (columns < leastColumns) return [word.map(textOf).join('')]
  const parts: string[] = []
  let current = ''
  let room = first - 2
  for (const { text, width, quote } of word) {
    const isSingle = quote === "'" || quote === "$'"
    if (current !== '' && width > room) {
      parts.push(`${current}${isSingle ? "'" : ''}\\`)
      current = isSingle ? quote : ''
      room = columns - current.length - 2
    }
    current += text
    room -= width
  }
  return [...parts, current]
}

interface Shape {
  columns: number
  indent: string
}

const isLead = (text: string): boolean => readsAsLead.test(sanitise(text).trim())

/** No line but the first begins as a line to type does: the word before goes along with what reads so, or else a bar. */
function filled(words: readonly string[], { columns, indent }: Shape): string[] {
  const lines: string[] = []
  let current: string[] = []
  for (const word of words) {
    const begun = sanitise(current.join('')).trim()
    const isFull = begun !== '' && !isMark(begun) && paintedWidth(current.join('') + word) > columns
    if (!isFull) current.push(word)
    else {
      const last = isLead(word) ? (current.slice(1).at(-1) ?? '') : undefined
      const isTaken = last !== undefined && last !== '' && !isLead(last)
      if (isTaken) current.pop()
      const along = last === undefined ? '' : isTaken ? last : ' |'
      lines.push(current.join(''))
      current = [indent + (along + word).trimStart()]
    }
  }
  return [...lines, current.join('')]
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
  for (const { 0: found, index } of text.matchAll(/[()]|[:;](?= )|\.(?= [A-Z\d])/gu)) {
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

/**
 * Somebody's text stays text, on one line: it formats nothing, begins no list, rule or fence, and draws no formula. Addresses and what has an @ become code: there is no other way in
 * which nothing makes a link of them, or notifies a person or team of that name.
 */
export function markdownText(words: string): string {
  // Four blanks would make a block of code of it.
  const text = onSingleLine(words).replace(/^\s{2,}/u, ' ')
  const parts = text.split(/([\s|<>()[\]"'`]+)/u)
  const safe = parts.map((part) => (isLink(part) ? linkAsCode(part) : escapedMarkdown(part))).join('')
  return safe
    .replace(/^(\s?)([-+=])/u, String.raw`$1\$2`)
    .replace(/^(\s?\d{1,9})([.)])(?=\s|$)/u, String.raw`$1\$2`)
}

const escapedMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_[\]<>|#~$]|&(?=#?\w+;)/gu, String.raw`\$&`)

const isLink = (word: string): boolean => /@|:\/\/|^www\./iu.test(word)

/** The end of a sentence stands behind the code. */
function linkAsCode(word: string): string {
  let end = word.length
  while (end > 1 && '.,:;!?'.includes(word.charAt(end - 1))) end--
  return `${inlineCode(word.slice(0, end))}${word.slice(end)}`
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
  return [...text.matchAll(/`+/gu)].reduce((most, [run]) => Math.max(most, run.length), 0)
}

/** A section of a Markdown page; nothing where there are no lines. */
export function headed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
}

/** The same in a file. */
export const plainHelpLine = (line: string): string => helpLine(line, { mark: { next: '->' } })

/** A line of what helps: an arrow promises that it can be pasted, so a sentence has none. */
export const helpLine = (line: string, { mark }: { mark: { next: string } }): string =>
  isCommand(line) ? `${mark.next} ${line}` : line
