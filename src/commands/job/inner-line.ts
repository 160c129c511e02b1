import { Command } from 'commander'
import type { Wire } from '../../context.ts'
import { isRecord } from '../../lib/kube/object.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { connection, outputOptions, typedConnection } from '../command-options.ts'
import { eusRunCommand } from '../eus.ts'
import { upgradeCommand } from '../upgrade.ts'
import { updateCommand } from '../workloads/update.ts'

/** A line that a Job is to run, as its own command reads it. */
export interface InnerLine {
  command: InnerCommand
  /** Its words, without the program; `-o ndjson` is the Job's. */
  words: readonly string[]
  options: Readonly<Record<string, unknown>>
}

type InnerCommand = 'upgrade' | 'eus run' | 'workloads update'

const innerCommands: readonly InnerCommand[] = ['upgrade', 'eus run', 'workloads update']

/**
 * Reads the line through the flags of its own command. Throws `usage` for a command that changes nothing or that nobody can leave alone, a flag that is not one, flags of the
 * connection, output that is not the Job's, and a line that would ask.
 */
export async function parseInnerLine(typed: readonly string[]): Promise<InnerLine> {
  const words = typed[0] === 'kvup' ? typed.slice(1) : typed
  const command = innerCommands.find((name) => name === words.slice(0, name.split(' ').length).join(' '))
  if (command === undefined) throw noSuchLine(words)
  const { root, options } = await read(words)
  refuseConnection(root, words)
  refuseOutput(root)
  const line = { command, words: withoutOutput(words), options }
  refuseQuestions(line, root.opts()['yes'] === true)
  return line
}

const example = 'kvup job --image IMAGE@sha256:DIGEST -- upgrade --plan plan.yaml --yes'

function noSuchLine(words: readonly string[]): Error {
  if (words.length === 0)
    return usageError('no-line', 'name the line that the Job is to run, behind --', { remedy: example })
  return usageError(
    'line-not-for-job',
    `a Job runs ${innerCommands.join(', ')}, not ${shellWord(words.slice(0, 2).join(' '))}`,
    { remedy: example },
  )
}

async function read(words: readonly string[]): Promise<{ root: Command; options: InnerLine['options'] }> {
  let options: InnerLine['options'] = {}
  const wire: Wire =
    () =>
    async (...all) => {
      const command: unknown = all.at(-1)
      if (command instanceof Command) options = command.opts()
    }
  const root = new Command('kvup')
  for (const option of [...connection, ...outputOptions]) root.addOption(option)
  root
    .addCommand(upgradeCommand(wire))
    .addCommand(new Command('eus').addCommand(eusRunCommand(wire)))
    .addCommand(new Command('workloads').addCommand(updateCommand(wire)))
  quiet(root)
  try {
    await root.parseAsync([...words], { from: 'user' })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^error: /u, '') : String(cause)
    throw usageError('line-not-read', `the line behind -- cannot be read: ${why}`, { remedy: example, cause })
  }
  return { root, options }
}

function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
  command.commands.forEach(quiet)
}

function refuseConnection(root: Command, words: readonly string[]): void {
  const [flag] = typedConnection(root, connection)
  if (flag === undefined) return
  const [name = ''] = flag.names
  throw usageError(
    'line-names-cluster',
    `${name} is not for a Job: in its pod kvup uses the service account of the cluster that it runs in`,
    {
      remedy: `move ${name} in front of --: kvup job makes the Job there (the line was: ${shellWord(words.join(' '))})`,
    },
  )
}

function refuseOutput(root: Command): void {
  const { output, logFile } = root.opts<{ output: string; logFile?: string }>()
  if (root.getOptionValueSource('output') === 'cli' && output !== 'ndjson')
    throw usageError('line-output', `the log of a Job is ndjson, not ${output}: omit -o behind --`)
  if (logFile !== undefined)
    throw usageError('line-output', '--log-file is not for a Job: the cluster has its log', {
      remedy: 'kubectl logs     shows it',
    })
}

/** It is added once, at the end. */
function withoutOutput(words: readonly string[]): string[] {
  return words.filter(
    (word, index) =>
      !/^(?:-o|--output)(?:=?ndjson)?$/u.test(word) &&
      !(word === 'ndjson' && /^(?:-o|--output)$/u.test(words[index - 1] ?? '')),
  )
}

/** Nobody is there to answer. */
function refuseQuestions({ command, words, options }: InnerLine, yes: boolean): void {
  const again = (...more: string[]) =>
    `kvup job --image IMAGE@sha256:DIGEST -- ${[...words.map(shellWord), ...more].join(' ')}`
  if (command === 'upgrade' && options['to'] === undefined && options['plan'] === undefined)
    throw usageError(
      'line-asks',
      'the line names no version: without --plan or --to it asks for one, and a Job has nobody to answer',
      {
        remedy: again('--plan', 'plan.yaml', ...(yes ? [] : ['--yes'])),
      },
    )
  if (!yes)
    throw usageError(
      'line-asks',
      'the line asks before it changes anything, and a Job has nobody to answer',
      {
        remedy: again('--yes'),
      },
    )
  const dryRun = options['dryRun']
  if (dryRun !== undefined && dryRun !== 'none')
    throw usageError('line-not-for-job', '--dry-run changes nothing: run that line here, without a Job')
}

/** The value of a flag where it was typed as one text. */
export function valueOf({ options }: InnerLine, name: string): string | undefined {
  const value = isRecord(options) ? options[name] : undefined
  return typeof value === 'string' ? value : undefined
}
