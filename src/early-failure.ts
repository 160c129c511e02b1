import { seal } from './lib/output/document.ts'
import { errorLines } from './lib/output/error-text.ts'
import { formatAsked } from './lib/output/format.ts'
import { jsonLine, jsonText } from './lib/output/json-text.ts'
import { inLocale, isUnicode, paintFor } from './lib/output/paint.ts'
import { yamlText } from './lib/output/yaml-text.ts'
import { KvupError, usageError } from './lib/system/errors.ts'
import { exitCode } from './lib/system/exit-codes.ts'

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
  { argv, cli, io }: { argv: readonly string[]; cli: Named; io: Streams },
): number {
  const isHelp = code === 'commander.help'
  const [what = '', suggestion] = message.replace(/^error: /u, '').split('\n')
  const meant = /Did you mean (?:one of )?(?<names>.*)\?/u.exec(suggestion ?? '')?.groups?.['names']
  const error = usageError('usage', isHelp ? 'a command is missing' : what, {
    remedy: [...(meant === undefined ? [] : [`did you mean ${meant}?`]), helpLine(cli, argv)],
  })
  if (!isHelp) tell(error, io)
  io.stdout.write(documentFor(error, argv))
  return exitCode.usage
}

/** A command of the tree: all that is needed to name it. */
interface Named {
  name(): string
  readonly commands: readonly Named[]
}

/** The line that shows the help of the command that was meant, as far as its words are known. */
function helpLine(root: Named, argv: readonly string[]): string {
  const path = [root]
  for (const word of argv) {
    const child = path.at(-1)?.commands.find((command) => command.name() === word)
    if (child) path.push(child)
  }
  return `${path.map((command) => command.name()).join(' ')} --help`
}

function tell(error: unknown, { stderr, env = {} }: Streams): void {
  const paint = paintFor({ colour: false, unicode: isUnicode(env) })
  const lines = errorLines(error, paint).map((line) => inLocale(line, paint))
  stderr.write(`${lines.join('\n')}\n`)
}

function documentFor(error: unknown, argv: readonly string[]): string {
  const { is } = formatAsked(argv)
  const document = seal({ apiVersion: 'kvup.io/v1alpha1', kind: 'Error' }, 'failed', error)
  if (is === 'yaml') return yamlText(document, true)
  if (is === 'ndjson') return jsonLine(document)
  return is === 'json' ? jsonText(document) : ''
}
