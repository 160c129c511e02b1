import { createHash } from 'node:crypto'

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Five letters, as the API server appends them to `generateName`. */
export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

/** Between `least` and `most`. */
export function between(random: () => number, least: number, most: number): number {
  return least + random() * (most - least)
}

const hashes = new WeakMap<object, string>()

/** Ten letters that stand for a pod template: part of the names of its ReplicaSet and pods. Templates come frozen from the store. */
export function templateHash(template: object = {}): string {
  const known = hashes.get(template)
  if (known !== undefined) return known
  const digest = createHash('sha1').update(JSON.stringify(template)).digest()
  const hash = Array.from(digest.subarray(0, 10), (byte) => letters[byte % letters.length]).join('')
  if (Object.isFrozen(template)) hashes.set(template, hash)
  return hash
}

/** The same numbers between 0 and 1 for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
