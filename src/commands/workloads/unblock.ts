import { Command } from 'commander'
import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { type UnblockDocument, type UnblockItem, unblockView } from '../../lib/output/views/unblock.ts'
import { theInstallation } from '../../lib/facts/installation.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import { VirtualMachines } from '../../lib/cluster/kinds/virtual-machines.ts'
import type { Procedure } from '../../lib/procedure/step.ts'
import { carryOut, type Work } from '../../lib/run/carry-out.ts'
import { parseAccepted } from '../../lib/run/gate.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { usageError } from '../../lib/system/errors.ts'
import { exitCode, type ExitCode } from '../../lib/system/exit-codes.ts'
import { workloadsAccess } from '../../lib/upgrade/workloads-access.ts'
import { clusterEvictionOf } from '../../lib/workloads/cluster-eviction.ts'
import { giveBackLine } from '../../lib/workloads/held-lines.ts'
import { narrowedLine } from '../../lib/system/narrowed-line.ts'
import { unblockFindings } from '../../lib/workloads/unblock/findings.ts'
import { unblockStep } from '../../lib/workloads/unblock/unblock-step.ts'
import { loanId } from '../../lib/workloads/update-methods.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { handsOf } from '../upgrade/hands.ts'
import { type ChangeOptions, withChangeFlags } from './change-flags.ts'
import { rehearsed } from './dry-run.ts'
import { namespaceOf } from './outdated/selection.ts'
import { candidatesOf, type Asked, isToUnblock, itemOf, type Candidate } from './unblock/candidates.ts'
import { noSuchPlace } from './no-such-place.ts'
import { withResume } from './with-resume.ts'

export interface UnblockOptions extends ChangeOptions {
  all?: boolean
}

export function unblockCommand(wire: Wire): Command {
  return withChangeFlags(
    new Command('unblock')
      .argument('[vm...]', 'names of VMs in the namespace of -n')
      .option('--all', 'every VM that blocks, in the namespace of -n or in all'),
    'how long to try at most',
    '10m',
  )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup workloads unblock --all --dry-run=client', 'which VMs block, and what would change on each'],
          ['kvup workloads unblock --all', 'change them, after a question'],
        ],
        more:
          'A VM that cannot be migrated and whose evictionStrategy is LiveMigrate blocks drains for ever.\n' +
          'Its evictionStrategy becomes None, and its runStrategy Always where it would not come back;\n' +
          'kvup workloads restore gives both back. It takes effect when the VM is restarted, and nothing\n' +
          'is restarted here.',
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire<UnblockOptions, [string[]]>(unblock))
}

const name = 'unblock VMs'

/** Lends each VM what lets it be evicted; the loan is on the VM. Throws `usage` where no VM is named, `blocked` for one that does not exist. */
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
  const { candidates, bare } = await found(cx, { cluster, asked, clusterEviction })
  const hands = handsOf(cx, cluster, { namespace, takeOver: options.takeOver })
  const lending = { who: cx.world.who, clusterEviction }
  const procedure = procedureOn(candidates.filter(isToUnblock), lending)
  const print = (end: Partial<UnblockDocument>, items: readonly UnblockItem[]) =>
    cx.printer.result({ ...documentOf(items, bare), ...end }, unblockView)
  const dry = await rehearsed(cx, procedure, { hands, dryRun: options.dryRun })
  if (dry) {
    print(
      dry,
      candidates.map((one) => itemOf(one, 'would-unblock')),
    )
    return exitCode.done
  }
  const work: Work = {
    procedure,
    findings: unblockFindings(candidates.filter(isToUnblock).map(({ read }) => read)),
    accepted: parseAccepted(options.accept),
    rights: workloadsAccess(namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
    question: `Change ${countText(candidates.filter(isToUnblock).length)} so that they can be evicted?`,
    limits: { timeoutMs },
  }
  await withResume(cx, carryOut(work, { ...hands, announce: () => announce(cx, candidates) }))
  const held = (await hands.journal.loans()).find(({ id }) => id === loanId)
  print(
    { giveBack: giveBackLine(held) },
    candidates.map((one) => itemOf(one, 'unblocked')),
  )
  return exitCode.done
}

interface Looking {
  cluster: Cluster
  asked: Asked
  clusterEviction: string | undefined
}

async function found({ printer }: Context, { cluster, asked, clusterEviction }: Looking) {
  const { candidates, bare } = await candidatesOf(cluster.reader, asked, clusterEviction)
  if (candidates.length + bare.length === 0)
    for (const remark of await noSuchPlace({ cluster }, asked)) printer.warn(remark)
  return { candidates, bare }
}

const countText = (count: number) => (count === 1 ? '1 VM' : `${count} VMs`)

function askedFor(cx: Context, { all }: UnblockOptions, names: readonly string[]): Asked {
  const namespace = namespaceOf(cx.flags.namespace)
  const selection = namespace === undefined ? {} : { namespace }
  if (all && names.length > 0) throw usageError('contradiction', '--all and names exclude each other')
  if (all) return { all, namespace }
  if (names.length === 0)
    throw usageError('which-vms', 'which VMs? Name them, or say --all', {
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

function procedureOn(
  candidates: readonly Candidate[],
  lending: Parameters<typeof unblockStep>[1],
): Procedure {
  const steps = candidates.map(({ ref }) => unblockStep(ref, lending))
  return {
    name,
    loans: [],
    reached: async (reading) => {
      for (const step of steps) if ((await step.check(reading)).is !== 'done') return false
      return true
    },
    steps: async () => steps,
  }
}

/** So many are told before the question; a dry run shows all. */
const toldAtMost = 20

function announce({ printer }: Context, candidates: readonly Candidate[]): void {
  const changing = candidates.filter(isToUnblock)
  for (const { ref, changes } of changing.slice(0, toldAtMost))
    printer.note(`${ref.namespace}/${ref.name}: ${changes.join(', ')}`)
  if (changing.length > toldAtMost)
    printer.note(`and ${changing.length - toldAtMost} more (--dry-run=client shows all)`)
  printer.note(
    'it takes effect when a VM is restarted: until then RestartRequired is set on it, and hotplug waits',
  )
}

function documentOf(
  items: readonly UnblockItem[],
  bare: readonly { namespace: string; name: string }[],
): UnblockDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UnblockedWorkloads',
    items,
    ...(bare.length > 0 && { bare }),
  }
}
