import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import type { UpdateWanted } from '../../../lib/workloads/update/wanted.ts'
import type { SettingsWork } from '../settings-work.ts'
import type { TypedUpdate, UpdateOptions } from './options.ts'

/** What was asked for; where KubeVirt's own updater is followed, what it shuts down is told of as well. */
export function wantedOf(
  { wanted }: TypedUpdate,
  { watchOnly }: UpdateOptions,
  { owner, holding }: SettingsWork,
): UpdateWanted {
  return watchOnly ? { ...wanted, restart: methodsIn(holding, owner).includes('Evict') } : wanted
}
