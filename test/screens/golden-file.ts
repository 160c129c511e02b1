import { existsSync, readFileSync } from 'node:fs'

/** A screen as its golden file keeps it. */
export interface Kept {
  /** The command line, and when it was looked at. */
  readonly heading: string
  /** Absent where the command had not ended. */
  readonly code?: number
  /** What of a verdict, a next line and a cause does not stand on it. */
  readonly lacks: readonly string[]
  readonly lines: readonly string[]
}

const mark = '═══ '

export function goldenFile(size: string, scenario: string): string {
  return `test/screens/golden/${size}/${scenario}.txt`
}

export function written(screens: readonly Kept[]): string {
  return screens.map(shown).join('\n')
}

function shown({ heading, code, lacks, lines }: Kept): string {
  const said = [...(code === undefined ? [] : [`exit ${code}`]), ...lacks.map((what) => `no ${what}`)]
  return [`${mark}${[heading, ...said].join(' · ')}`, ...lines, ''].join('\n')
}

/** Nothing where there is no such file. */
export function keptIn(file: string): Kept[] {
  if (!existsSync(file)) return []
  const parts = readFileSync(file, 'utf8').split(new RegExp(`^${mark}`, 'mu'))
  return parts.slice(1).map(screenOf)
}

function screenOf(part: string): Kept {
  const [head = '', ...lines] = part.trimEnd().split('\n')
  const [heading = '', ...said] = head.split(' · ')
  const lacks = said.filter((word) => word.startsWith('no ')).map((word) => word.slice(3))
  const code = said.find((word) => word.startsWith('exit '))?.slice(5)
  return code === undefined ? { heading, lacks, lines } : { heading, code: Number(code), lacks, lines }
}
