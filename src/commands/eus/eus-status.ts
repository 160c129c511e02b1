import { acceptedRisks } from '../../lib/checks/explanations.ts'
import { eusPlanDocument, plannedEus } from '../../lib/eus/planned-eus.ts'
import { eusPlanView } from '../../lib/output/views/eus/eus-plan.ts'
import { passGateOfPlan } from '../../lib/checks/check-definition.ts'
import { acceptingLine } from '../run-change.ts'
import { isPage } from '../run-change.ts'
import { savePlan } from '../upgrade/upgrade.ts'
import type { EusPlanningOptions } from '../../lib/eus/run/window-run.ts'
import type { Context } from '../../context.ts'
import { windowChanges } from '../../lib/eus/window-status.ts'
import { eusStatusDocument, type EusStatusOptions } from '../../lib/eus/run/window-status-report.ts'
import { eusStatusView } from '../../lib/output/views/eus/eus-report.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { getInstallation } from '../../lib/kubevirt/installation.ts'
import { type ReadCluster, readerFor, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'

/** `kvup eus status`: asks each step where it stands. Reads only. */
export async function eusStatus(cx: Context, options: EusStatusOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  const { cluster, clock } = snapshot
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  if (!options.watch) {
    cx.printer.result(await eusStatusDocument(there, options, snapshot), eusStatusView)
    return exitCode.done
  }
  return watchWindow(there, options, snapshot)
}

/** Until Ctrl-C: again whenever it reads otherwise. */
async function watchWindow(cx: Context, options: EusStatusOptions, snapshot: ReadCluster): Promise<ExitCode> {
  const { reader } = await cx.cluster()
  const found = getInstallation(await takeSnapshot(reader, [], cx.clock))
  const namespace = found.is === 'one' ? found.namespace : undefined
  const { clock, signal } = cx
  let last = ''
  for await (const _ of windowChanges(reader, { clock, signal, namespace })) {
    const document = await eusStatusDocument(cx, options, snapshot)
    const { ageSeconds: __, running, notReady = [], ...lasting } = document
    const nodes = notReady.map(({ name, since }) => [name, since])
    const text = JSON.stringify({ ...lasting, holder: running?.holder, nodes })
    if (text === last) cx.printer.unchanged(document, eusStatusView)
    else cx.printer.result(document, eusStatusView)
    last = text
  }
  return exitCode.done
}

export interface EusPlanOptions extends EusPlanningOptions {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup eus plan`: the hops of platform and operator, what decides at each, and what speaks against it. Reads only. */
export async function planEus(cx: Context, options: EusPlanOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  const planned = await plannedEus(cx, { ...snapshot, accepted: acceptedRisks }, options)
  const document = await eusPlanDocument({ ...cx, clock: snapshot.clock }, planned, options)
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, eusPlanView)
  const accepting = acceptingLine(cx.world.commandLine, planned.accepted)
  if (document.pending)
    passGateOfPlan(planned.plan.findings, planned.accepted, {
      command: 'kvup eus run',
      accepting,
      isShown: isPage(cx),
    })
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}
