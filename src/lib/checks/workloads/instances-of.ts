import { emptyTally, type InstanceTally } from '../../facts/instance-tally.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Question } from '../check.ts'

/** The tally of all VMIs; only for checks that need `instances`. */
export function instancesOf({ evidence }: Pick<Question, 'evidence'>): InstanceTally {
  return itemsOf(evidence.instances)[0] ?? emptyTally()
}
