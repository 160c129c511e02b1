/** A word as a shell takes it back: quoted only where it has to be. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
