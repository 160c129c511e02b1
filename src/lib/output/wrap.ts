import { paintedWidth, pieces } from './display-width.ts'
import { onOneLine, sanitise } from './sanitise.ts'

const label = /^\S+(?: \S+)* {2,}(?=\S)/
/** The arrow is the first thing after blanks and colours. */
const arrow = /^ *(?:→|->) /
const command = /^ *(?:→|->) (?:kvup|kubectl|oc|virtctl|helm|etcdctl) /
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
const isMark = (text: string): boolean => /^(?:→|->|✔|✖|[!?·+x-])$/u.test(text)

function indentOf(line: string, columns: number): number {
  const bare = sanitise(line)
  const before = /^ */.exec(bare)?.[0].length ?? 0
  const head = label.exec(line)?.[0].length
  if (head !== undefined && head <= columns / 2) return head
  const beside = arrow.exec(bare)?.[0].length ?? before + 2
  return Math.min(beside, Math.floor(columns / 2))
}
