import { seal } from './lib/output/printer.ts'
import { errorLines } from './lib/output/error-text.ts'
import { formatAsked, jsonLine, jsonText } from './lib/output/formats/output-format.ts'
import { inLocale, isUnicode, paintFor, printedLine } from './lib/output/terminal.ts'
import { yamlText } from './lib/output/formats/yaml-text.ts'
import { exitCode, KvupError, usageError } from './lib/kube/errors.ts'
import { type KnownCommand, usageRemedy, usageText } from './lib/output/usage-remedy.ts'

interface Streams {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  env?: Readonly<Record<string, string | undefined>>
}

/** Reports what went wrong before a printer could be opened; with `-o json` or `yaml` as one document on stdout as well. */
export function reportEarly(error: unknown, argv: readonly string[], streams: Streams): number {
  tell(error, streams)
  streams.stdout.write(documentFor(error, argv))
  return error instanceof KvupError ? error.exitCode : exitCode.bug
}

/** What commander found wrong with the words that were typed. Where a command is missing, it has printed the help. */
export function reportUsage(
  { message, code }: { message: string; code: string },
  { argv, cli, io }: { argv: readonly string[]; cli: KnownCommand; io: Streams },
): number {
  const isHelp = code === 'commander.help'
  const [what = ''] = message.replace(/^error: /u, '').split('\n')
  const error = usageError('usage', isHelp ? 'a command is missing' : usageText(what), {
    remedy: usageRemedy({ code, message, argv, root: cli }),
  })
  if (!isHelp) tell(error, io)
  io.stdout.write(documentFor(error, argv))
  return exitCode.usage
}

function tell(error: unknown, { stderr, env = {} }: Streams): void {
  const paint = paintFor({ colour: false, unicode: isUnicode(env) })
  const lines = errorLines(error, paint).map((line) => inLocale(printedLine(line), paint))
  stderr.write(`${lines.join('\n')}\n`)
}

function documentFor(error: unknown, argv: readonly string[]): string {
  const { is } = formatAsked(argv)
  const document = seal({ apiVersion: 'kvup.io/v1alpha1', kind: 'Error' }, 'failed', error)
  if (is === 'yaml') return yamlText(document, true)
  if (is === 'ndjson') return jsonLine(document)
  return is === 'json' ? jsonText(document) : ''
}
