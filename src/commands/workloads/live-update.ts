import { Argument } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { readerFor, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import {
  ensureSettable,
  rolloutChoice,
  rolloutDocument,
  setRollout,
  type VmRolloutDocument,
  type WantedRollout,
} from '../../lib/vms/rollout/rollout-strategy.ts'
import { noteText, vmRolloutView } from '../../lib/output/views/vms/vm-rollout.ts'
import { exitCode, type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { asksCluster, fromOption, KvupCommand } from '../command-options.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { KubeVirts } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { gateOf, runChange, tellScreen } from '../run-change.ts'
import { type Change, type ChangeOptions, runEnvironment } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { ownerOf } from '../../lib/upgrade/upgrade-plan.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import { onKubeVirt, ownerFinding } from '../../lib/vms/strategy/settings-owner.ts'

export interface ShowRolloutOptions {
  from?: string
}

export function showRolloutCommand(wire: Wire): KvupCommand {
  return new KvupCommand('show')
    .addOption(fromOption())
    .manual({
      examples: [
        ['kvup workloads live-update show', 'what a change of a VM does'],
        ["kvup workloads live-update show -o jsonpath='{.strategy}'", 'Stage or LiveUpdate'],
      ],
      codes: asksCluster,
    })
    .action(wire<ShowRolloutOptions, []>(showRollout))
}

/** Reads only. Throws `blocked` for no or several KubeVirts. */
export async function showRollout(cx: Context, { from }: ShowRolloutOptions = {}): Promise<ExitCode> {
  const { cluster, clock } = await readerFor(cx, from)
  const installation = theInstallation(await takeSnapshot(cluster.reader, [], clock))
  cx.printer.result(await rolloutDocument(cluster.reader, installation), vmRolloutView)
  return exitCode.done
}

export interface SetRolloutOptions extends ChangeOptions {
  addGate?: boolean
}

export function setRolloutCommand(wire: Wire): KvupCommand {
  return new KvupCommand('set')
    .addArgument(
      new Argument('<strategy>', 'default takes the field out').choices(['LiveUpdate', 'Stage', 'default']),
    )
    .option('--add-gate', 'add the feature gate that LiveUpdate needs from v1.2 to v1.4')
    .changeFlags('how long to wait until KubeVirt has it', '5m')
    .manual({
      examples: [
        ['kvup workloads live-update set Stage', 'changes wait for a restart'],
        ['kvup workloads live-update set LiveUpdate --dry-run=client', 'what it would change'],
      ],
      more: 'HyperConverged fixes it to LiveUpdate: there it is refused.',
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire<SetRolloutOptions, [WantedRollout['strategy']]>(setVmRollout))
}

/** Sets the strategy where it lasts. Throws `blocked` where it would have no effect, and what `carryOut` throws. */
export async function setVmRollout(
  cx: Context,
  options: SetRolloutOptions,
  strategy: WantedRollout['strategy'],
): Promise<ExitCode> {
  const wanted = { strategy, gate: options.addGate === true }
  if (wanted.gate && strategy !== 'LiveUpdate')
    throw usageError('gate-without-live-update', '--add-gate goes with LiveUpdate only')
  const timeoutMs = parseDuration(options.timeout)
  const cluster = await cx.cluster()
  const installation = await installationIn(cx, cluster)
  ensureSettable(installation, wanted)
  const { namespace } = installation
  const said = rolloutChoice(installation.kubevirt, strategy)
  const now = async () => rolloutDocument(cluster.reader, await installationIn(cx, cluster))
  return runChange<VmRolloutDocument>(cx, {
    environment: runEnvironment(cx, cluster, { namespace, takeOver: options.takeOver }),
    change: {
      ...changeOf(cx, installation, { wanted, accept: options.accept, timeoutMs }),
      announce: () => tellScreen(cx.printer, (paint) => said.map((line) => noteText(line, paint))),
    },
    view: vmRolloutView,
    dryRun: {
      mode: options.dryRun,
      report: async (fields) => ({ ...(await now()), outcome: 'dry-run', said, ...fields }),
    },
    report: async (end) => ({
      ...(await now()),
      outcome: end.is === 'finished' && end.changed.length > 0 ? 'set' : 'already-so',
    }),
  })
}

async function installationIn({ clock }: Context, { reader }: Cluster): Promise<Installation> {
  return theInstallation(await takeSnapshot(reader, [], clock))
}

interface Terms {
  wanted: WantedRollout
  accept: string[]
  timeoutMs: number
}

function changeOf(
  cx: Context,
  installation: Installation,
  { wanted, accept, timeoutMs }: Terms,
): Omit<Change, 'announce'> {
  const owner = ownerOf(installation)
  const { kubevirt, namespace, name } = installation
  const gate = wanted.gate ? ' with its feature gate' : ''
  return {
    procedure: procedureOf(setRollout(owner, wanted)),
    ...gateOf(cx, ownerFinding(onKubeVirt(owner), kubevirt), parseAccepted(accept)),
    rights: workloadsAccess(namespace, [{ kind: KubeVirts, verb: 'patch' }]),
    question: `Set the VM rollout strategy of KubeVirt ${name} to ${wanted.strategy}${gate}?`,
    limits: { timeoutMs },
  }
}

/** Nothing is borrowed by it, and nothing has to be given back. */
function procedureOf(step: ReturnType<typeof setRollout>): Procedure {
  return {
    name: 'set the VM rollout strategy',
    overrides: [],
    reached: async (reading) => (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}
