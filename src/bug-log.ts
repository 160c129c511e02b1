import { mkdtempSync, writeFileSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { redactBody } from './lib/cluster/http/redact.ts'
import { sanitise } from './lib/output/sanitise.ts'
import { Unforeseen } from './lib/system/errors.ts'
import { kvupVersion } from './lib/system/version.ts'

export interface Circumstances {
  /** As it was typed. */
  commandLine: string
  node: string
  platform: string
  at: Date
}

/**
 * What was not foreseen, with the file that holds its stack and its circumstances: readable by this user alone, nothing secret in
 * it. Where no file can be written the error is returned as it is.
 */
export function withBugLog(error: unknown, circumstances: Circumstances): unknown {
  try {
    const file = join(mkdtempSync(join(tmpdir(), 'kvup-bug-')), 'kvup.log')
    writeFileSync(file, logOf(error, circumstances), { mode: 0o600, flag: 'wx' })
    return new Unforeseen(error, file)
  } catch {
    return error
  }
}

function logOf(error: unknown, { commandLine, node, platform, at }: Circumstances): string {
  const lines = [
    `kvup ${kvupVersion}, Node ${node}, ${platform} ${release()}, ${at.toISOString()}`,
    commandLine,
    ...causes(error),
  ]
  return `${sanitise(redactBody(lines.join('\n'), ''))}\n`
}

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const text = error.stack ?? error.message
  return error.cause === undefined ? [text] : [text, 'caused by', ...causes(error.cause)]
}
