import type { Finding } from '../../lib/checks/finding.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import type { EusPlanningOptions } from './flags.ts'

/** Findings know of no command line: what they say to plan anew is made from the same files and with the same risks as what was typed, but for what they name themselves. */
export function asTyped(findings: readonly Finding[], options: EusPlanningOptions): readonly Finding[] {
  const flags = typedFlags(options)
  return findings.map((finding) =>
    Object.assign({}, finding, { remedy: finding.remedy.map((line) => withFlags(line, flags)) }),
  )
}

type Flag = readonly [name: string, value: string]

function typedFlags({ to, graphFile, catalogFile, releases, accept }: EusPlanningOptions): readonly Flag[] {
  const valued: readonly (readonly [string, string | undefined])[] = [
    ['--to', to],
    ['--graph-file', graphFile],
    ['--catalog-file', catalogFile],
    ['--releases', releases],
    ...accept.map((id) => ['--accept', id] as const),
  ]
  return valued.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** Behind five blanks and more it is said what the line does. */
const planLine = /^(?<line>kvup eus plan(?: \S+)*)(?<says> {5}.*)?$/su

function withFlags(remedy: string, flags: readonly Flag[]): string {
  const { line, says = '' } = planLine.exec(remedy)?.groups ?? {}
  if (line === undefined) return remedy
  const words = line.split(' ')
  const more = flags.filter(([name]) => !words.includes(name))
  return [line, ...more.map(([name, value]) => `${name} ${shellWord(value)}`)].join(' ') + says
}
