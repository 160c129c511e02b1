import { existsSync, readFileSync } from 'node:fs'

/** A screen as its golden file keeps it. */
export interface Kept {
  /** The command line, and when it was looked at. */
  readonly heading: string
  /** Absent where the command had not ended. */
  readonly code?: number
  readonly lines: readonly string[]
}

const mark = '═══ '

export function goldenFile(size: string, scenario: string): string {
  return `test/screens/golden/${size}/${scenario}.txt`
}

export function written(screens: readonly Kept[]): string {
  return screens.map(shown).join('\n')
}

function shown({ heading, code, lines }: Kept): string {
  return [`${mark}${heading}${code === undefined ? '' : ` · exit ${code}`}`, ...lines, ''].join('\n')
}

/** Nothing where there is no such file. */
export function keptIn(file: string): Kept[] {
  if (!existsSync(file)) return []
  const parts = readFileSync(file, 'utf8').split(new RegExp(`^${mark}`, 'mu'))
  return parts.slice(1).map(screenOf)
}

function screenOf(part: string): Kept {
  const [head = '', ...lines] = part.trimEnd().split('\n')
  const [heading = '', exit] = head.split(' · exit ')
  return exit === undefined ? { heading, lines } : { heading, code: Number(exit), lines }
}
