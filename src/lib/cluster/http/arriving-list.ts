const nothing = Buffer.alloc(0)

/** A list up to its first item and the first key of that, as API servers write it: what else there is of a list is flat, and short. */
const head =
  /^(?<list>\s*\{\s*(?:"(?:apiVersion|kind)"\s*:\s*"[^"\\]*"\s*,\s*|"metadata"\s*:\s*\{[^{}]*\}\s*,\s*)*"items"\s*:\s*\[\s*)(?<key>\{"\w+":)/
const longestHead = 8192

/**
 * A list that is parsed while it arrives: that takes no longer than the server writes, and the text is never there as a whole. An item
 * ends where another one begins, which has the same first key; where that stands deeper inside, what is before it is no JSON, and
 * everything from there on is parsed at the end, as what is no list is.
 */
export class ArrivingList {
  #state: 'head' | 'items' | 'end' = 'head'
  #head: Buffer = nothing
  /** `},{"apiVersion":` */
  #between = ''
  readonly #items: unknown[] = []
  #rest: Buffer = nothing

  add(piece: Buffer): void {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    if (this.#state === 'head') this.#begin()
    if (this.#state === 'items') this.#parseItems()
  }

  /** What `JSON.parse` gives for all that came; undefined for nothing. Throws SyntaxError; its cause is the text that was not understood. */
  end(): unknown {
    const text = Buffer.concat([this.#head, this.#rest]).toString('utf8')
    if (text === '') return undefined
    const last = parsed(text)
    return this.#items.length === 0 ? last : whole(this.#items, last as { items: readonly unknown[] })
  }

  #begin(): void {
    const { list, key } = head.exec(this.#rest.toString('latin1', 0, longestHead))?.groups ?? {}
    if (list !== undefined) {
      this.#state = 'items'
      this.#head = this.#rest.subarray(0, list.length)
      this.#rest = this.#rest.subarray(list.length)
      this.#between = `},${key}`
    } else if (this.#rest.length > longestHead) this.#state = 'end'
  }

  #parseItems(): void {
    const end = this.#rest.lastIndexOf(this.#between, undefined, 'latin1') + 1
    if (end === 0) return
    try {
      this.#items.push(...(JSON.parse(`[${this.#rest.toString('utf8', 0, end)}]`) as unknown[]))
      this.#rest = this.#rest.subarray(end + 1)
    } catch {
      this.#state = 'end'
    }
  }
}

const whole = (items: readonly unknown[], last: { items: readonly unknown[] }): unknown => ({
  ...last,
  items: [...items, ...last.items],
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`no JSON: ${(error as Error).message}`, { cause: text })
  }
}
