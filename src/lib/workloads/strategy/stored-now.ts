import type { Reader } from '../../cluster/cluster.ts'
import type { StepState } from '../../procedure/step.ts'
import { KvupError } from '../../system/errors.ts'
import { passesOn, type SettingsOwner } from './owner.ts'
import { hyperConvergedFields } from './setting-fields.ts'
import { storedHyperConverged } from './stored-hyperconverged.ts'

type Waiting = Extract<StepState, { is: 'waiting' }>

/**
 * The same owner in the version that is stored now: an upgrade of HyperConverged moves it (hco 2). While nobody converts between the versions in
 * etcd, what has to be waited for (hco 8). Throws what else `storedHyperConverged` throws.
 */
export async function storedNow(reader: Reader, owner: SettingsOwner): Promise<SettingsOwner | Waiting> {
  if (!passesOn(owner)) return owner
  try {
    const { kind, version } = await storedHyperConverged(reader)
    return { ...owner, kind, ...hyperConvergedFields[version] }
  } catch (error) {
    if (!(error instanceof KvupError) || error.reason !== 'hyperconverged-not-converted') throw error
    return { is: 'waiting', on: `HyperConverged to be converted: ${error.message}`, remedy: error.remedy }
  }
}
