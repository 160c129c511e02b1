/**
 * A word of the command line as it may be printed again: quoted where a shell needs it, and without the password that an address may
 * carry.
 */
export function shellWord(word: string): string {
  const known = word.replace(/\/\/[^\s/]*@/u, '//<redacted>@')
  return /^[\w./:@%+=,-]+$/u.test(known) ? known : `'${known.replaceAll("'", `'\\''`)}'`
}
