import type { Releases } from '../../releases/releases.ts'
import type { Reader } from '../../cluster/cluster.ts'
import type { Manager } from '../../facts/ownership.ts'
import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { itemsOf } from '../../facts/known.ts'
import { findSettingsOwner, onHyperConverged } from '../../workloads/strategy/find-settings-owner.ts'
import type { SettingsOwner } from '../../workloads/strategy/owner.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import type { EusHop, EusPlan } from '../eus-plan.ts'
import type { Approval } from '../loans/fields.ts'
import type { Baseline } from '../steps/kept.ts'
import { compareMinors, minorOfPlatform } from '../../releases/platform-version.ts'
import type { Stop } from '../steps/at-stop.ts'
import { windowName } from '../../system/window-name.ts'

/** What a person asked for, checked and with its defaults. */
export interface EusRequest {
  /** Ids of the risks that are taken. */
  accepted: readonly string[]
  /** CSVs or packages that the same InstallPlan may install. */
  approveAlso: readonly string[]
  /** Approve InstallPlans; otherwise the run ends before each, and says which one waits. */
  approve?: boolean
  /** Set for as long as the window is open. */
  approval?: Approval
  /** Pools in the order in which they are unpaused; those that are not named come last, by name. */
  poolOrder: readonly string[]
  /** Leave an update that was refused requested. */
  leaveRequested: boolean
  /** For how long everything has to stay good, ms. */
  settleMs: number
  /** The line whose steps they are, as their remedies repeat it with one flag more: `kvup eus abort`. */
  command: string
}

/** A window in which the platform and its operator move while the other nodes stay, as its steps need it. */
export interface EusWindow {
  /** Of the procedure, and of what it keeps in the journal: `eus to 4.20`. */
  name: string
  /** The minor at its end. */
  to: string
  /** user@host. */
  who: string
  plan: EusPlan
  hops: readonly EusHop[]
  way: EusPlan['way']
  /** The minor where it began. */
  began: string
  kubevirt: Owner
  /** Of that KubeVirt. */
  manager: Pick<Manager, 'kind' | 'name'>
  releases: Pick<Releases, 'hyperconverged'>
  request: EusRequest
}

/** On a plain way pools and VMs follow each hop, so that each is a window of its own (night E10). What was kept of an open window beats what is seen now. */
export function windowOf(
  plan: EusPlan,
  rest: Omit<EusWindow, 'plan' | 'hops' | 'name' | 'to' | 'way' | 'began'>,
  kept?: Baseline,
): EusWindow {
  const way = kept?.way ?? plan.way
  const began = minorOfPlatform(kept?.from) || plan.began
  const hops = way === 'plain' ? nextMinor(plan.hops, began) : plan.hops
  const to = hops.at(-1)?.minor ?? plan.to
  return { ...rest, plan, hops, way, began, to, name: windowName(to) }
}

/** Up to the first that leaves the minor; a patch release that has to come first belongs to it. */
function nextMinor(hops: readonly EusHop[], began: string): readonly EusHop[] {
  const leaves = hops.findIndex(({ minor }) => compareMinors(minor, began) > 0)
  return leaves < 0 ? hops : hops.slice(0, leaves + 1)
}

/** Where a hop ends: its minor, unless another hop, or the release that runs, is of the same. */
export function stopOf(
  { hops, began }: Pick<EusWindow, 'hops' | 'began'>,
  { minor, platform }: EusHop,
): Stop {
  const shares = hops.filter((hop) => hop.minor === minor).length > 1 || minor === began
  return shares && platform.version !== undefined ? { minor, version: platform.version } : { minor }
}

/**
 * Who owns the workload update methods. Steps are listed all through an upgrade of its operator, when for a while nobody converts its versions: each
 * of them works out anew in which one it is stored, and waits where that cannot be told.
 */
export async function settingsOf(
  { kubevirt, manager, request }: Pick<EusWindow, 'kubevirt' | 'manager' | 'request'>,
  reader: Reader,
): Promise<SettingsOwner> {
  const [found] = manager.kind === 'hyperconverged' ? itemsOf(await findHyperConverged(reader)) : []
  if (found === undefined) return findSettingsOwner(reader, kubevirt, manager)
  const { name, namespace = kubevirt.ref.namespace, uid = '' } = found.metadata
  return onHyperConverged({ ref: { name, namespace }, uid }, kubevirt, request.accepted)
}

/** In the ids of its steps. */
export const keyOf = ({ minor, version }: Stop): string => version ?? minor

/** What has to stay as it was borrowed, and what to say where it does not. */
export const holdingOf = ({ name, kubevirt, request }: EusWindow) => ({
  name,
  kubevirt,
  accepted: request.accepted,
  command: request.command,
})
