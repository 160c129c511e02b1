import { JSONPath } from 'jsonpath-plus'

/** One step of a path in kubectl's dialect. A filter keeps the elements for which its comparison holds. */
type PathStep =
  | { is: 'field'; name: string }
  | { is: 'wildcard' }
  | { is: 'recursive' }
  | { is: 'slice'; from: number | undefined; to: number | undefined; step: number | undefined }
  | { is: 'index'; at: number }
  | { is: 'union'; of: readonly Path[] }
  | { is: 'filter'; left: Operand; operator: Operator; right: Operand }
  | { is: 'exists'; operand: Operand }

export type Path = readonly PathStep[]
type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='
type Operand = { is: 'path'; path: Path } | { is: 'literal'; value: string | number | boolean }

/** A template that cannot be parsed, or that does not fit the document. */
class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

/** A template, parsed: text, paths, and ranges with a template inside. */
export type TemplateNode =
  | { is: 'text'; text: string }
  | { is: 'path'; path: Path }
  | { is: 'range'; path: Path; body: readonly TemplateNode[] }

type Frame = Omit<Extract<TemplateNode, { is: 'range' }>, 'is' | 'body'> & { body: TemplateNode[] }

/**
 * Parses kubectl's jsonpath template. One without any braces (`.status`, `items[0].name`) is taken for a path, which kubectl
 * does for sort-by and custom-columns only. Throws JsonPathError.
 */
export function parseTemplate(source: string): readonly TemplateNode[] {
  const text = /[{}]/.test(source) ? source : `{${relaxed(source)}}`
  const frames: Frame[] = [{ path: [], body: [] }]
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    const literal = text.slice(at, open < 0 ? text.length : open)
    if (literal !== '') innermost(frames).body.push({ is: 'text', text: literal })
    if (open < 0) break
    const close = closedAt(text, open, '}')
    add(text.slice(open + 1, close), frames)
    at = close + 1
  }
  if (frames.length > 1) throw new JsonPathError('range without {end}')
  return innermost(frames).body
}

/** `a.b`, `.a.b`, `{.a.b}`: the path of --sort-by and custom-columns. */
export function parseRelaxedPath(source: string): Path {
  const braced = /^\{([\s\S]*)\}$/.exec(source.trim())
  return parsePath(relaxed(braced?.[1] ?? source.trim()))
}

