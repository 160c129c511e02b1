import type { Context } from '../../context.ts'
import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { type Part, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { assessRollout } from '../../lib/kubevirt/rollout-status.ts'
import { runEnvironment } from '../../lib/engine/change.ts'
import { parseAccepted } from '../../lib/releases/hop-findings.ts'
import { ownerOf } from '../../lib/upgrade/upgrade-plan.ts'
import { type Used, workloadsAccess } from '../../lib/upgrade/roles.ts'
import {
  getSettingsOwner,
  passesOn,
  readOwner,
  type SettingsOwner,
} from '../../lib/vms/strategy/settings-owner.ts'
import type { SettingsWork } from '../../lib/vms/strategy/set-strategy.ts'

interface Asked {
  parts?: readonly Part[]
  takeOver?: string | undefined
  /** As typed: one of them is for writing a HyperConverged (night E3). */
  accept?: readonly string[]
}

/** Throws `blocked` for no or several KubeVirts, or an owner that cannot be written safely; `forbidden` where it may not be read. */
export async function seeSettings(
  cx: Context,
  { parts = [], takeOver, accept = [] }: Asked,
): Promise<SettingsWork> {
  const cluster = await cx.cluster()
  const { reader } = cluster
  const snapshot = await takeSnapshot(reader, parts, cx.clock)
  const installation = theInstallation(snapshot)
  const found = await getSettingsOwner(reader, ownerOf(installation), installation.manager)
  const owner = { ...found, accepted: parseAccepted(accept).map(({ id }) => id) }
  return {
    cluster,
    installation,
    rolloutStatus: assessRollout(snapshot, new Date(snapshot.takenAt)),
    owner,
    holding: passesOn(owner) ? await readOwner(reader, owner) : installation.kubevirt,
    environment: runEnvironment(cx, cluster, { namespace: installation.namespace, takeOver }),
  }
}

/** What writing to this owner takes. */
export const writesTo = (owner: SettingsOwner): Used[] =>
  (passesOn(owner) ? ['get', 'patch'] : ['patch']).map((verb) => ({ kind: owner.kind, verb }))

/** The rights for that. */
export const rightsFor = (owner: SettingsOwner): ReturnType<typeof workloadsAccess> =>
  workloadsAccess(owner.ref.namespace, writesTo(owner))
