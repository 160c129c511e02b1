import { narrowedLine } from '../../output/kvup-words.ts'
import type { HopFinding } from '../../releases/hop-findings.ts'
import type { UpdateWanted } from './update-run.ts'
import { updateName } from './update-procedure.ts'
import { overrideOn } from '../update-methods.ts'
import { methodsIn, ownerFinding } from '../strategy/settings-owner.ts'
import type { SettingsWork } from '../strategy/settings-work.ts'
import type { TypedUpdate, UpdateOptions } from './wave-request.ts'
import type { SelectedVms } from '../vm-selection.ts'
import { evictionFinding, forecastOutdated } from '../forecast/vm-forecast.ts'

import { dataLoss } from './vm-restart.ts'
import type { UpdateSnapshot } from './update-fleet.ts'

/** False while somebody else holds them: then the update leaves them as they are. */
export async function pausesUpdates({ owner, holding, environment }: SettingsWork): Promise<boolean> {
  if (methodsIn(holding, owner).length > 0) return true
  return overrideOn(owner, await environment.journal.loans())?.procedure === updateName
}

/** What was asked for; where KubeVirt's own updater is followed, what it shuts down is told of as well. */
export function wantedOf(
  { wanted }: TypedUpdate,
  { watchOnly }: UpdateOptions,
  { owner, holding }: SettingsWork,
): UpdateWanted {
  return watchOnly ? { ...wanted, restart: methodsIn(holding, owner).includes('Evict') } : wanted
}

/** What speaks against it: data that a restart loses, evictions once the methods are given back, an owner that undoes the hold. */
export async function updateFindings(
  look: UpdateSnapshot,
  settingsWork: SettingsWork,
  selection: SelectedVms,
): Promise<readonly HopFinding[]> {
  const { owner, holding, cluster, installation } = settingsWork
  const methods = methodsIn(holding, owner)
  const { kubevirt } = installation
  const interrupts = methods.includes('Evict') && look.fleet.left.size > 0
  return [
    ...(methods.length > 0 ? ownerFinding(owner, holding) : []),
    ...dataLoss(
      look.fleet.loses,
      `${narrowedLine('kvup workloads update', selection)}     leaves these VMs as they are`,
    ),
    ...(interrupts
      ? evictionFinding(methods, await forecastOutdated(cluster.reader, kubevirt, methods))
      : []),
  ]
}

/** What is asked before VMs are moved, by how each of them would be. */
export function questionOf(moves: readonly ('migration' | 'restart')[]): string {
  const restarts = moves.filter((by) => by === 'restart').length
  const migrations = `Migrate ${moves.length - restarts} VMs`
  return restarts > 0 ? `${migrations} and restart ${restarts}, which interrupts them?` : `${migrations}?`
}
