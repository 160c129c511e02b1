import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { acceptWithReason, asksCluster, limitsBefore, KvupCommand, type Manual } from './command-options.ts'
import { windowFlags } from './eus.ts'
import { askingIn, carryOutWindow } from './eus/window-command.ts'
import { gateOf } from './run-change.ts'
import { meanwhileFlags, meanwhileOf, restore, type RestoreOptions } from './workloads/restore.ts'
import { asOverride, runEnvironment } from '../lib/engine/change.ts'
import type { Journal, Override } from '../lib/engine/journal.ts'
import { idOfWhat, isOfWindow, type MissingValue, whatOf } from '../lib/engine/overrides.ts'
import type { RunLimits } from '../lib/engine/step.ts'
import { isLeftUnclosed } from '../lib/eus/abort-procedure.ts'
import { restoreWindow } from '../lib/eus/restore-procedure.ts'
import { parseDuration } from '../lib/kube/duration.ts'
import { type EusRunOptions, requestOf, vmsAccess, vmsText, vmsToRestore } from '../lib/eus/run/window-run.ts'
import { ensureDeducible, seeWindow, type Settling } from '../lib/eus/run/window-snapshot.ts'
import { windowHoldsFinding } from '../lib/eus/window.ts'
import { blocked, type ExitCode, usageError } from '../lib/kube/errors.ts'
import { MachineConfigPools } from '../lib/kube/kinds/openshift-kinds.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import type { Reader } from '../lib/kube/cluster.ts'
import { theInstallation } from '../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../lib/kubevirt/snapshot.ts'
import { isMasterPool } from '../lib/openshift/machine-config-pools.ts'
import { overrideRemedy } from '../lib/output/views/report-lines.ts'
import { parseAccepted } from '../lib/releases/hop-findings.ts'
import type { VmRef } from '../lib/vms/unblock/vm-overrides.ts'
import { overrideId } from '../lib/vms/update-methods.ts'
import { namespaceOf, vmNameOf } from '../lib/vms/vm.ts'

export interface RestoreSettingsOptions extends Omit<RestoreOptions, 'timeout'> {
  pools?: boolean
  poolOrder: string[]
  stableFor: string
  /** Default: by what is restored. */
  timeout?: string
  deadline?: string
  until?: string
  pauseBefore: string[]
}

export function restoreSettingsCommand(wire: Wire): KvupCommand {
  const timeout = new Option('--timeout <duration>', 'how long it may take (10m; 24d in an EUS upgrade)')
  const own = new Option('--pools', 'in an EUS upgrade: pools as well, whose nodes update then')
  return new KvupCommand('restore-settings')
    .argument('[what...]', 'vm/NAMESPACE/NAME, workload-updates, pool/NAME, …: as kvup history names it')
    .flags([own, ...meanwhileFlags(), acceptWithReason(), ...windowFlags(timeout)])
    .manual(help)
    .action(wire<RestoreSettingsOptions, [string[]]>(restoreSettings))
}

const help: Manual = {
  examples: [
    ['kvup restore-settings', 'restores all, but unpauses no pool'],
    ['kvup restore-settings vm/shop/db --keep-current', 'of one VM, whose owner changed it: keeps that'],
    ['kvup restore-settings --overwrite --yes', 'also where someone changed it'],
    ['kvup restore-settings pool/worker', 'unpauses one, once there is room'],
  ],
  more: `It restores no VM, no data and no version. While an EUS upgrade or an upgrade over several minors
is open, its end resumes automatic VM updates: without a name kvup refuses to do it earlier.
Pools are unpaused by name or with --pools: once the platform is idle and no VM runs an old
virt-launcher, one after the other, each behind the check of the room for its VMs.`,
  codes: [...asksCluster, 'timedOut', 'locked', 'lost', 'interrupted', 'terminated'],
}

/** What was named; nothing: all. */
interface Asked {
  isAll: boolean
  /** Of temporary changes, as the journal calls them. */
  ids: readonly string[]
  vms: readonly VmRef[]
}

/** Throws `usage` for a VM without its namespace. */
function askedOf(whats: readonly string[]): Asked {
  const vms: VmRef[] = []
  const ids: string[] = []
  for (const what of whats) {
    const [kind, namespace, name, ...more] = what.split('/')
    if (kind !== 'vm') ids.push(idOfWhat(what))
    else if (namespace && name && more.length === 0) vms.push({ namespace, name })
    else
      throw usageError('no-such-override', `${JSON.stringify(what)} is no VM with its namespace`, {
        remedy: 'write it like vm/shop/db',
      })
  }
  return { isAll: whats.length === 0, ids, vms }
}

/** Restores what an upgrade, an EUS upgrade, `pause-updates` or `unblock` changed for a time, from anywhere; the cluster knows the values. */
export async function restoreSettings(
  cx: Context,
  options: RestoreSettingsOptions,
  whats: readonly string[] = [],
): Promise<ExitCode> {
  meanwhileOf(options)
  const asked = askedOf(whats)
  const timeout = options.timeout ?? '10m'
  const limits = await limitsBefore(cx, { ...options, timeout })
  const open = await openChanges(cx, options.takeOver)
  cx.printer.note('Restores settings that kvup changed for a time: no VM, no data and no version')
  if (await concernsWindow(open, asked)) return restoreInWindow(cx, asked, { ...options, limits })
  ensureOpen(open, asked)
  return restore(cx, { ...options, timeout, limits }, asked)
}

