import { narrowedLine } from '../../lib/output/kvup-words.ts'
import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { oneNamespaceHelps, partlyUnread, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { onlyOnceText, unreadText, vmRestartsView } from '../../lib/output/views/vms/wave-run.ts'
import {
  scheduleOf,
  type WaveSchedule,
  endOfRun,
  endWith,
  ensureNamedThere,
  ensureWindowOpens,
  namespacesOf,
  narrowed,
  typedWaveRun,
  type VmRestartsDocument,
  warnOfWaves,
  type WaveRunOptions,
} from '../../lib/vms/waves/wave-run.ts'
import type { Procedure } from '../../lib/engine/step.ts'
import { gateOf, runChange } from '../run-change.ts'
import { type Change, type RunEnvironment, runEnvironment } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { blocked, type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { workloadsAccess } from '../../lib/upgrade/roles.ts'
import {
  restartOutcome,
  restartProcedure,
  restartShortfall,
  restartWaves,
} from '../../lib/vms/waves/restart-procedure.ts'
import { dataLoss } from '../../lib/vms/waves/vm-restart.ts'
import type { Unread } from '../../lib/kube/readable-pages.ts'
import { RestartRun } from '../../lib/vms/waves/restart-run.ts'
import { shownWaves, type Wave } from '../../lib/vms/waves/waves.ts'
import { restartRight } from '../workloads/wave-options.ts'
import { remarkNothingFound } from '../../lib/vms/vm.ts'
import { count } from '../../lib/output/text.ts'

/** All of them but --node. */
export type RestartOptions = Omit<WaveRunOptions, 'node'>

/** What is to be done, in which waves, and what could not be seen. */
export interface RestartWork {
  change: Omit<Change, 'announce'>
  waves: readonly Wave[]
  schedule: WaveSchedule
  unread: readonly Unread[]
}

interface Restarting {
  cx: Context
  cluster: Cluster
  installation: Installation
  environment: RunEnvironment
  run: RestartRun
  procedure: Procedure
}

/** Of each restart the journal keeps two entries, and of all 300: one that is forgotten would not be missed (night W3). */
const atOnceAtMost = 100

/** Restarts the VMs that wait for it, in waves. Exit 3 where a rule stopped it, and where a restart was refused although it went on. */
export async function restartVms(cx: Context, options: RestartOptions): Promise<ExitCode> {
  const typed = typedWaveRun(options, cx.flags.namespace)
  const { wanted, timeoutMs } = typed
  if (wanted.pacing.parallel > atOnceAtMost)
    throw usageError(
      'too-many-at-a-time',
      `--parallel is at most ${atOnceAtMost}: the journal remembers each running restart`,
    )
  const cluster = await cx.cluster()
  const installation = theInstallation(await takeSnapshot(cluster.reader, [], cx.clock))
  const now = cx.clock.now()
  ensureWindowOpens(typed, now)
  const { namespace } = installation
  const environment = runEnvironment(cx, cluster, { namespace, takeOver: options.takeOver })
  const run = new RestartRun(wanted, {
    began: now.getTime(),
    kubevirt: installation.kubevirt,
    typed: cx.world.commandLine,
  })
  const procedure = restartProcedure(run, timeoutMs)
  const restarting: Restarting = { cx, cluster, installation, environment, run, procedure }
  const work = await workOf(restarting, { options, timeoutMs }).catch((error: unknown) => {
    throw oneNamespaceHelps(error, 'kvup workloads restart', wanted.selection)
  })
  warnOfWaves(cx, wanted, work.waves)
  return runChange(cx, {
    environment,
    change: { ...work.change, announce: () => announceRestarts(cx, run, work) },
    view: vmRestartsView,
    dryRun: {
      mode: options.dryRun,
      report: (fields) =>
        documentOf(restarting, {
          outcome: 'dry-run',
          ...fields,
          waves: shownWaves(work.waves, wanted.waveBy, work.schedule.times),
          ...(work.schedule.window && { window: work.schedule.window }),
          ...(work.schedule.schedule && { schedule: work.schedule.schedule }),
        }),
      end: readWhole,
    },
    report: (end) => documentOf(restarting, endOfRun(cx, end, [])),
    end(document) {
      const shortfall = restartShortfall(document.totals)
      if (shortfall !== undefined)
        throw blocked('vms-failed', shortfall, {
          remedy: `${narrowedLine('kvup workloads restart-required', wanted.selection)}     shows which still wait`,
        })
      return readWhole(document)
    },
    async broken() {
      const document = await howFar(restarting)
      return document && { document, view: vmRestartsView }
    },
  })
}

/** Never a plain 0 where VMs could not be read. */
function readWhole({ unread }: VmRestartsDocument): ExitCode {
  const refusal = partlyUnread(unread)
  if (refusal) throw refusal
  return exitCode.done
}

async function workOf(
  { cx, cluster, installation, environment, run, procedure }: Restarting,
  { options, timeoutMs }: { options: RestartOptions; timeoutMs: number },
): Promise<RestartWork> {
  await ensureNamedThere(cluster, options, run.wanted)
  const snapshot = await run.read({ reader: cluster.reader, clock: cx.clock, journal: environment.journal })
  const { candidates, left, unread } = snapshot
  const { namespace } = run.wanted.selection
  if (candidates.size + left.size + unread.length === 0)
    await remarkNothingFound({ cluster }, run.wanted.selection, {
      running: false,
      warn: (line) => cx.printer.warn(line),
    })
  const namespaces = namespacesOf(candidates.keys(), {
    namespace,
    partly: unread.length > 0,
  })
  const waves = restartWaves(run, snapshot)
  const vms =
    candidates.size === 1 ? '1 VM, which interrupts it' : `${candidates.size} VMs, which interrupts them`
  const findings = dataLoss(
    [...candidates.values()].map(({ vm, loses }) => [vm, loses] as const),
    'leave them out by --exclude, or restart others only by -l',
  )
  return {
    change: {
      procedure,
      ...gateOf(cx, findings, parseAccepted(options.accept)),
      rights: narrowed(workloadsAccess(installation.namespace, [restartRight]), namespaces),
      question: `Restart ${vms}?`,
      title: 'Restart of VMs',
      limits: { timeoutMs, until: options.until, pauseBefore: options.pauseBefore },
    },
    waves,
    schedule: scheduleOf(waves, { pacing: run.pacing, timeoutMs, now: cx.clock.now() }),
    unread,
  }
}

/** What was done is told, however it ended. */
async function howFar(restarting: Restarting): Promise<VmRestartsDocument | undefined> {
  try {
    return await documentOf(restarting, { outcome: 'stopped' })
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    restarting.cx.printer.warn(`kvup cannot read how far it got: ${error.message}`)
    return undefined
  }
}

async function documentOf(
  {
    cx: { clock },
    cluster: { reader },
    installation: { name, namespace },
    environment: { journal },
    run,
  }: Restarting,
  end: Pick<
    VmRestartsDocument,
    'outcome' | 'dryRun' | 'steps' | 'waves' | 'window' | 'schedule' | 'stoppedBefore' | 'next'
  >,
): Promise<VmRestartsDocument> {
  const reached = await restartOutcome({ reader, clock, journal }, run)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'VmRestarts',
    kubevirt: { name, namespace },
    ...endWith(end, restartShortfall(reached.totals)),
    ...reached,
  }
}

/** Before the question: every VM that is restarted, in its wave, and which of them only this restart starts again. */
export function announceRestarts(
  { printer }: Context,
  { known, remarks }: RestartRun,
  { waves, unread, schedule }: Pick<RestartWork, 'waves' | 'unread'> & Partial<Pick<RestartWork, 'schedule'>>,
): void {
  for (const line of unreadText(unread)) printer.warn(line)
  for (const remark of remarks) printer.warn(remark)
  for (const { id, vms } of waves.filter((wave) => wave.vms.length > 0)) {
    printer.note(`${id}: ${count(vms.length, 'VM')}`)
    for (const { vm } of vms) printer.note(`  ${vm}${known.get(vm)?.onlyOnce ? `: ${onlyOnceText}` : ''}`)
  }
  for (const line of schedule?.schedule ?? []) printer.note(line)
}
