const nothing = Buffer.alloc(0)

/**
 * A list up to its first item and what that begins with, as API servers write it: what else there is of a list is flat, and short. The
 * key behind `apiVersion` belongs to it, for owners and managedFields begin with an apiVersion as well.
 */
const head =
  /^(?<list>\s*\{\s*(?:"(?:apiVersion|kind)"\s*:\s*"[^"\\]*"\s*,\s*|"metadata"\s*:\s*\{[^{}]*\}\s*,\s*)*"items"\s*:\s*\[\s*)(?<start>\{(?:"apiVersion":"[^"\\]*",)?"(?!apiVersion")\w+":)/
const longestHead = 8192

/**
 * A list that is parsed while it arrives: that takes no longer than the server writes, and the text is never there as a whole. An item
 * ends where another one begins, in the same way as the first; where that stands deeper inside, what is before it is no JSON, and
 * everything from there on is parsed at the end, as what is no list is.
 */
export class ArrivingList {
  #state: 'head' | 'items' | 'end' = 'head'
  #head: Buffer = nothing
  /** `},{"apiVersion":"kubevirt.io/v1","kind":` */
  #between = ''
  readonly #items: unknown[] = []
  /** What is not parsed yet. At the end it is joined once: joined with each piece, a long text would be copied hundreds of times. */
  #rest: Buffer[] = []
  /** Bytes of it in which no item ends, and of what came behind them. */
  #searched = 0
  #fresh = 0

  add(piece: Buffer): void {
    this.#rest.push(piece)
    this.#fresh += piece.length
    if (this.#state === 'head') this.#begin(this.#joined())
    // Not with each piece: an item of 40 MB would be copied and looked through for half a minute.
    if (this.#state === 'items' && this.#fresh >= this.#searched) this.#parseItems(this.#joined())
  }

  /** What `JSON.parse` gives for all that came; undefined for nothing. Throws SyntaxError; its cause is the text that was not understood. */
  end(): unknown {
    const text = Buffer.concat([this.#head, ...this.#rest]).toString('utf8')
    if (text === '') return undefined
    const last = parsed(text)
    return this.#items.length === 0 ? last : whole(this.#items, last as { items: readonly unknown[] })
  }

  #joined(): Buffer {
    const [first = nothing, ...more] = this.#rest
    if (more.length === 0) return first
    const joined = Buffer.concat(this.#rest)
    this.#rest = [joined]
    return joined
  }

  #begin(text: Buffer): void {
    const { list, start } = head.exec(text.toString('latin1', 0, longestHead))?.groups ?? {}
    if (list !== undefined) {
      this.#state = 'items'
      this.#head = text.subarray(0, list.length)
      this.#rest = [text.subarray(list.length)]
      this.#between = `},${start}`
    } else if (text.length > longestHead) this.#state = 'end'
  }

  #parseItems(text: Buffer): void {
    const end = text.lastIndexOf(this.#between, undefined, 'latin1') + 1
    this.#searched = end === 0 ? text.length : text.length - end - 1
    this.#fresh = 0
    if (end === 0) return
    try {
      this.#items.push(...(JSON.parse(`[${text.toString('utf8', 0, end)}]`) as unknown[]))
      this.#rest = [text.subarray(end + 1)]
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
