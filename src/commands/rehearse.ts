import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { acceptWithReason, asksCluster, fromOption, KvupCommand } from './command-options.ts'
import type { RehearseOptions } from './rehearse/rehearse.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: RehearseOptions) =>
  (await import('./rehearse/rehearse.ts')).rehearse(cx, options)

export function rehearseCommand(wire: Wire): KvupCommand {
  return new KvupCommand('rehearse')
    .addOption(new Option('--to <version>', 'version of KubeVirt'))
    .addOption(
      new Option('--method <method>', 'how it would be done')
        .choices(['auto', 'image-tag', 'operator-manifest'])
        .default('auto'),
    )
    .addOption(new Option('--via <versions>', 'releases in between: v1.6.6,v1.7.4'))
    .addOption(new Option('--stable-for <duration>', 'time KubeVirt must stay healthy (default 30s)'))
    .addOption(new Option('--timeout <duration>', 'limit of each minor, as of kvup upgrade'))
    .addOption(new Option('--leave-paused', 'leave automatic VM updates paused at the end'))
    .addOption(fromOption())
    .addOption(
      new Option('--seed <number>', 'luck of the twin: the same number makes the same rehearsal').default(
        '1',
      ),
    )
    .addOption(new Option('--to-file <file>', 'save the rehearsal, for kvup upgrade --rehearsal'))
    .addOption(acceptWithReason())
    .manual({
      examples: [
        ['kvup rehearse --to v1.8.4', 'play the upgrade on a twin of this cluster'],
        ['kvup rehearse --to v1.8.4 --from cluster.ndjson.gz', 'on a twin of a saved cluster'],
        ['kvup rehearse --to v1.8.4 --to-file r.json', 'save it for kvup upgrade --rehearsal'],
      ],
      more: `The twin is a simulated cluster in this process, made from what kvup reads.
Nothing is changed in the cluster. What OLM or HyperConverged brings is not rehearsed: kvup plan.
QEMU, libvirt, storage and guests are not in the twin.`,
      codes: [...asksCluster, 'timedOut'],
    })
    .action(wire<RehearseOptions, []>(lazyAction))
}
