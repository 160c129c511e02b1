import { Argument, Command } from 'commander'
import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { KubeVirts } from '../../lib/cluster/kinds/kubevirt.ts'
import { type Installation, theInstallation } from '../../lib/facts/installation.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import { type VmRolloutDocument, vmRolloutView } from '../../lib/output/views/vm-rollout.ts'
import type { Procedure } from '../../lib/procedure/step.ts'
import { carryOut, type Work } from '../../lib/run/carry-out.ts'
import { parseAccepted, passGate } from '../../lib/run/gate.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { usageError } from '../../lib/system/errors.ts'
import { exitCode, type ExitCode } from '../../lib/system/exit-codes.ts'
import { ownerOf } from '../../lib/upgrade/make-plan.ts'
import { workloadsAccess } from '../../lib/upgrade/workloads-access.ts'
import { ensureSettable } from '../../lib/workloads/rollout/ensure-settable.ts'
import { rolloutChoice } from '../../lib/workloads/rollout/rollout-choice.ts'
import { setRollout, type WantedRollout } from '../../lib/workloads/rollout/set-rollout.ts'
import { onKubeVirt } from '../../lib/workloads/strategy/owner.ts'
import { ownerFinding } from '../../lib/workloads/strategy/owner-finding.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { handsOf } from '../upgrade/hands.ts'
import { type ChangeOptions, withChangeFlags } from '../workloads/change-flags.ts'
import { rehearsed } from '../workloads/dry-run.ts'
import { withResume } from '../workloads/with-resume.ts'
import { rolloutDocument } from './document.ts'

export interface SetRolloutOptions extends ChangeOptions {
  addGate?: boolean
}

export function setRolloutCommand(wire: Wire): Command {
  return withChangeFlags(
    new Command('set')
      .addArgument(
        new Argument('<strategy>', 'default takes the field out').choices(['LiveUpdate', 'Stage', 'default']),
      )
      .option('--add-gate', 'add the feature gate that LiveUpdate needs from v1.2 to v1.4'),
    'how long to wait until KubeVirt has it',
    '5m',
  )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup rollout set Stage', 'changes wait for the restart of each VM'],
          ['kvup rollout set LiveUpdate --dry-run=client', 'what it would change'],
        ],
        more: 'HyperConverged fixes it to LiveUpdate: there it is refused.',
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
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
  const hands = handsOf(cx, cluster, { namespace, takeOver: options.takeOver })
  const work = workOf(installation, { wanted, accept: options.accept, timeoutMs })
  const said = rolloutChoice(installation.kubevirt, strategy)
  const dry = await rehearsed(cx, work.procedure, { hands, dryRun: options.dryRun })
  if (dry) {
    await printed(cx, cluster, { outcome: 'rehearsed', said, ...dry })
    passGate(work.findings, work.accepted)
    return exitCode.done
  }
  const announce = () =>
    said.forEach((line) => cx.printer.note(line.startsWith('kvup ') ? `  → ${line}` : line))
  const ended = await withResume(cx, carryOut(work, { ...hands, announce }))
  const changed = ended.is === 'finished' && ended.changed.length > 0
  return printed(cx, cluster, { outcome: changed ? 'set' : 'already-so' })
}

async function installationIn({ clock }: Context, { reader }: Cluster): Promise<Installation> {
  return theInstallation(await takeSnapshot(reader, [], clock))
}

interface Terms {
  wanted: WantedRollout
  accept: string[]
  timeoutMs: number
}

function workOf(installation: Installation, { wanted, accept, timeoutMs }: Terms): Work {
  const owner = ownerOf(installation)
  const { kubevirt, namespace, name } = installation
  const gate = wanted.gate ? ' with its feature gate' : ''
  return {
    procedure: procedureOf(setRollout(owner, wanted)),
    findings: ownerFinding(onKubeVirt(owner), kubevirt),
    accepted: parseAccepted(accept),
    rights: workloadsAccess(namespace, [{ kind: KubeVirts, verb: 'patch' }]),
    question: `Set the VM rollout strategy of KubeVirt ${name} to ${wanted.strategy}${gate}?`,
    limits: { timeoutMs },
  }
}

/** Nothing is borrowed by it, and nothing has to be given back. */
function procedureOf(step: ReturnType<typeof setRollout>): Procedure {
  return {
    name: 'set the VM rollout strategy',
    loans: [],
    reached: async (reading) => (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}

async function printed(cx: Context, cluster: Cluster, more: Partial<VmRolloutDocument>): Promise<ExitCode> {
  const document = await rolloutDocument(cluster.reader, await installationIn(cx, cluster))
  cx.printer.result({ ...document, ...more }, vmRolloutView)
  return exitCode.done
}
