import type { Context, Wire } from '../../context.ts'
import type { UpdatesPausedDocument } from '../../lib/vms/unblock/restore-vms.ts'
import { updatesPausedView } from '../../lib/output/views/vms/paused-updates.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { gateOf, runChange } from '../run-change.ts'
import type { Change, ChangeOptions } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { exitCode, type ExitCode, locked } from '../../lib/kube/errors.ts'
import { getLockHolder } from '../../lib/vms/lock-holder.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { methodsIn, ownerFinding, readOwner } from '../../lib/vms/strategy/settings-owner.ts'
import { pauseWorkloadUpdates } from '../../lib/vms/pause-updates.ts'
import { keptMethods, methodsText, overrideOn, resumingLine } from '../../lib/vms/update-methods.ts'
import { asksCluster, KvupCommand } from '../command-options.ts'
import { ownerInDocument, type SettingsWork } from '../../lib/vms/strategy/set-strategy.ts'
import { rightsFor, seeSettings } from './settings-work.ts'

export type PauseOptions = ChangeOptions

export function pauseCommand(wire: Wire): KvupCommand {
  return new KvupCommand('pause-updates')
    .changeFlags('how long to wait until KubeVirt has it', '5m')
    .manual({
      examples: [
        ['kvup workloads pause-updates', 'no VM moves by itself until they are resumed'],
        ['kvup workloads pause-updates --dry-run=client', 'what it would change, and what it would keep'],
      ],
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire(pauseUpdates))
}

const name = 'pause automatic VM updates'

/** Borrows the workload update methods, whoever owns them; the value is in the cluster's journal before it is changed. */
export async function pauseUpdates(cx: Context, options: PauseOptions): Promise<ExitCode> {
  const timeoutMs = parseDuration(options.timeout)
  const settingsWork = await seeSettings(cx, options)
  const { environment, owner, holding } = settingsWork
  const before = overrideOn(owner, await environment.journal.overrides())
  const methods = methodsIn(holding, owner)
  if (methods.length === 0 && !before) {
    cx.printer.result(documentOf(settingsWork, { outcome: 'nothing-to-pause', kept: [] }), updatesPausedView)
    return exitCode.done
  }
  if (methods.length === 0 && before && before.procedure !== name)
    await ensureNobodyResumes(cx, settingsWork, before)
  const procedure = pauseProcedure(cx, settingsWork)
  const change = changeOf(cx, settingsWork, { procedure, options, timeoutMs })
  return runChange(cx, {
    environment,
    change,
    view: updatesPausedView,
    dryRun: {
      mode: options.dryRun,
      report: (fields) =>
        documentOf(settingsWork, {
          outcome: 'dry-run',
          kept: before ? keptMethods(before) : methods,
          ...fields,
        }),
    },
    async report(end) {
      const override = overrideOn(owner, await environment.journal.overrides())
      const held = end.is === 'finished' && end.changed.length > 0
      return documentOf(settingsWork, {
        outcome: held ? 'paused' : 'already-paused',
        kept: override ? keptMethods(override) : [],
        ...(override && { by: override.by, at: override.at, restore: resumingLine(override) }),
      })
    },
  })
}

/** A run that is under way resumes at its end what it has paused: whoever wants them paused would be told that they are, and find them resumed. Throws `locked`. */
async function ensureNobodyResumes(
  cx: Context,
  { cluster, installation: { namespace } }: SettingsWork,
  { procedure }: Override,
): Promise<void> {
  const holder = await getLockHolder(cx, { cluster, clock: cx.clock, saved: false }, namespace)
  if (holder === undefined || holder.gone) return
  throw locked(
    'locked',
    `another kvup is running: ${holder.holder}. Its ${procedure} has paused automatic VM updates, and resumes them at its end`,
    { remedy: 'run this again once it has ended: kvup history' },
  )
}

/** What it opens stays open at its end, so that an open override is no reason to go on. */
function pauseProcedure({ world }: Context, { owner }: SettingsWork): Procedure {
  const step = pauseWorkloadUpdates(owner, { who: world.who, procedure: name })
  return {
    name,
    overrides: [],
    reached: async (reading) =>
      methodsIn(await readOwner(reading.reader, owner), owner).length === 0 &&
      (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}

function announce({ printer }: Context, { owner, holding }: SettingsWork): void {
  const methods = methodsText(methodsIn(holding, owner))
  printer.note(
    `automatic VM updates (${methods}) pause until kvup workloads resume-updates; running migrations continue`,
  )
  printer.note('VMs run on; drains and manual migrations still move them. Hotplug and volume changes wait')
}

function changeOf(
  cx: Context,
  settingsWork: SettingsWork,
  { procedure, options, timeoutMs }: { procedure: Procedure; options: PauseOptions; timeoutMs: number },
): Change {
  const { owner, holding } = settingsWork
  return {
    procedure,
    ...gateOf(cx, ownerFinding(owner, holding), parseAccepted(options.accept)),
    announce: () => announce(cx, settingsWork),
    rights: rightsFor(owner),
    question: `Pause automatic VM updates on ${owner.kind.kind} ${owner.ref.name}?`,
    limits: { timeoutMs },
  }
}

function documentOf(
  { installation: { name: kubevirt, namespace }, owner }: SettingsWork,
  end: Omit<UpdatesPausedDocument, 'apiVersion' | 'kind' | 'kubevirt' | 'owner'>,
): UpdatesPausedDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'PausedUpdates',
    kubevirt: { name: kubevirt, namespace },
    owner: ownerInDocument(owner),
    ...end,
  }
}
