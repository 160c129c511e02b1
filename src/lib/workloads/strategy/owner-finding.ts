import type { KubeObject } from '../../cluster/object.ts'
import { managerOf } from '../../facts/ownership.ts'
import type { HopFinding } from '../../releases/finding.ts'
import { passesOn, type SettingsOwner } from './owner.ts'

/** Helm and GitOps set back what is written to their objects at the next sync (night U8). */
export function ownerFinding(owner: SettingsOwner, holding: KubeObject): readonly HopFinding[] {
  const manager = managerOf(holding)
  if (manager?.kind !== 'helm' && manager?.kind !== 'gitops') return []
  const whose = [manager.owner ?? manager.kind, manager.name].filter(Boolean).join(' ')
  const what = passesOn(owner) ? owner.kind.kind : 'KubeVirt'
  return [
    {
      id: `managed-by-${manager.kind}`,
      level: 'blocker',
      summary: `${what} belongs to ${whose}: what kvup writes would be set back at its next sync`,
      objects: [`${owner.kind.kind.toLowerCase()}/${owner.ref.name}`],
      remedy: [`change ${owner.strategy.join('.')} where ${whose} has it from`],
    },
  ]
}
