import type { CustomResourceDefinition } from '../../lib/cluster/kinds/extension.ts'
import { crdsAhead } from '../../lib/facts/crds-ahead.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import type { Known } from '../../lib/facts/known.ts'
import type { Standing } from '../../lib/facts/standing.ts'
import { crdsThatGo } from '../../lib/releases/crds-that-go.ts'
import { type Version, versionOf } from '../../lib/releases/version.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import { isWayBackOpen } from '../../lib/upgrade/running-update.ts'

/** What was seen of an update that ended early. */
export interface LeftUpdate {
  installation: Installation
  standing: Standing
  /** Undefined where they were not read. */
  crds: Known<CustomResourceDefinition> | undefined
}

/**
 * The command that goes back. Only where it would be done: what is refused when it is pasted helps nobody. The new operator, once it has
 * taken over, stays: it takes the components back by a tag (night U4).
 */
export function wayBackLine(
  plan: UpgradePlan,
  { installation, standing, crds }: LeftUpdate,
): readonly string[] {
  const { to, method, owner } = plan
  const back = versionBefore(plan)
  if (back === undefined || installation.uid !== owner.uid) return []
  if (!hasBegun(plan, installation)) return []
  if (!isWayBackOpen(standing, back) || !areCrdsTaken(plan, crds)) return []
  const tookOver = versionOf(installation.kubevirt.status?.operatorVersion)?.text === to.text
  const by = method === 'operator-manifest' && tookOver ? ' --method image-tag' : ''
  return [`kvup upgrade --to ${back.text}${by}     goes back`]
}

/** False while nothing but what is borrowed was written: there is nothing to go back from. */
function hasBegun({ to }: UpgradePlan, { kubevirt, operator }: Installation): boolean {
  const { targetKubeVirtVersion, observedKubeVirtVersion, operatorVersion } = kubevirt.status ?? {}
  const names = [
    kubevirt.spec?.imageTag,
    operator?.version,
    targetKubeVirtVersion,
    observedKubeVirtVersion,
    operatorVersion,
  ]
  return names.some((name) => versionOf(name)?.text === to.text)
}

/** What the way back takes away besides, where there is one; undefined where there is none, or it takes nothing away. */
export function wayBackTakes(plan: UpgradePlan, left: LeftUpdate | undefined): string | undefined {
  const back = versionBefore(plan)
  if (left === undefined || back === undefined || wayBackLine(plan, left).length === 0) return undefined
  const goes = crdsThatGo(plan.to, back)
  return goes && `going back to ${back.text}: ${goes}`
}

function versionBefore({ from, to, olm }: UpgradePlan): Version | undefined {
  const before = versionOf(from)
  return olm || before?.text === to.text ? undefined : before
}

/** Why there is none; undefined where there is one, or where it is not known. */
export function whyNoWayBack({ wayBack }: UpgradePlan, crds: LeftUpdate['crds']): string | undefined {
  if (wayBack.is === 'open') return undefined
  const isClosed = wayBack.is === 'closed' || (crds?.known && crdsAhead(crds.items, wayBack.later).length > 0)
  return isClosed ? wayBack.why : undefined
}

export function noWayBackNote(plan: UpgradePlan, left: LeftUpdate | undefined): string | undefined {
  const why = whyNoWayBack(plan, left?.crds)
  return why && `there is no way back: ${why}`
}

/** Where it depends on them and they could not be read, nothing is promised. */
function areCrdsTaken({ wayBack }: UpgradePlan, crds: LeftUpdate['crds']): boolean {
  if (wayBack.is === 'open') return true
  return wayBack.is === 'closes' && crds?.known === true && crdsAhead(crds.items, wayBack.later).length === 0
}
