import { exitCode } from './lib/system/exit-codes.ts'
import { KvupError } from './lib/system/errors.ts'

interface Streams {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Reports what went wrong before a printer could be opened; with `-o json` as one document on stdout as well. */
export function reportEarly(error: unknown, argv: readonly string[], { stdout, stderr }: Streams): number {
  const { code, reason, message, remedy } = described(error)
  stderr.write(`error: ${message}\n${remedy.map((line) => `  → ${line}\n`).join('')}`)
  if (wantsJson(argv)) stdout.write(documentOf(code, reason, message))
  return code
}

function described(error: unknown): Pick<KvupError, 'reason' | 'message' | 'remedy'> & { code: number } {
  if (error instanceof KvupError)
    return { code: error.exitCode, reason: error.reason, message: error.message, remedy: error.remedy }
  const message = error instanceof Error ? error.message : String(error)
  const remedy = ['this is a bug in kvup: please report it with the command that you typed']
  return { code: exitCode.bug, reason: 'bug', message, remedy }
}

/** What commander found wrong with the words that were typed; it has said so on stderr already. */
export function reportUsage(message: string, argv: readonly string[], { stdout }: Streams): number {
  if (wantsJson(argv)) stdout.write(documentOf(exitCode.usage, 'usage', message.replace(/^error: /u, '')))
  return exitCode.usage
}

function documentOf(code: number, reason: string, message: string): string {
  const error = { code, reason, message }
  return `${JSON.stringify({ apiVersion: 'kvup.io/v1alpha1', kind: 'Error', status: 'failed', error }, null, 2)}\n`
}

function wantsJson(argv: readonly string[]): boolean {
  return /(?:^| )(?:-o ?|--output[= ])json(?: |$)/u.test(argv.join(' '))
}
