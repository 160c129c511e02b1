const prefix = 'eus to '

/** The procedure of a window, by which the journal knows what is of it: `eus to 4.20`. */
export const windowName = (to: string): string => `${prefix}${to}`

/** The minor that a procedure of that name leads to; undefined for any other procedure. */
export function targetOfName(procedure: string): string | undefined {
  return procedure.startsWith(prefix) ? procedure.slice(prefix.length) : undefined
}

/** What is borrowed for a window, whichever. */
export const isOfWindow = ({ procedure }: { procedure: string }): boolean =>
  targetOfName(procedure) !== undefined
