/** Names and uids that look like the API server's and are the same in every run (mulberry32). */
export class Identity {
  #state: number

  constructor(seed = 0x6b767570) {
    this.#state = seed
  }

  /** An RFC 4122 version 4 uid. */
  uid(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#next() * 16).toString(16))
    digits[12] = '4'
    digits[16] = '89ab'[Math.floor(this.#next() * 4)] ?? '8'
    const hex = digits.join('')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** The five characters behind a generateName. */
  suffix(): string {
    const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
    return Array.from({ length: 5 }, () => alphabet[Math.floor(this.#next() * alphabet.length)]).join('')
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
