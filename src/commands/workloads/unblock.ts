import { narrowedLine } from '../../lib/output/kvup-words.ts'
import type { Context, Wire } from '../../context.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import {
  type Asked,
  type Candidate,
  candidatesOf,
  isToUnblock,
  itemOf,
  unblockDocument,
  unblockFindings,
  type UnblockItem,
  unblockProcedure,
} from '../../lib/vms/unblock/unblock-vms.ts'
import { unblockView } from '../../lib/output/views/vms/paused-updates.ts'
import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { gateOf, runChange } from '../run-change.ts'
import { type ChangeOptions, runEnvironment } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import { clusterEvictionOf, ensurePlace, namespaceOf } from '../../lib/vms/vm.ts'
import { overrideId, restoreAllLine } from '../../lib/vms/update-methods.ts'
import { asksCluster, KvupCommand } from '../command-options.ts'

export interface UnblockOptions extends ChangeOptions {
  all?: boolean
}

export function unblockCommand(wire: Wire): KvupCommand {
  return new KvupCommand('unblock')
    .argument('[vm...]', 'names of VMs in the namespace of -n')
    .option('--all', 'every VM that blocks, in the namespace of -n or in all')
    .changeFlags('how long to try at most', '10m')
    .manual({
      examples: [
        ['kvup workloads unblock --all --dry-run=client', 'which VMs block, and what would change on each'],
        ['kvup workloads unblock --all', 'change them, after a question'],
      ],
      more:
        'A VM that cannot be migrated and whose evictionStrategy is LiveMigrate blocks drains forever.\n' +
        'Its evictionStrategy becomes None, and its runStrategy Always where it would not start again;\n' +
        'kvup restore-settings resets both. It takes effect when the VM is restarted, and nothing\n' +
        'is restarted here.',
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire<UnblockOptions, [string[]]>(unblock))
}

/** Lends each VM what lets it be evicted; the override is on the VM. Throws `usage` where no VM is named, `blocked` for one that does not exist. */
export async function unblock(
  cx: Context,
  options: UnblockOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const asked = askedFor(cx, options, names)
  const timeoutMs = parseDuration(options.timeout)
  const cluster = await cx.cluster()
  const { kubevirt, namespace } = theInstallation(await takeSnapshot(cluster.reader, [], cx.clock))
  const clusterEviction = clusterEvictionOf(kubevirt)
  const { candidates, bare } = await found({ cluster, asked, clusterEviction })
  const environment = runEnvironment(cx, cluster, { namespace, takeOver: options.takeOver })
  const lending = { who: cx.world.who, clusterEviction }
  const procedure = unblockProcedure(candidates.filter(isToUnblock), lending)
  const changing = candidates.filter(isToUnblock)
  const itemsAs = (outcome: UnblockItem['outcome']) => candidates.map((one) => itemOf(one, outcome))
  return runChange(cx, {
    environment,
    change: {
      procedure,
      ...gateOf(cx, unblockFindings(changing.map(({ read }) => read)), parseAccepted(options.accept)),
      rights: workloadsAccess(namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
      announce: () => announce(cx, changing),
      question: `Change ${countText(changing.length)} so that they can be evicted?`,
      limits: { timeoutMs },
    },
    view: unblockView,
    dryRun: {
      mode: options.dryRun,
      report: (fields) => ({ ...unblockDocument(itemsAs('would-unblock'), bare), ...fields }),
      refusesNothing: true,
    },
    async report() {
      const held = (await environment.journal.overrides()).find(({ id }) => id === overrideId)
      return { ...unblockDocument(itemsAs('unblocked'), bare), restore: restoreAllLine(held) }
    },
  })
}

interface SnapshotOptions {
  cluster: Cluster
  asked: Asked
  clusterEviction: string | undefined
}

async function found({ cluster, asked, clusterEviction }: SnapshotOptions) {
  const { candidates, bare } = await candidatesOf(cluster.reader, asked, clusterEviction)
  if (candidates.length + bare.length === 0) await ensurePlace({ cluster }, asked)
  return { candidates, bare }
}

const countText = (count: number) => (count === 1 ? '1 VM' : `${count} VMs`)

function askedFor(cx: Context, { all }: UnblockOptions, names: readonly string[]): Asked {
  const namespace = namespaceOf(cx.flags.namespace)
  const selection = namespace === undefined ? {} : { namespace }
  if (all && names.length > 0) throw usageError('contradiction', '--all and names exclude each other')
  if (all) return { all, namespace }
  if (names.length === 0)
    throw usageError('which-vms', 'which VMs? Name them, or use --all', {
      remedy: [
        `${narrowedLine('kvup workloads unblock --all', selection)} --dry-run=client     shows which VMs block`,
        'kvup workloads unblock --help',
      ],
    })
  if (namespace === undefined)
    throw usageError('which-namespace', 'in which namespace? Names of VMs need -n', {
      remedy: `kvup workloads unblock ${names.join(' ')} -n NAMESPACE`,
    })
  return { all: false, namespace, names: [...new Set(names)] }
}

/** So many are told before the question; a dry run shows all. */
const toldAtMost = 20

function announce({ printer }: Context, changing: readonly Candidate[]): void {
  for (const { ref, changes } of changing.slice(0, toldAtMost))
    printer.note(`${ref.namespace}/${ref.name}: ${changes.join(', ')}`)
  if (changing.length > toldAtMost)
    printer.note(`and ${changing.length - toldAtMost} more (--dry-run=client shows all)`)
  printer.note('it takes effect when a VM is restarted: until then it is RestartRequired, and hotplug waits')
}
