import { Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { jobNamespace } from '../lib/job/job-objects.ts'
import { usageError } from '../lib/kube/errors.ts'
import { shellWord } from '../lib/kube/shell-line.ts'
import { asksCluster, list, manual } from './command-options.ts'
import type { DeleteOptions, LogsOptions, StatusOptions } from './job/manage-job.ts'
import type { MakeOptions } from './job/make-job.ts'
import type { UnpackOptions } from './job/unpack.ts'

/** Loaded when it runs: help does without. */
const makeAction = async (cx: Context, options: MakeOptions, line: string[]) =>
  (await import('./job/make-job.ts')).makeJob(cx, options, line)

/** `kvup job -- LINE` makes one; its subcommands look after it. */
export function jobCommand(wire: Wire): Command {
  const command = new Command('job').argument('[line...]', 'the line that it runs, behind --')
  for (const option of [...makingFlags(), ...placeFlags()]) command.addOption(option)
  return command
    .addCommand(statusCommand(wire))
    .addCommand(logsCommand(wire))
    .addCommand(deleteCommand(wire))
    .addHelpText('after', text)
    .hook('preAction', (_, typed) => ensureLine(typed))
    .action(wire<MakeOptions, [string[]]>(makeAction))
}

const text = manual({
  examples: [
    ['kvup job --image $IMAGE -- upgrade --plan plan.yaml --yes', 'print what runs it'],
    ['kvup job status', 'how far it is'],
    ['kvup job logs', 'what its last pod said'],
    ['kvup job delete', 'removes it with all its rights'],
  ],
  more: `Prints what a cluster needs to run the line itself, for kubectl apply -f -, or applies it with
--apply: a namespace, a service account with the rights of this line alone, its files, and a Job.
The line is kvup upgrade, eus run or workloads update, with --yes. A pod that ends with 4, 8, 130
or 143 is followed by another one, which continues. With --schedule a sealed plan is a CronJob.`,
  codes: asksCluster,
})

/** The first word of a line that a Job can run; what is typed in its place is a subcommand that does not exist. Throws `usage`. */
function ensureLine(command: Command): void {
  const [first] = command.args
  if (command.name() !== 'job' || first === undefined) return
  if (['kvup', 'upgrade', 'eus', 'workloads'].includes(first)) return
  throw usageError(
    'line-not-for-job',
    `kvup job has no command ${shellWord(first)}, and a Job runs upgrade, eus run or workloads update`,
    { remedy: 'kvup job --help' },
  )
}

/**
 * A subcommand hands its flags to the command above it where both have them, wherever they stand. What only makes a Job is refused, for it would be passed over. Throws `usage`.
 */
function takeFlags(command: Command): void {
  const { parent } = command
  if (parent === null) return
  for (const option of parent.options) {
    const name = option.attributeName()
    if (parent.getOptionValueSource(name) !== 'cli') continue
    if (!command.options.some(({ long }) => long === option.long))
      throw usageError(
        'contradiction',
        `${option.long} makes a Job, and no Job runs ${command.name()}: a Job runs upgrade, eus run or workloads update`,
        {
          remedy: [
            `kvup job ${command.name()}     is for a Job that is there, without ${option.long}`,
            'kvup job --image IMAGE@sha256:DIGEST -- upgrade --plan plan.yaml --yes     makes one',
          ],
        },
      )
    command.setOptionValueWithSource(name, parent.getOptionValue(name), 'cli')
  }
}

const placeFlags = (): Option[] => [
  new Option('--job-namespace <namespace>', 'namespace that it runs in').default(jobNamespace),
  new Option('--name <name>', 'name of the Job (default by its line)'),
]

const makingFlags = (): Option[] => [
  new Option('--image <name@digest>', 'image of kvup, by its digest'),
  new Option('--apply', 'apply it, instead of printing it'),
  new Option('--schedule <cron>', "with upgrade --plan: begin then, such as '0 22 * * 6'"),
  new Option('--time-zone <zone>', 'of the schedule, such as Europe/Prague'),
  new Option('--namespace-of-kubevirt <namespace>', 'do not ask the cluster for it'),
  new Option('--namespace-of-catalog <namespace>', 'where OLM has the catalog of HyperConverged'),
]

/** A subcommand that looks after the Job of a place. */
function placed(name: string): Command {
  const command = new Command(name).hook('preAction', (_, typed) => takeFlags(typed))
  for (const option of placeFlags()) command.addOption(option)
  return command
}

const statusAction = async (cx: Context, options: StatusOptions) =>
  (await import('./job/manage-job.ts')).jobStatus(cx, options)

function statusCommand(wire: Wire): Command {
  return placed('status')
    .description('Show how far a Job of kvup is, and why it does not go on')
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup job status', 'the Job in namespace kvup-run'],
          ['kvup job status -o json', 'with every pod, as JSON'],
        ],
        codes: asksCluster,
      }),
    )
    .action(wire<StatusOptions, []>(statusAction))
}

const logsAction = async (cx: Context, options: LogsOptions) =>
  (await import('./job/manage-job.ts')).jobLogs(cx, options)

function logsCommand(wire: Wire): Command {
  return placed('logs')
    .description('Print what a pod of a Job said, as ndjson')
    .addOption(new Option('--pod <name>', 'of this pod (default the newest)'))
    .addOption(new Option('--tail <lines>', 'only the last lines'))
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup job logs', 'of its newest pod'],
          ['kvup job logs --tail 20', 'the last 20 lines'],
        ],
        codes: asksCluster,
      }),
    )
    .action(wire<LogsOptions, []>(logsAction))
}

const deleteAction = async (cx: Context, options: DeleteOptions) =>
  (await import('./job/manage-job.ts')).deleteJob(cx, options)

function deleteCommand(wire: Wire): Command {
  return placed('delete')
    .description('Remove a Job with its bindings, roles, account and files')
    .addOption(
      new Option('--accept <id>', 'accept a risk by ID: job-running').argParser(list).default([], 'none'),
    )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup job delete', 'asks first'],
          ['kvup job delete --yes', 'for a script'],
        ],
        more: 'It leaves the journal of the run, which kvup history shows, and the namespace.',
        codes: asksCluster,
      }),
    )
    .action(wire<DeleteOptions, []>(deleteAction))
}

const unpackAction = async (cx: Context, options: UnpackOptions, files: string[]) =>
  (await import('./job/unpack.ts')).unpack(cx, options, files)

/** What a pod does first: its files, verified. */
export function unpackCommand(wire: Wire): Command {
  return new Command('__unpack')
    .argument('<files...>', 'PATH=SHA256')
    .requiredOption('--from <folder>', 'where they lie compressed, by their sha256')
    .requiredOption('--into <folder>', 'where the line finds them')
    .action(wire<UnpackOptions, [string[]]>(unpackAction))
}
