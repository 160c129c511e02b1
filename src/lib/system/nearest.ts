/** The word that was most likely meant: at most a third of its letters differ. Undefined where none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, far: distance(typed, word) }))
    .filter(({ word, far }) => far <= Math.ceil(word.length / 3))
    .toSorted((a, b) => a.far - b.far)
  return ranked[0]?.word
}

/** Letters to insert, take out or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of from.split('').entries()) {
    const next = [i + 1]
    for (const [j, other] of to.split('').entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
