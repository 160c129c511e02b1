/**
 * The YAML that kubectl, and what writes kubeconfigs for it, puts into them: block mappings and lists of plain or simply
 * quoted texts. Undefined for anything else, which is then a matter for a whole YAML parser: loading that takes longer than
 * all requests of a `status`. What is read here is read as that parser would.
 */
export function plainYaml(text: string): unknown {
  const lines = linesOf(text)
  if (lines === undefined || lines.length === 0) return undefined
  try {
    const reading = { lines, at: 0 }
    const value = block(reading, 0)
    return reading.at === lines.length ? value : undefined
  } catch (error) {
    if (error === notPlain) return undefined
    throw error
  }
}

interface Line {
  indent: number
  /** Without what a `- ` before it was. */
  text: string
  isItem: boolean
}

interface Reading {
  readonly lines: Line[]
  at: number
}

const notPlain = new Error('this YAML is more than plain')

/** Each `- ` becomes a line of its own, so that an item's first key stands where its others do. */
function linesOf(text: string): Line[] | undefined {
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\r$/, '')
    if (/^\s*(?:#.*)?$/.test(line)) continue
    if (line.includes('\t') || /^(?:---|\.\.\.|%)/.test(line)) return undefined
    split(line, lines)
  }
  return lines
}

function split(line: string, lines: Line[]): void {
  let indent = line.length - line.trimStart().length
  let text = line.trim()
  while (text.startsWith('- ') || text === '-') {
    lines.push({ indent, text: '', isItem: true })
    const rest = text.slice(1).trimStart()
    indent += text.length - rest.length
    text = rest
  }
  if (text !== '') lines.push({ indent, text, isItem: false })
}

function block(reading: Reading, least: number): unknown {
  const line = reading.lines[reading.at]
  if (line === undefined || line.indent < least) return null
  if (line.isItem) return list(reading, line.indent)
  if (keyed.test(line.text)) return mapping(reading, line.indent)
  // A scalar that is a whole item.
  reading.at++
  return scalar(line.text)
}

function list(reading: Reading, indent: number): unknown[] {
  const items: unknown[] = []
  for (let line = at(reading, indent); line?.isItem; line = at(reading, indent)) {
    reading.at++
    items.push(block(reading, indent + 1))
  }
  return items
}

const keyed = /^(?<key>[A-Za-z][\w./@-]*):(?: +(?<value>.*))?$/

function mapping(reading: Reading, indent: number): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (let line = at(reading, indent); line && !line.isItem; line = at(reading, indent)) {
    const { key = '', value } = keyed.exec(line.text)?.groups ?? {}
    if (key === '' || otherWords.test(key) || Object.hasOwn(found, key)) throw notPlain
    reading.at++
    // What belongs to a key: deeper lines, or a list beside it.
    const below = reading.lines[reading.at]?.isItem ? indent : indent + 1
    found[key] = value === undefined ? block(reading, below) : scalar(value)
  }
  return found
}

/** The next line of this block; a deeper one here would be a text that goes on, and is not ours to read. */
function at({ lines, at: index }: Reading, indent: number): Line | undefined {
  const line = lines[index]
  if (line !== undefined && line.indent > indent) throw notPlain
  return line?.indent === indent ? line : undefined
}

const named: Readonly<Record<string, unknown>> = { true: true, false: false, null: null, '{}': {}, '[]': [] }
/** Begins with a letter, a slash or as a flag does, and has nothing that means something to YAML; no number, no date, no other truth. */
const plain = /^(?:[A-Za-z/]|--?[A-Za-z])(?:[^:#]|:(?! |$)|(?<! )#)*$/
const otherWords = /^(?:true|false|null|__proto__)$/i
const quoted = /^"(?<double>[^"\\]*)"$|^'(?<single>[^']*)'$/

function scalar(text: string): unknown {
  if (Object.hasOwn(named, text)) return structuredClone(named[text])
  if (plain.test(text) && !otherWords.test(text)) return text
  const { double, single } = quoted.exec(text)?.groups ?? {}
  const inside = double ?? single
  if (inside === undefined) throw notPlain
  return inside
}
