import type { EusReportDocument } from '../../../lib/output/views/eus-report.ts'

type Names = Readonly<Record<string, readonly string[]>>

/** One report of several windows, one after the other: how the last one ended, and what all of them did and changed. */
export function joinedReport(
  reports: readonly [EusReportDocument, ...EusReportDocument[]],
): EusReportDocument {
  const [first] = reports
  const last = reports.at(-1) ?? first
  if (reports.length === 1) return last
  const changes = reports.flatMap((report) => report.changes ?? [])
  const differences = unionOf(reports.flatMap((report) => report.differences ?? []))
  const nodes = unionOf(reports.flatMap((report) => report.nodes ?? []))
  const volumes = unionOf(reports.flatMap((report) => report.volumes ?? []))
  const rewritten = reports.flatMap((report) => report.rewritten ?? [])
  return {
    ...last,
    from: first.from,
    steps: reports.flatMap(({ steps }) => steps),
    seconds: reports.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
    ...(first.comparedWith && { comparedWith: first.comparedWith, changes }),
    ...(differences && { differences }),
    ...(nodes && { nodes }),
    ...(volumes && { volumes }),
    ...(last.rewritten && { rewritten: [...new Set(rewritten)] }),
    notes: [...new Set(reports.flatMap(({ notes }) => notes))],
  }
}

/** Each name once in each of the lists; undefined where nothing was compared. */
function unionOf<T extends { [K in keyof T]: readonly string[] }>(all: readonly T[]): T | undefined {
  const [first] = all
  if (first === undefined) return undefined
  const keys = Object.keys(first)
  const lists = keys.map((key) => [key, [...new Set(all.flatMap((one) => (one as Names)[key] ?? []))]])
  return Object.fromEntries(lists) as T
}
