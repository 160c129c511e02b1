/** Flags that are left out where a typed line is printed again. */
export interface LeftOut {
  alone?: readonly string[]
  /** With what follows: `--until X`, `--until=X`; of a short one also `-oX`. */
  valued: readonly string[]
}

/** The words of a line that `shellWord` has made, as they are written there: what is quoted is one word. */
export function wordsOf(line: string): readonly string[] {
  return line.match(/(?:'[^']*'|\\.|[^\s'\\])+/gu) ?? []
}

export function withoutFlags(words: readonly string[], { alone = [], valued }: LeftOut): readonly string[] {
  return words.filter(
    (word, index) =>
      !alone.includes(word) &&
      !valued.some((flag) => word === flag || isGlued(word, flag)) &&
      !valued.includes(words[index - 1] ?? ''),
  )
}

/** A flag with its value, as it was written; none where it was not typed. */
export function onlyFlag(words: readonly string[], flag: string): readonly string[] {
  return words.filter((word, index) => word === flag || isGlued(word, flag) || words[index - 1] === flag)
}

function isGlued(word: string, flag: string): boolean {
  return word.startsWith(flag.startsWith('--') ? `${flag}=` : flag) && word !== flag
}
