import type { Context } from '../../../context.ts'
import type { Cluster } from '../../../lib/cluster/cluster.ts'
import { VirtualMachines } from '../../../lib/cluster/kinds/virtual-machines.ts'
import { type Installation, theInstallation } from '../../../lib/facts/installation.ts'
import { takeSnapshot } from '../../../lib/facts/snapshot.ts'
import { type VmRestartsDocument, vmRestartsView } from '../../../lib/output/views/vm-restarts.ts'
import type { Procedure } from '../../../lib/procedure/step.ts'
import { carryOut, type Hands, type Work } from '../../../lib/run/carry-out.ts'
import { parseAccepted, passGate } from '../../../lib/run/gate.ts'
import { blocked, KvupError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import { restartOutcome } from '../../../lib/workloads/rollout/restart/outcome.ts'
import { restartProcedure } from '../../../lib/workloads/rollout/restart/restart-procedure.ts'
import { RestartRun } from '../../../lib/workloads/rollout/restart/restart-run.ts'
import { handsOf } from '../../upgrade/hands.ts'
import { rehearsed } from '../../workloads/dry-run.ts'
import { typedUpdate, type UpdateOptions } from '../../workloads/update/options.ts'
import { withResume } from '../../workloads/with-resume.ts'
import { announceRestarts, restartFindings } from './announce.ts'

/** Paced as `kvup workloads update` is; of its options those that have to do with migrations are left out. */
export type RestartOptions = Omit<
  UpdateOptions,
  'node' | 'retries' | 'restartUnmigratable' | 'stallTimeout' | 'watchOnly' | 'cancelRunning'
>

interface Restarting {
  cx: Context
  cluster: Cluster
  installation: Installation
  hands: Omit<Hands, 'announce'>
  run: RestartRun
  procedure: Procedure
}

/** Restarts the VMs that wait for it, in waves. Exit 3 where a rule stopped it, and where a restart was refused although it went on. */
export async function restartVms(cx: Context, options: RestartOptions): Promise<ExitCode> {
  const { wanted, timeoutMs } = typedUpdate(
    { ...options, retries: '0', restartUnmigratable: true, stallTimeout: options.restartTimeout },
    cx.flags.namespace,
    cx.clock.now(),
  )
  const cluster = await cx.cluster()
  const installation = theInstallation(await takeSnapshot(cluster.reader, [], cx.clock.now()))
  const { namespace } = installation
  const hands = handsOf(cx, cluster, { namespace, takeOver: options.takeOver })
  const run = new RestartRun(wanted, cx.clock.now().getTime())
  const procedure = restartProcedure(run, timeoutMs)
  const restarting: Restarting = { cx, cluster, installation, hands, run, procedure }
  const work = await workOf(restarting, { accept: options.accept, timeoutMs })
  const dry = await rehearsed(cx, procedure, { hands, dryRun: options.dryRun })
  if (dry) {
    cx.printer.result(await documentOf(restarting, { outcome: 'rehearsed', ...dry }), vmRestartsView)
    passGate(work.findings, work.accepted)
    return exitCode.done
  }
  const document = await carriedOut(restarting, work)
  cx.printer.result(document, vmRestartsView)
  const { failed, total } = document.totals
  if (failed === 0) return exitCode.done
  throw blocked('vms-failed', `${failed} of ${total} VMs were not restarted`, {
    remedy: 'kvup rollout restart-required     shows which wait still',
  })
}

const restartRight = {
  kind: { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' },
  verb: 'update',
  subresource: 'restart',
}

async function workOf(
  { cx, cluster, installation, hands, run, procedure }: Restarting,
  { accept, timeoutMs }: { accept: string[]; timeoutMs: number },
): Promise<Work> {
  const { candidates } = await run.look({ reader: cluster.reader, clock: cx.clock, journal: hands.journal })
  const vms =
    candidates.size === 1 ? '1 VM, which interrupts it' : `${candidates.size} VMs, which interrupts them`
  return {
    procedure,
    findings: restartFindings([...candidates.values()]),
    accepted: parseAccepted(accept),
    rights: workloadsAccess(installation.namespace, [restartRight]),
    question: `Restart ${vms}?`,
    limits: { timeoutMs },
  }
}

/** What was done is told, however it ended. */
async function carriedOut(restarting: Restarting, work: Work): Promise<VmRestartsDocument> {
  const { cx, hands, run } = restarting
  let began = false
  const emit: Hands['emit'] = (event) => {
    if (event.kind === 'run-started') began = true
    hands.emit(event)
  }
  try {
    const announce = () => announceRestarts(cx, run)
    const ended = await withResume(cx, carryOut(work, { ...hands, announce, emit }))
    return await documentOf(restarting, { outcome: ended.is === 'nothing-to-do' ? 'nothing-to-do' : 'done' })
  } catch (error) {
    if (began && error instanceof KvupError) await tellHowFar(restarting)
    throw error
  }
}

async function tellHowFar(restarting: Restarting): Promise<void> {
  const { printer } = restarting.cx
  try {
    printer.result(await documentOf(restarting, { outcome: 'stopped' }), vmRestartsView)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    printer.warn(`how far it got cannot be read: ${error.message}`)
  }
}

async function documentOf(
  {
    cx: { clock },
    cluster: { reader },
    installation: { name, namespace },
    hands: { journal },
    run,
  }: Restarting,
  end: Pick<VmRestartsDocument, 'outcome' | 'dryRun' | 'steps'>,
): Promise<VmRestartsDocument> {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'VmRestarts',
    kubevirt: { name, namespace },
    ...end,
    ...(await restartOutcome({ reader, clock, journal }, run)),
  }
}
