import type { Context, Wire } from '../../context.ts'
import { asksCluster, KvupCommand } from '../command-options.ts'
import {
  type Choice,
  choiceFindings,
  choiceOf,
  choiceText,
  ensureNotPaused,
  parseWanted,
  procedureOf,
  type SettingsWork,
  strategyDocument,
  type TypedSettings,
  type WorkloadStrategyDocument,
} from '../../lib/vms/strategy/set-strategy.ts'
import { workloadStrategyView } from '../../lib/output/views/vms/workload-strategy.ts'
import { exitCode, type ExitCode } from '../../lib/kube/errors.ts'
import { rightsFor, seeSettings } from './settings-work.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { gateOf, runChange } from '../run-change.ts'
import type { Change, ChangeOptions } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { overrideOn } from '../../lib/vms/update-methods.ts'
import { ownerFinding } from '../../lib/vms/strategy/settings-owner.ts'

const showExamples = [
  ['kvup workloads strategy show', 'the current settings'],
  ['kvup workloads strategy show -o wide', 'and where it is written'],
] as const
const change = [
  ['kvup workloads strategy set --methods LiveMigrate', 'only migrations'],
  ['kvup workloads strategy set --methods LiveMigrate,Evict', 'and shutdowns'],
  ['kvup workloads strategy set --parallel-per-cluster 10 --dry-run=server', 'what it would change'],
] as const

/** `show` is what `kvup workloads strategy` alone does. */
export function strategyCommand(wire: Wire): KvupCommand {
  return new KvupCommand('strategy')
    .addCommand(
      new KvupCommand('show')
        .description('Show the settings of automatic VM updates, and where each comes from')
        .manual({ examples: showExamples, codes: asksCluster })
        .action(wire(showWorkloadStrategy)),
      { isDefault: true },
    )
    .addCommand(setCommand(wire))
    .manual({ examples: [...showExamples, ...change], codes: asksCluster })
}

function setCommand(wire: Wire): KvupCommand {
  return new KvupCommand('set')
    .description('Set automatic VM updates, on KubeVirt or on the HyperConverged that owns it')
    .option('--methods <list>', 'LiveMigrate, Evict, both separated by a comma, or none')
    .option('--batch-size <count>', 'how many VMs Evict shuts down at a time')
    .option('--batch-interval <duration>', 'how long it waits between two batches, such as 1m')
    .option('--parallel-per-cluster <count>', 'how many migrations run at a time')
    .option('--parallel-per-node <count>', 'how many of them leave the same node')
    .option('--bandwidth <quantity>', 'bytes a second for each migration, such as 64Mi; 0 is no limit')
    .option('--completion-timeout <duration>', 'how long a migration may take for each GiB')
    .option('--progress-timeout <duration>', 'how long a migration may make no progress')
    .option('--migration-network <name>', 'NetworkAttachmentDefinition to migrate over, or none')
    .changeFlags('how long to wait until KubeVirt has it', '5m')
    .manual({
      examples: change,
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire(setWorkloadStrategy))
}

/** `kvup workloads strategy show`: reads only. */
export async function showWorkloadStrategy(cx: Context): Promise<ExitCode> {
  cx.printer.result(await strategyDocument(await seeSettings(cx, {})), workloadStrategyView)
  return exitCode.done
}

export interface SetStrategyOptions extends TypedSettings, ChangeOptions {}

/** `kvup workloads strategy set`: what is typed is judged before the cluster is read. */
export async function setWorkloadStrategy(cx: Context, options: SetStrategyOptions): Promise<ExitCode> {
  const wanted = parseWanted(options)
  const timeoutMs = parseDuration(options.timeout)
  const settingsWork = await seeSettings(cx, options)
  ensureNotPaused(wanted, overrideOn(settingsWork.owner, await settingsWork.environment.journal.overrides()))
  const procedure = procedureOf(settingsWork, wanted)
  const choice = await choiceOf(settingsWork, wanted)
  return runChange<WorkloadStrategyDocument>(cx, {
    environment: settingsWork.environment,
    change: changeOf(cx, settingsWork, { procedure, choice, options, timeoutMs }),
    view: workloadStrategyView,
    dryRun: {
      mode: options.dryRun,
      report: async (fields) => ({
        ...(await strategyDocument(settingsWork)),
        outcome: 'dry-run',
        said: choiceText(choice),
        ...fields,
      }),
    },
    report: async (end) => ({
      ...(await strategyDocument(settingsWork)),
      outcome: end.is === 'finished' && end.changed.length > 0 ? 'set' : 'already-so',
    }),
  })
}

interface Terms {
  procedure: Procedure
  choice: Choice
  options: SetStrategyOptions
  timeoutMs: number
}

function changeOf(
  cx: Context,
  { owner, holding }: SettingsWork,
  { procedure, choice, options, timeoutMs }: Terms,
): Change {
  const findings = [...ownerFinding(owner, holding), ...choiceFindings(choice)]
  return {
    procedure,
    ...gateOf(cx, findings, parseAccepted(options.accept)),
    announce() {
      const { printer } = cx
      const warnings = findings.map(({ summary, id }) => `${summary} (${id})`)
      for (const line of [...choiceText(choice), ...warnings]) printer.note(line)
    },
    rights: rightsFor(owner),
    question: `Set ${Object.keys(choice.wanted).join(', ')} on ${owner.kind.kind} ${owner.ref.name}?`,
    limits: { timeoutMs },
  }
}
