import { seal } from './lib/output/document.ts'
import { errorLines } from './lib/output/error-text.ts'
import { formatAsked } from './lib/output/format.ts'
import { jsonText } from './lib/output/json-text.ts'
import { paintFor } from './lib/output/paint.ts'
import { yamlText } from './lib/output/yaml-text.ts'
import { KvupError, usageError } from './lib/system/errors.ts'
import { exitCode } from './lib/system/exit-codes.ts'

interface Streams {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Reports what went wrong before a printer could be opened; with `-o json` or `yaml` as one document on stdout as well. */
export function reportEarly(error: unknown, argv: readonly string[], { stdout, stderr }: Streams): number {
  const paint = paintFor({ colour: false, unicode: true })
  stderr.write(`${errorLines(error, paint).join('\n')}\n`)
  stdout.write(documentFor(error, argv))
  return error instanceof KvupError ? error.exitCode : exitCode.bug
}

/** What commander found wrong with the words that were typed; it has said so on stderr already. */
export function reportUsage(message: string, argv: readonly string[], { stdout }: Streams): number {
  stdout.write(documentFor(usageError('usage', message.replace(/^error: /u, '')), argv))
  return exitCode.usage
}

function documentFor(error: unknown, argv: readonly string[]): string {
  const { is } = formatAsked(argv)
  const document = seal({ apiVersion: 'kvup.io/v1alpha1', kind: 'Error' }, 'failed', error)
  if (is === 'yaml') return yamlText(document, true)
  return is === 'json' || is === 'ndjson' ? `${jsonText(document).trimEnd()}\n` : ''
}