interface OpenChanges {
  reader: Reader
  journal: Journal
  overrides: readonly Override[]
  missing: readonly MissingValue[]
}

async function openChanges(cx: Context, takeOver: string | undefined): Promise<OpenChanges> {
  const cluster = await cx.cluster()
  const { namespace } = theInstallation(await takeSnapshot(cluster.reader, [], cx.clock))
  const { journal } = runEnvironment(cx, cluster, { namespace, takeOver })
  const overrides = await journal.overrides()
  return { reader: cluster.reader, journal, overrides, missing: await journal.missing() }
}

/** What was named is of an EUS upgrade; of all, one is open, was not closed by the restore before, or left pools paused that nobody tells of. */
async function concernsWindow(open: OpenChanges, { isAll, ids }: Asked): Promise<boolean> {
  const { reader, journal, overrides, missing } = open
  const claims = missing.flatMap(({ claim }) => claim ?? [])
  if (!isAll) return [...overrides, ...claims].some((one) => isOfWindow(one) && ids.includes(one.id))
  if (overrides.some(isOfWindow)) return true
  const last = (await journal.entries()).findLast(isOfWindow)
  if (last !== undefined && (await isLeftUnclosed(journal, last.procedure))) return true
  const pools = itemsOf(await known(reader.list(MachineConfigPools)))
  return pools.some((pool) => !isMasterPool(pool) && pool.spec?.paused === true)
}

/** Throws `usage` for a name that is no temporary change, `blocked` for one that another command restores. */
function ensureOpen({ overrides, missing }: OpenChanges, { ids }: Asked): void {
  for (const id of ids) {
    const override = overrides.find((one) => one.id === id)
    if (override === undefined && !missing.some((one) => one.id === id)) throw noSuch(id, overrides)
    if (override !== undefined && id !== overrideId)
      throw blocked('restored-by-its-run', `${whatOf(id)} is restored by ${override.procedure}`, {
        remedy: overrideRemedy(override),
      })
  }
}

function noSuch(id: string, open: readonly Override[]): Error {
  return usageError('no-such-override', `there is no temporary change named ${JSON.stringify(whatOf(id))}`, {
    remedy:
      open.length === 0
        ? 'kvup history'
        : `temporary changes: ${open.map((one) => whatOf(one.id)).join(', ')}`,
  })
}

/** The settings of an EUS upgrade alone, wherever it stands. Pools, whose nodes roll then, one at a time, only where they are asked for. */
async function restoreInWindow(
  cx: Context,
  asked: Asked,
  { limits, ...options }: RestoreSettingsOptions & { limits: RunLimits },
): Promise<ExitCode> {
  const { ids, isAll } = asked
  const meanwhile = meanwhileOf(options)
  const typed: EusRunOptions = { ...options, approveAlso: [], timeout: options.timeout ?? '24d' }
  const request = requestOf(typed, cx.world.commandLine)
  const asking = askingIn(cx, options)
  const settled = meanwhile === 'keep-current' ? { ...asking, settle: forgetting(cx, ids) } : asking
  const windowSnapshot = await seeWindow(cx, typed, request, settled)
  if (isAll) ensureDeducible(windowSnapshot)
  const overrides = chosen(windowSnapshot.overrides, asked, options.pools ?? false)
  const all = isAll ? await vmsToRestore(cx, windowSnapshot.cluster.reader) : asked.vms
  const namespace = namespaceOf(cx.flags.namespace)
  const vms = all.filter((vm) => !isAll || namespace === undefined || vm.namespace === namespace)
  const methods = isAll ? overrides.filter(({ id }) => id === overrideId) : []
  const names = [...overrides.map(({ id }) => whatOf(id)), ...vms.map(vmNameOf)]
  return carryOutWindow(cx, windowSnapshot, {
    procedure: restoreWindow(windowSnapshot.window, { overrides, meanwhile, vms }),
    ...gateOf(cx, methods.flatMap(windowHoldsFinding), parseAccepted(options.accept)),
    question:
      names.length === 0
        ? `Close the EUS upgrade to ${windowSnapshot.window.to}?`
        : `Restore ${names.join(', ')}?`,
    limits: { ...limits, timeoutMs: parseDuration(typed.timeout) },
    dryRun: options.dryRun,
    end: 'restored',
    alsoNeeds: vmsAccess(vms),
    announce() {
      for (const { id, by, at } of overrides)
        cx.printer.note(`temporary change by ${by} at ${at}: ${whatOf(id)}`)
      for (const line of vmsText(vms)) cx.printer.note(line)
    },
  })
}

/** Who keeps what is there by name closes what nobody may be believed about as well. */
const forgetting =
  ({ clock }: Context, ids: readonly string[]): Settling =>
  async (journal) => {
    for (const missing of await journal.missing())
      if (ids.includes(missing.id)) journal.believe(asOverride(missing, clock.now().toISOString()))
  }

/** Throws `usage` for a name that is no open override. */
function chosen(open: readonly Override[], { isAll, ids }: Asked, pools: boolean): readonly Override[] {
  const wrong = ids.find((id) => !open.some((one) => one.id === id))
  if (wrong !== undefined) throw noSuch(wrong, open)
  return open.filter(({ id }) => (isAll ? pools || !id.startsWith('pool-paused/') : ids.includes(id)))
}
