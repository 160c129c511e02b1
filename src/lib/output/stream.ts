/** What output needs of a stream: a terminal, a pipe, or a string in a test. */
export interface Stream {
  write(text: string): void
  readonly isTTY?: boolean
  columns?(): number | undefined
  rows?(): number | undefined
  /** Calls back after each change of the terminal's size; returns what ends that. */
  onResize?(changed: () => void): () => void
}

/** What of the environment output obeys: NO_COLOR, FORCE_COLOR, TERM, CI, LANG … */
export type Environment = Readonly<Record<string, string | undefined>>

/** True where the cursor may be moved: a terminal that is not dumb and no CI log. */
export function isLive(stream: Stream, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb' && !isSet(env['CI'])
}

/** Set to anything but an empty string, `0` or `false`. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
