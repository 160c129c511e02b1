import { Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { acceptWithReason, asksCluster, fromOption, list, manual } from './command-options.ts'
import type { RehearseOptions } from './rehearse/rehearse.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: RehearseOptions) =>
  (await import('./rehearse/rehearse.ts')).rehearse(cx, options)

export function rehearseCommand(wire: Wire): Command {
  return new Command('rehearse')
    .addOption(
      new Option('--to <version>', 'version of KubeVirt or its operator; with --eus a minor, such as 4.20'),
    )
    .addOption(
      new Option('--method <method>', 'how it would be done')
        .choices(['auto', 'image-tag', 'operator-manifest', 'olm'])
        .default('auto'),
    )
    .addOption(new Option('--eus', 'play the EUS upgrade of OKD or OpenShift: kvup eus run'))
    .addOption(
      new Option('--catalog-file <file>', 'file-based catalog with the upgrade path of the operator'),
    )
    .addOption(new Option('--graph-file <file>', 'graph of the update service (JSON), for --eus'))
    .addOption(
      new Option('--approval <how>', 'approval of the Subscription meanwhile, for --eus').choices([
        'Manual',
        'Automatic',
      ]),
    )
    .addOption(
      new Option('--approve-also <name>', 'what else an InstallPlan may install (repeatable)').argParser(
        list,
      ),
    )
    .addOption(new Option('--via <versions>', 'releases in between: v1.6.6,v1.7.4'))
    .addOption(new Option('--stable-for <duration>', 'time KubeVirt must stay healthy (default 30s)'))
    .addOption(new Option('--timeout <duration>', 'limit of each minor, as of kvup upgrade'))
    .addOption(new Option('--leave-paused', 'leave automatic VM updates paused at the end'))
    .addOption(fromOption())
    .addOption(
      new Option('--fault <name>', 'what goes wrong during the upgrade (repeatable)')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      new Option('--faults <names>', 'each of these faults in a rehearsal of its own: all, or NAME,NAME'),
    )
    .addOption(
      new Option('--seed <number>', 'luck of the twin: the same number makes the same rehearsal').default(
        '1',
      ),
    )
    .addOption(new Option('--to-file <file>', 'save the rehearsal, for kvup upgrade --rehearsal'))
    .addOption(new Option('--serve', 'play nothing: keep the twin for kvup and kubectl until Ctrl-C'))
    .addOption(new Option('--speed <factor>', 'with --serve, how fast its time runs (default 1)'))
    .addOption(acceptWithReason())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup rehearse --to v1.8.4', 'play the upgrade on a twin of this cluster'],
          ['kvup rehearse --to v1.8.4 --from cluster.ndjson.gz', 'on a twin of a saved cluster'],
          ['kvup rehearse --to v1.8.4 --fault missing-image', 'and what a fault does'],
          ['kvup rehearse --to v1.8.4 --to-file r.json', 'save it for kvup upgrade --rehearsal'],
          ['kvup rehearse --to v1.8.4 --faults all', 'what each fault does, one after the other'],
        ],
        more: `The twin is a simulated cluster in this process, made from what kvup reads.
Nothing is changed in the cluster. QEMU, libvirt, storage and guests are not in the twin.`,
        codes: [...asksCluster, 'timedOut'],
      }),
    )
    .action(wire<RehearseOptions, []>(lazyAction))
}