const relaxed = (text: string): string => (text === '' || /^[.$@[]/.test(text) ? text : `.${text}`)

function innermost(frames: readonly Frame[]): Frame {
  const frame = frames.at(-1)
  if (frame === undefined) throw new JsonPathError('not in range, nothing to end')
  return frame
}

/** What may stand between an opening and its end; a quote by itself is one that nothing closes. */
const within = {
  '}': /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\\[\s\S]|[}"']/g,
  ']': /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[[\]"']/g,
}

/** Where that which opens at `from` is closed. Quoted text may hold anything; brackets hold brackets. */
function closedAt(text: string, from: number, close: '}' | ']'): number {
  let depth = 1
  for (const { 0: found, index } of text.slice(from + 1).matchAll(within[close])) {
    if (found === '[') depth++
    if (found === close && --depth === 0) return from + 1 + index
    if (close === '}' && /^["']$/.test(found)) throw new JsonPathError('unterminated quoted string')
    if (/^["']$/.test(found)) break
  }
  throw new JsonPathError(close === '}' ? 'unclosed action' : 'unterminated array')
}

/** An action may hold several things: `range .items[*]`, `.a .b`, `"text"`. Blanks outside quotes and brackets part them. */
function actionParts(action: string): string[] {
  const parts =
    action.match(
      /(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[(?:'[^']*'|"[^"]*"|\[[^\]]*\]|[^\]'"[])*\]|\\.|[^\s"'[])+|\[/gs,
    ) ?? []
  return parts.length === 0 ? [''] : parts
}

function add(action: string, frames: Frame[]): void {
  const parts = actionParts(action)
  if (parts[0] === 'range') return void frames.push({ path: parsePath(parts.slice(1).join('')), body: [] })
  for (const part of parts) {
    const ended = part === 'end' ? frames.pop() : undefined
    innermost(frames).body.push(ended ? { is: 'range', ...ended } : node(part))
  }
}

function node(part: string): TemplateNode {
  const quoted = /^(['"])([\s\S]*)\1$/.exec(part)
  if (quoted !== null) return { is: 'text', text: unquote(quoted[2] ?? '') }
  if (/^-?\d+(\.\d+)?$|^(true|false)$/.test(part)) return { is: 'text', text: part }
  if (part !== '' && !/^[.$@[]/.test(part)) throw new JsonPathError(`unrecognized identifier ${part}`)
  return { is: 'path', path: parsePath(part) }
}

/** Parses `.items[*].metadata.labels.kubevirt\.io/role`; a `$` or `@` in front means the current object, as in kubectl. */
function parsePath(text: string): Path {
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
  // `..name`: the dots are one step and the name is the next one.
  if (source.startsWith('..', at) && source[at + 2] !== '*')
    return [{ is: 'recursive' }, at + (source[at + 2] === '[' ? 2 : 1)]
  if (source.startsWith('..', at)) throw new JsonPathError("unrecognized character in action: '*'")
  if (source[at] === '.') return source[at + 1] === '[' ? [undefined, at + 1] : fieldAt(source, at + 1)
  if (source[at] === '[') {
    const end = closedAt(source, at, ']')
    return [bracket(source.slice(at + 1, end)), end + 1]
  }
  if (at === 0 && /[^\s.[\]{},()<>=!'"]/.test(source[at] ?? '')) return fieldAt(source, at)
  throw new JsonPathError(`unrecognized character in action: '${source[at]}'`)
}

/** A backslash makes a character that would end the name a part of it. */
function fieldAt(source: string, from: number): [PathStep | undefined, number] {
  const [raw] = /^(?:\\[\s\S]?|[^\s.[\]{},()<>=!'"\\])*/.exec(source.slice(from)) ?? ['']
  const name = raw.replaceAll(/\\([\s\S]?)/g, '$1')
  const step: PathStep | undefined = name === '' ? undefined : { is: 'field', name }
  return [name === '*' ? { is: 'wildcard' } : step, from + raw.length]
}

function bracket(inside: string): PathStep {
  const text = inside.trim()
  if (text === '*') return { is: 'wildcard' }
  const filter = /^\?\(([\s\S]*)\)$/.exec(text)
  if (filter !== null) return parseFilter(filter[1] ?? '')
  const parts = text.match(/(?:'[^']*'|[^,'])+/g) ?? []
  if (parts.length > 1) return { is: 'union', of: parts.map((part) => [bracket(part)]) }
  const quoted = /^'([\s\S]*)'$/.exec(text)
  if (quoted !== null) return { is: 'union', of: [parsePath(`.${quoted[1]}`)] }
  return rangeStep(text)
}

function rangeStep(text: string): PathStep {
  const match = /^(-?\d*)(?::(-?\d*)(?::(-?\d*))?)?$/.exec(text)
  if (match === null || text === '' || text === '-') throw new JsonPathError(`invalid array index ${text}`)
  const [from, to, step] = match.slice(1).map((part) => (part ? Number(part) : undefined))
  return text.includes(':') ? { is: 'slice', from, to, step } : { is: 'index', at: from ?? 0 }
}

/** Nested filters and quoted text are blanked first, so that an operator in them is not taken for ours. */
function parseFilter(text: string): PathStep {
  const blanked = text.replace(/\[\?\(.*?\)\]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs, (found) =>
    '_'.repeat(found.length),
  )
  const unknown = /&&|\|\||=~|===/.exec(blanked)
  if (unknown !== null) throw new JsonPathError(`unrecognized filter operator ${unknown[0]}`)
  const found = /==|!=|<=|>=|<|>/.exec(blanked)
  if (found === null) return { is: 'exists', operand: parseOperand(text) }
  const { 0: operator, index } = found
  const left = parseOperand(text.slice(0, index))
  const right = parseOperand(text.slice(index + operator.length))
  return { is: 'filter', left, operator: operator as Operator, right }
}

function parseOperand(source: string): Operand {
  const text = source.trim()
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text)
  if (quoted !== null) return { is: 'literal', value: unquote(quoted[2] ?? '') }
  if (/^-?\d+(\.\d+)?$/.test(text)) return { is: 'literal', value: Number(text) }
  if (text === 'true' || text === 'false') return { is: 'literal', value: text === 'true' }
  if (!/^[@$.[]/.test(text)) throw new JsonPathError(`unrecognized identifier ${text}`)
  return { is: 'path', path: parsePath(text) }
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

/** Text between quotes with its escapes resolved: `\n`, `\t`, `\u0041`, `\"` … */
function unquote(text: string): string {
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

/** What a path finds from one value, in kubectl's order. A missing key finds nothing; an index out of bounds throws JsonPathError. */
export function walk(value: unknown, path: Path): unknown[] {
  let values = [value]
  for (let at = 0; at < path.length;) {
    const shared = sharedSteps(path.slice(at))
    values =
      shared.length > 0 ? values.flatMap((one) => query(one, shared)) : takeStep(values, path[at] as OwnStep)
    at += Math.max(1, shared.length)
  }
  return values
}

/**
 * The steps, from the first on, that mean in jsonpath-plus what they mean to kubectl. Behind a wildcard it would take the text of a step for the name
 * of a member, so that ends them.
 */
function sharedSteps(path: Path): readonly string[] {
  const shared: string[] = []
  for (const step of path) {
    const text = sharedText(step)
    if (text === undefined) break
    shared.push(text)
    if (text === '*') break
  }
  return shared
}

/** Names that jsonpath-plus would take apart, or finds in texts and lists as well. */
const awkward = /['"\][;#,~^@()]|^(?:length|\d+)$/

/** A backquote makes jsonpath-plus take a name literally: no `^`, `~` or `@` of its own dialect. */
function sharedText(step: PathStep): string | undefined {
  if (step.is === 'wildcard') return '*'
  if (step.is === 'recursive') return '..'
  if (step.is === 'slice') return `${step.from ?? ''}:${step.to ?? ''}:${step.step ?? ''}`
  return step.is === 'field' && !awkward.test(step.name) ? `\`${step.name}` : undefined
}

function query(value: unknown, path: readonly string[]): unknown[] {
  if (!isParent(value)) return []
  const found = JSONPath({ path: ['$', ...path], json: value, eval: false, wrap: true }) as unknown[]
  return path.at(-1) === '..' ? found.filter(isParent) : found
}

type OwnStep = Exclude<PathStep, { is: 'wildcard' | 'recursive' | 'slice' }>
type Steps = { [K in OwnStep['is']]: (values: unknown[], step: Extract<OwnStep, { is: K }>) => unknown[] }

const steps: Steps = {
  field: (values, { name }) => values.flatMap((value) => member(value, name)),
  index: (values, { at }) => values.flatMap((value) => element(value, at)),
  union: (values, { of }) => of.flatMap((path) => values.flatMap((value) => walk(value, path))),
  exists: (values, { operand }) => elements(values).filter((one) => resolve(one, operand).length > 0),
  filter: (values, { left, operator, right }) =>
    elements(values).filter((candidate) => {
      const [a] = resolve(candidate, left)
      const [b] = resolve(candidate, right)
      return a !== undefined && b !== undefined && compare(a, operator, b)
    }),
}

const takeStep = <S extends OwnStep>(values: unknown[], step: S): unknown[] =>
  (steps[step.is] as (values: unknown[], step: S) => unknown[])(values, step)

function member(value: unknown, name: string): unknown[] {
  if (!isParent(value) || Array.isArray(value) || !Object.hasOwn(value, name)) return []
  return [(value as Record<string, unknown>)[name]]
}

const isParent = (value: unknown): value is object => typeof value === 'object' && value !== null

const elements = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []))

function element(value: unknown, at: number): unknown[] {
  if (!Array.isArray(value)) return []
  const index = at < 0 ? at + value.length : at
  if (index < 0 || index >= value.length)
    throw new JsonPathError(`array index out of bounds: index ${at}, length ${value.length}`)
  return [value[index]]
}

const resolve = (value: unknown, operand: Operand): unknown[] =>
  operand.is === 'literal' ? [operand.value] : walk(value, operand.path)

const operators: Record<Operator, (a: never, b: never) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

function compare(a: unknown, operator: Operator, b: unknown): boolean {
  if (typeof a !== typeof b) throw new JsonPathError('incompatible types for comparison')
  return operators[operator](a as never, b as never)
}
