/** What the log of a container ended with. */
export interface LastLine {
  pod: string
  /** Absent: the only container of the pod. */
  container?: string
  text: string
}

/** As much of a log line as fits a sentence. */
const longest = 160

/**
 * What a log says of its end, in one line without control characters: the message of a Go panic, else the last line that
 * complains, else the last one. KubeVirt writes JSON with `level`, `msg` and `reason`, other containers klog or plain
 * text. Undefined for an empty log.
 */
export function lastLine(log: string): string | undefined {
  const lines = log.split('\n').map(readable).filter(Boolean)
  const panic = lines.findLast((line) => /^(panic|fatal error):/.test(line))
  const last = panic ?? complaint(log) ?? lines.at(-1)
  return last === undefined || last.length <= longest ? last : `${last.slice(0, longest - 1)}…`
}

/** The last line that is an error or worse; undefined where none says so. */
export function complaint(log: string): string | undefined {
  return log.split('\n').filter(complains).map(readable).findLast(Boolean)
}

const bad = new Set(['error', 'fatal', 'panic', 'critical'])

function complains(line: string): boolean {
  const level = parsed(line)?.['level']
  return typeof level === 'string' ? bad.has(level) : /^[EF]\d{4} /.test(line)
}

function readable(line: string): string {
  const json = parsed(line)
  const text = json ? said(json) : line.replace(/^[IWEF]\d{4} \S+\s+\d+ [^\]]+\] /, '')
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}

function said({ msg, message, reason, error, err }: Record<string, unknown>): string {
  return [msg ?? message, reason ?? error ?? err].filter((part) => typeof part === 'string').join(': ')
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
