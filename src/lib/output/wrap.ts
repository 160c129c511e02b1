import { paintedWidth } from './display-width.ts'
import { sanitise } from './sanitise.ts'

const label = /^\S+(?: \S+)* {2,}(?=\S)/

/**
 * The line as it fits a terminal: broken between words, what goes on stands below the text behind its label. A word that is
 * too long is left to the terminal, and so is a line that starts with an arrow: it is pasted.
 */
export function wrap(line: string, columns: number): string[] {
  if (!Number.isFinite(columns) || paintedWidth(line) <= columns || isCommand(line)) return [line]
  const indent = ' '.repeat(indentOf(line, columns))
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const isFull = current.trim() !== '' && paintedWidth(current + word) > columns
    if (isFull) lines.push(current)
    current = isFull ? indent + word.trimStart() : current + word
  }
  return [...lines, current]
}

/** The arrow is the first thing after blanks and colours. */
function isCommand(line: string): boolean {
  return /^(?:→|->)/.test(sanitise(line).trimStart())
}

function indentOf(line: string, columns: number): number {
  const before = /^ */.exec(line)?.[0].length ?? 0
  const head = label.exec(line)?.[0].length
  return head === undefined || head > columns / 2 ? Math.min(before + 2, columns / 2) : head
}
