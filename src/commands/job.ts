import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { jobNamespace } from '../lib/job/job-objects.ts'
import { asksCluster, KvupCommand, type Manual } from './command-options.ts'
import type { MakeOptions } from './job/make-job.ts'
import type { UnpackOptions } from './job/unpack.ts'

/** Loaded when it runs: help does without. */
const makeAction = async (cx: Context, options: MakeOptions, line: string[]) =>
  (await import('./job/make-job.ts')).makeJob(cx, options, line)

/** `kvup job -- LINE` prints one; what looks after it is kubectl. */
export function jobCommand(wire: Wire): KvupCommand {
  return new KvupCommand('job')
    .argument('[line...]', 'the line that it runs, behind --')
    .option('--image <name@digest>', 'image of kvup, by its digest')
    .addOption(new Option('--job-namespace <name>', 'namespace that is made for it').default(jobNamespace))
    .option('--name <name>', 'name of the Job (default by its line)')
    .option('--namespace-of-kubevirt <namespace>', 'do not ask the cluster for it')
    .option('--namespace-of-catalog <namespace>', 'where OLM has the catalog of HyperConverged')
    .manual(text)
    .action(wire<MakeOptions, [string[]]>(makeAction))
}

const text: Manual = {
  examples: [
    ['kvup job --image $IMAGE -- upgrade --plan plan.yaml --yes >job.yaml', 'what runs it'],
    ['kvup job --image $IMAGE -- workloads update --yes', 'what moves the VMs'],
  ],
  more: `Prints what a cluster needs to run the line itself, for kubectl create -f job.yaml: a namespace, a
service account with the rights of this line alone, its files, and a Job. All names end alike, as
nothing else does. The last line of it deletes all of it. The line is kvup upgrade, eus run or
workloads update, with --yes. A pod that ends with 4, 8, 130 or 143 is followed by another one.`,
  codes: asksCluster,
}

const unpackAction = async (cx: Context, options: UnpackOptions, files: string[]) =>
  (await import('./job/unpack.ts')).unpack(cx, options, files)

/** What a pod does first: its files, verified. */
export function unpackCommand(wire: Wire): KvupCommand {
  return new KvupCommand('__unpack')
    .argument('<files...>', 'PATH=SHA256')
    .requiredOption('--from <folder>', 'where they lie compressed, by their sha256')
    .requiredOption('--into <folder>', 'where the line finds them')
    .action(wire<UnpackOptions, [string[]]>(unpackAction))
}
