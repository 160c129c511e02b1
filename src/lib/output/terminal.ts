import { Chalk } from 'chalk'
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

const unicodeMarks: Paint['mark'] = {
  done: '✔',
  failed: '✖',
  running: '▸',
  warning: '!',
  next: '→',
  dot: '·',
}
const asciiMarks: Paint['mark'] = { done: '+', failed: 'x', running: '>', warning: '!', next: '->', dot: '-' }

/** The words' colours and the marks for one stream. */
export function paintFor(look: { colour: boolean; unicode: boolean }): Paint {
  const chalk = new Chalk({ level: look.colour ? 1 : 0 })
  const [full, empty] = look.unicode ? ['█', '░'] : ['#', '.']
  return {
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    warn: (text) => chalk.yellow(text),
    dim: (text) => chalk.dim(text),
    strong: (text) => chalk.bold(text),
    mark: look.unicode ? unicodeMarks : asciiMarks,
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
