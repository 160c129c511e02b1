import { JsonPathError, type Operand, type Operator, type Path, type PathStep } from './path.ts'

/** Characters that end a field name; a backslash before one makes it part of the name. */
const fieldEnd = /[\s.[\]{},()<>=!'"]/

/** Parses `.items[*].metadata.labels.kubevirt\.io/role`; a `$` or `@` in front means the current object, as in kubectl. */
export function parsePath(text: string): Path {
  const source = text.trim().replace(/^[$@]/, '')
  const steps: PathStep[] = []
  let at = 0
  while (at < source.length) {
    const [step, next] = nextStep(source, at)
    if (step !== undefined) steps.push(step)
    at = next
  }
  return steps
}

function nextStep(source: string, at: number): [PathStep | undefined, number] {
  if (source.startsWith('..', at)) return afterDots(source, at)
  if (source[at] === '.') return source[at + 1] === '[' ? [undefined, at + 1] : fieldAt(source, at + 1)
  if (source[at] === '[') {
    const end = bracketEnd(source, at)
    return [bracket(source.slice(at + 1, end)), end + 1]
  }
  if (at === 0 && !fieldEnd.test(source[at] ?? '')) return fieldAt(source, at)
  throw new JsonPathError(`unrecognized character in action: '${source[at]}'`)
}

function afterDots(source: string, at: number): [PathStep, number] {
  if (source[at + 2] === '*') throw new JsonPathError("unrecognized character in action: '*'")
  // `..name`: the dots are one step and the name is the next one.
  const next = at + (source[at + 2] === '[' ? 2 : 1)
  return [{ is: 'recursive' }, next]
}

function fieldAt(source: string, from: number): [PathStep | undefined, number] {
  let name = ''
  let at = from
  while (at < source.length && !fieldEnd.test(source[at] ?? '')) {
    if (source[at] === '\\') at++
    name += source[at] ?? ''
    at++
  }
  if (name === '') return [undefined, at]
  return [name === '*' ? { is: 'wildcard' } : { is: 'field', name }, at]
}

/** The index of the `]` that closes the `[` at `from`; quotes and nested brackets are skipped. */
function bracketEnd(source: string, from: number): number {
  let depth = 0
  let quote = ''
  for (let at = from; at < source.length; at++) {
    const character = source[at] ?? ''
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else depth += depthChange(character)
    if (depth === 0) return at
  }
  throw new JsonPathError('unterminated array')
}

function depthChange(character: string): number {
  if (character === '[') return 1
  return character === ']' ? -1 : 0
}

function bracket(inside: string): PathStep {
  const text = inside.trim()
  if (text === '*') return { is: 'wildcard' }
  const filter = /^\?\(([\s\S]*)\)$/.exec(text)
  if (filter !== null) return parseFilter(filter[1] ?? '')
  const parts = splitOutsideQuotes(text)
  if (parts.length > 1) return { is: 'union', of: parts.map((part) => [bracket(part)]) }
  const quoted = /^'([\s\S]*)'$/.exec(text)
  if (quoted !== null) return { is: 'union', of: [parsePath(`.${quoted[1]}`)] }
  return range(text)
}

function splitOutsideQuotes(text: string): string[] {
  return text.match(/(?:'[^']*'|[^,'])+/g) ?? []
}

function range(text: string): PathStep {
  const match = /^(-?\d*)(?::(-?\d*)(?::(-?\d*))?)?$/.exec(text)
  if (match === null || text === '' || text === '-') throw new JsonPathError(`invalid array index ${text}`)
  const [from, to, step] = [match[1], match[2], match[3]].map((part) =>
    part === undefined || part === '' ? undefined : Number(part),
  )
  return text.includes(':') ? { is: 'slice', from, to, step } : { is: 'index', at: from ?? 0 }
}

const comparison = /^(.*?)\s*(===|==|!=|<=|>=|<|>)\s*(.*)$/s

function parseFilter(text: string): PathStep {
  const [left, operator, right] = splitComparison(text)
  if (operator === undefined) return { is: 'exists', operand: operand(left) }
  if (operator === '===') throw new JsonPathError('unrecognized filter operator ===')
  return { is: 'filter', left: operand(left), operator: operator as Operator, right: operand(right) }
}

/** Nested filters and quoted text are blanked first, so that an operator in them is not taken for ours. */
function splitComparison(text: string): [string, string | undefined, string] {
  const blanked = text.replace(/\[\?\(.*?\)\]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs, (found) =>
    '_'.repeat(found.length),
  )
  const unknown = /&&|\|\||=~/.exec(blanked)
  if (unknown !== null) throw new JsonPathError(`unrecognized filter operator ${unknown[0]}`)
  const match = comparison.exec(blanked)
  if (match === null) return [text, undefined, '']
  const leftLength = (match[1] ?? '').length
  const rightLength = (match[3] ?? '').length
  return [text.slice(0, leftLength), match[2], text.slice(text.length - rightLength)]
}

function operand(source: string): Operand {
  const text = source.trim()
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text)
  if (quoted !== null) return { is: 'literal', value: unquote(quoted[2] ?? '') }
  if (/^-?\d+(\.\d+)?$/.test(text)) return { is: 'literal', value: Number(text) }
  if (text === 'true' || text === 'false') return { is: 'literal', value: text === 'true' }
  if (!/^[@$.[]/.test(text)) throw new JsonPathError(`unrecognized identifier ${text}`)
  return { is: 'path', path: parsePath(text) }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
}

/** Text between quotes with its escapes resolved: `\n`, `\t`, `\u0041`, `\"` … */
export function unquote(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs,
    (_, u?: string, x?: string, c?: string) => {
      const code = u ?? x
      return code === undefined
        ? (escapes[c ?? ''] ?? c ?? '')
        : String.fromCodePoint(Number.parseInt(code, 16))
    },
  )
}
