import { blocker } from '../releases/hop-findings.ts'
import type { Releases } from '../releases/releases.ts'
import type { Reader } from '../kube/cluster.ts'
import type { Manager } from '../kubevirt/installation.ts'
import { getHyperConverged } from '../openshift/hyperconverged.ts'
import { itemsOf } from '../kube/known.ts'
import { withPurpose } from '../kube/shell-line.ts'
import { getSettingsOwner, onHyperConverged, type SettingsOwner } from '../vms/strategy/settings-owner.ts'
import { overrideId, type Owner, pathLine, resumeUpdatesLine } from '../vms/update-methods.ts'
import type { EusHop, EusPlan } from './plan/eus-plan.ts'
import type { Approval } from './settings/eus-settings.ts'
import type { Baseline } from './baseline.ts'
import { compareMinors, minorOfPlatform } from '../releases/release-versions.ts'
import type { Stop } from './steps/cluster-version-status.ts'
import { targetOfName, windowName } from '../engine/overrides.ts'
import type { Finding } from '../checks/check-definition.ts'
import type { Override } from '../engine/journal.ts'

/** What a person asked for, checked and with its defaults. */
export interface EusRequest {
  /** Ids of the risks that are taken. */
  accepted: readonly string[]
  /** CSVs or packages that the same InstallPlan may install. */
  approveAlso: readonly string[]
  /** Approve InstallPlans; otherwise the run ends before each, and says which one waits. */
  approve?: boolean
  approval?: Approval
  /** Pools in the order in which they are unpaused; those that are not named come last, by name. */
  poolOrder: readonly string[]
  /** Leave an update that was refused requested. */
  leaveRequested: boolean
  /** For how long everything has to stay good, ms. */
  stableMs: number
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
  mode: EusPlan['mode']
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
  rest: Omit<EusWindow, 'plan' | 'hops' | 'name' | 'to' | 'mode' | 'began'>,
  kept?: Baseline,
): EusWindow {
  const mode = kept?.mode ?? plan.mode
  const began = minorOfPlatform(kept?.from) || plan.began
  const hops = mode === 'rolling' ? nextMinor(plan.hops, began) : plan.hops
  const to = hops.at(-1)?.minor ?? plan.to
  return { ...rest, plan, hops, mode, began, to, name: windowName(to) }
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
  const [found] = manager.kind === 'hyperconverged' ? itemsOf(await getHyperConverged(reader)) : []
  if (found === undefined) return getSettingsOwner(reader, kubevirt, manager)
  const { name, namespace = kubevirt.ref.namespace, uid = '' } = found.metadata
  return onHyperConverged({ ref: { name, namespace }, uid }, kubevirt, request.accepted)
}

/** In the ids of its steps. */
export const keyOf = ({ minor, version }: Stop): string => version ?? minor

/** What has to stay as it was borrowed, and what to say where it does not. */
export const pausingOf = ({ name, kubevirt, request }: EusWindow) => ({
  name,
  kubevirt,
  accepted: request.accepted,
  command: request.command,
})

/**
 * What speaks against an upgrade of the operator alone while the methods are borrowed for a window: it gives them back at its end, and VMs would move while the pools
 * are paused. None where it leaves them held.
 */
export function windowOpenFinding(
  overrides: readonly Pick<Override, 'id' | 'procedure'>[],
  { leavePaused }: { leavePaused: boolean },
  leavingPaused: string,
): readonly Finding[] {
  const [to] = overrides.flatMap(({ id, procedure }) =>
    id === overrideId ? (targetOfName(procedure) ?? []) : [],
  )
  if (to === undefined || leavePaused) return []
  return blocker({
    id: 'window-open',
    summary: `an EUS upgrade to ${to} has paused automatic VM updates: this upgrade would resume them at its end, and VMs would migrate too early`,
    remedy: [
      'kvup eus run      continues the EUS upgrade, with its operator',
      withPurpose(leavingPaused, 'leaves automatic VM updates paused'),
    ],
  })
}

/** The same for `kvup restore-settings` without a name and `resume-updates`, whichever way the override would be closed: behind it VMs move while their pools are paused (night E11). */
export function windowHoldsFinding({ procedure }: Pick<Override, 'procedure'>): readonly Finding[] {
  const to = targetOfName(procedure)
  if (to === undefined) return []
  return blocker({
    id: 'window-open',
    summary: `an EUS upgrade to ${to} has paused automatic VM updates: resumed now, VMs would migrate too early. Paused pools would stay paused`,
    remedy: [
      'kvup eus status      shows its progress',
      'kvup eus run      continues it, and resumes them at its end',
      'kvup eus abort      ends it, and restores all temporary changes',
    ],
  })
}

/** And for `kvup restore-settings` without a name where an upgrade over several minors is not over: it resumes them between its steps, and waits for VMs. */
export function pathHoldsFinding(
  override: Pick<Override, 'procedure' | 'severalMinors'>,
): readonly Finding[] {
  const line = pathLine(override)
  if (line === undefined) return []
  return blocker({
    id: 'window-open',
    summary: `an ${override.procedure} over several minors has paused automatic VM updates, and is not over`,
    remedy: [
      `${line}     continues it, and resumes them`,
      `${resumeUpdatesLine}     resumes them now, and nothing else`,
    ],
  })
}
