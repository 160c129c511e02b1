import { Command } from 'commander'
import type { Context, Wire } from '../../context.ts'
import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import { type UnblockDocument, type UnblockItem, unblockView } from '../../lib/output/views/vms/unblock.ts'
import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { gateOf, runChange } from '../run-change.ts'
import { runEnvironment } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/accepted-risks.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { blocked, type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import { clusterEvictionOf, lostData } from '../../lib/vms/vm.ts'
import { restoreUpdatesLine, overrideId } from '../../lib/vms/update-methods.ts'
import { narrowedLine, shellWord } from '../../lib/kube/shell-line.ts'
import {
  type Blocking,
  blockingOf,
  listBlockers,
  unblockFindings,
  unblockStep,
} from '../../lib/vms/unblock/unblock-vms.ts'
import { asksCluster, manual } from '../command-options.ts'
import { namespaceOf, noSuchPlace } from '../../lib/vms/vm-selection.ts'
import {
  fieldName,
  overriddenText,
  type VmRead,
  type VmRef,
  readVms,
} from '../../lib/vms/unblock/vm-overrides.ts'
import { type ChangeOptions, withChangeFlags } from '../change-options.ts'

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

const procedureName = 'unblock VMs'

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
  const environment = runEnvironment(cx, cluster, { namespace, takeOver: options.takeOver })
  const lending = { who: cx.world.who, clusterEviction }
  const procedure = procedureOn(candidates.filter(isToUnblock), lending)
  const changing = candidates.filter(isToUnblock)
  const itemsAs = (outcome: UnblockItem['outcome']) => candidates.map((one) => itemOf(one, outcome))
  return runChange(cx, {
    environment,
    change: {
      procedure,
      gate: gateOf(unblockFindings(changing.map(({ read }) => read)), parseAccepted(options.accept)),
      rights: workloadsAccess(namespace, [{ kind: VirtualMachines, verb: 'patch' }]),
      announce: () => announce(cx, changing),
      question: `Change ${countText(changing.length)} so that they can be evicted?`,
      limits: { timeoutMs },
    },
    view: unblockView,
    dryRun: {
      mode: options.dryRun,
      report: (fields) => ({ ...documentOf(itemsAs('would-unblock'), bare), ...fields }),
      refusesNothing: true,
    },
    async report() {
      const held = (await environment.journal.loans()).find(({ id }) => id === overrideId)
      return { ...documentOf(itemsAs('unblocked'), bare), giveBack: restoreUpdatesLine(held) }
    },
  })
}

interface SnapshotOptions {
  cluster: Cluster
  asked: Asked
  clusterEviction: string | undefined
}

async function found({ printer }: Context, { cluster, asked, clusterEviction }: SnapshotOptions) {
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
    name: procedureName,
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

function announce({ printer }: Context, changing: readonly Candidate[]): void {
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

/** The VMs that a person means. */
export type Asked =
  | { all: true; namespace: string | undefined }
  | { all: false; namespace: string; names: readonly string[] }

/** One of them, and what is to be done about it. */
export interface Candidate {
  ref: VmRef
  read: VmRead
  blocking: Blocking
  /** `evictionStrategy None (was LiveMigrate)`. */
  changes: readonly string[]
}

export const isToUnblock = ({ blocking }: Candidate): boolean => blocking.is === 'blocks'

/** Throws `blocked` for a name that no VM has. */
export async function candidatesOf(
  reader: Reader,
  asked: Asked,
  clusterEviction: string | undefined,
): Promise<{ candidates: readonly Candidate[]; bare: readonly VmRef[] }> {
  const { namespace } = asked
  const { machines, bare } = asked.all
    ? await listBlockers(reader, { namespace, clusterEviction })
    : { machines: asked.names.map((name) => ({ namespace: asked.namespace, name })), bare: [] }
  const reads = await readVms(reader, machines)
  const missing = machines.filter((_, index) => reads[index]?.vm === undefined)
  const [first] = missing
  if (first !== undefined && !asked.all) throw noSuchVm(first)
  const candidates = machines.flatMap((ref, index) => {
    const read = reads[index]
    if (read?.vm === undefined) return []
    const blocking = blockingOf(read.vm, read.vmi, { clusterEviction })
    return [
      {
        ref,
        read,
        blocking,
        changes: blocking.is === 'blocks' ? blocking.overrides.map(overriddenText) : [],
      },
    ]
  })
  return { candidates, bare: [...bare, ...missing] }
}

function noSuchVm({ namespace, name }: VmRef): Error {
  return blocked('no-such-vm', `there is no VM ${name} in namespace ${namespace}`, {
    object: `virtualmachines/${name} in namespace ${namespace}`,
    remedy: `kubectl -n ${shellWord(namespace)} get vms`,
  })
}

/** How it is told; `done` is the outcome of one that is to be unblocked. */
export function itemOf(
  { ref, read, blocking, changes }: Candidate,
  done: UnblockItem['outcome'],
): UnblockItem {
  const restart = `virtctl restart ${shellWord(ref.name)} -n ${shellWord(ref.namespace)}`
  if (blocking.is === 'free') return { ...ref, outcome: 'not-blocking', why: blocking.why }
  if (blocking.is === 'refused') return { ...ref, outcome: 'refused', why: blocking.why, reason: blocking.id }
  if (blocking.is === 'unblocked')
    return { ...ref, outcome: 'already-unblocked', ...(blocking.waits && { next: restart }) }
  const loses = read.vmi === undefined ? [] : lostData(read.vmi)
  return {
    ...ref,
    outcome: done,
    changes,
    lent: blocking.overrides.map(({ path, was, lent }) => ({
      path,
      field: fieldName(path),
      ...(was.present && { was: was.value }),
      lent,
    })),
    ...(loses.length > 0 && { loses }),
    next: restart,
  }
}
