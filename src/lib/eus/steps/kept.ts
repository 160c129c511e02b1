import type { Journal, JournalReader } from '../../procedure/journal.ts'
import type { EusPlan } from '../eus-plan.ts'
import { isFields } from '../../cluster/apply/field-path.ts'

/** What a window keeps in the journal under its procedure's name: baselines that the cluster does not tell later, never progress. */
export interface Baseline {
  /** The release where the window began: `4.18.21`. */
  from: string
  /** The pools that were there: one that is not among them appeared in the window. */
  pools: readonly string[]
  /** Whether pools stay behind: told by them no more, once somebody unpauses one. */
  way: EusPlan['way']
  /** The minor at the end of the way, where windows follow behind this one. */
  goal?: string
}

const key = (name: string, what: string): string => `${name}/${what}`

export async function keptBaseline(journal: JournalReader, name: string): Promise<Baseline | undefined> {
  const found = await journal.kept(key(name, 'began'))
  if (!isFields(found) || typeof found['from'] !== 'string' || !Array.isArray(found['pools']))
    return undefined
  const way = found['way'] === 'plain' ? 'plain' : 'control-plane-only'
  const goal = typeof found['goal'] === 'string' ? { goal: found['goal'] } : {}
  return { from: found['from'], pools: found['pools'].map(String), way, ...goal }
}

export const keepBaseline = (journal: Journal, name: string, baseline: Baseline): Promise<void> =>
  journal.keep(key(name, 'began'), baseline)

/** What a pool's Updating condition looked like before something began that has to change it. */
export interface PoolBefore {
  /** lastTransitionTime of Updating, RFC 3339; empty where it has none. */
  updating: string
  /** Something was waiting to be rolled out already. */
  pending: boolean
}

export async function keptPool(
  journal: JournalReader,
  name: string,
  of: string,
): Promise<PoolBefore | undefined> {
  const found = await journal.kept(key(name, `pool/${of}`))
  if (!isFields(found) || typeof found['updating'] !== 'string') return undefined
  return { updating: found['updating'], pending: found['pending'] === true }
}

export const keepPool = (journal: Journal, name: string, of: string, before: PoolBefore): Promise<void> =>
  journal.keep(key(name, `pool/${of}`), before)
