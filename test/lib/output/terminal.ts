/* oxlint-disable no-control-regex -- a terminal is made of them */
import type { Stream } from '../../../src/lib/output/terminal.ts'

/** A terminal small enough to be read: it knows what the live view uses and fails on everything else. */
export class Terminal implements Stream {
  readonly isTTY = true
  readonly written: string[] = []
  isCursorShown = true
  #width: number
  #height: number
  #screen: string[] = ['']
  #row = 0
  #column = 0
  #resized: () => void = () => undefined

  constructor(width = 80, height = 24) {
    this.#width = width
    this.#height = height
  }

  columns = () => this.#width
  rows = () => this.#height
  onResize = (changed: () => void) => {
    this.#resized = changed
    return () => (this.#resized = () => undefined)
  }

  /** Everything that was ever on it, scrolled off or not; trailing empty lines left out. */
  get lines(): string[] {
    const last = this.#screen.findLastIndex((line) => line.trim() !== '')
    return this.#screen.slice(0, last + 1).map((line) => line.trimEnd())
  }

  /** Reflows what is shown, as VTE, iTerm and tmux do, and tells. The cursor is at the start of a line when this is used. */
  resize(width: number, height: number): void {
    this.#width = width
    this.#height = height
    const flowed = this.#screen.map((line) => {
      const text = line.trimEnd()
      return text === '' ? [''] : (text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])
    })
    this.#row = flowed.slice(0, this.#row).flat().length
    this.#screen = flowed.flat()
    this.#resized()
  }

  write(text: string): void {
    this.written.push(text)
    for (const [token] of text.matchAll(/\u001b\[[0-9;?]*[A-Za-z]|[\s\S]/gu)) this.#accept(token)
  }

  #accept(token: string): void {
    if (token === '\n') this.#newline()
    else if (token === '\r') this.#column = 0
    else if (/^\u001b\[\d*m$/u.test(token)) return
    else if (token === '\u001b[?25l') this.isCursorShown = false
    else if (token === '\u001b[?25h') this.isCursorShown = true
    else if (token === '\u001b[2K') this.#screen[this.#row] = ''
    else if (/^\u001b\[\d+A$/u.test(token)) this.#up(Number.parseInt(token.slice(2), 10))
    else if (token < ' ') throw new Error(`the terminal does not know ${JSON.stringify(token)}`)
    else this.#put(token)
  }

  #up(lines: number): void {
    const top = Math.max(0, this.#screen.length - this.#height)
    this.#row = Math.max(top, this.#row - lines)
  }

  #newline(): void {
    this.#row++
    this.#column = 0
    this.#screen[this.#row] ??= ''
  }

  #put(character: string): void {
    if (this.#column >= this.#width) this.#newline()
    const line = (this.#screen[this.#row] ?? '').padEnd(this.#column)
    this.#screen[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1)
    this.#column++
  }
}

/** A pipe that keeps what was written. */
export class Pipe implements Stream {
  readonly isTTY = false
  text = ''
  write(text: string): void {
    this.text += text
  }
}
