import { parsePath, unquote } from './parse-path.ts'
import { JsonPathError, type Path } from './path.ts'

/** A template, parsed: text, paths, and ranges with a template inside. */
export type TemplateNode =
  | { is: 'text'; text: string }
  | { is: 'path'; path: Path }
  | { is: 'range'; path: Path; body: readonly TemplateNode[] }

interface Frame {
  path: Path
  body: TemplateNode[]
}

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
    const close = actionEnd(text, open)
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

function relaxed(text: string): string {
  return text === '' || /^[.$@[]/.test(text) ? text : `.${text}`
}

function innermost(frames: readonly Frame[]): Frame {
  const frame = frames.at(-1)
  if (frame === undefined) throw new JsonPathError('not in range, nothing to end')
  return frame
}

/** The `}` that closes the `{` at `open`; quoted text and brackets may hold braces. */
function actionEnd(text: string, open: number): number {
  let quote = ''
  for (let at = open + 1; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '\\') at++
    else if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '}') return at
  }
  throw new JsonPathError(quote === '' ? 'unclosed action' : 'unterminated quoted string')
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
  if (parts[0] === 'range') {
    frames.push({ path: parsePath(parts.slice(1).join('')), body: [] })
    return
  }
  for (const part of parts) {
    if (part === 'end') end(frames)
    else innermost(frames).body.push(node(part))
  }
}

function end(frames: Frame[]): void {
  const range = frames.pop()
  if (range === undefined || frames.length === 0) throw new JsonPathError('not in range, nothing to end')
  innermost(frames).body.push({ is: 'range', ...range })
}

function node(part: string): TemplateNode {
  const quoted = /^(['"])([\s\S]*)\1$/.exec(part)
  if (quoted !== null) return { is: 'text', text: unquote(quoted[2] ?? '') }
  if (/^-?\d+(\.\d+)?$|^(true|false)$/.test(part)) return { is: 'text', text: part }
  if (part !== '' && !/^[.$@[]/.test(part)) throw new JsonPathError(`unrecognized identifier ${part}`)
  return { is: 'path', path: parsePath(part) }
}
