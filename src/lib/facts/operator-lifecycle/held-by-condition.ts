import type { ClusterServiceVersion } from '../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../filled.ts'
import { heldReason } from './csv-standing.ts'

/** A release that OLM has laid down and keeps from starting. */
export interface Held {
  /** The new CSV. */
  csv: string
  /** The one that still runs, and whose OperatorCondition decides. */
  replaces?: string
  /** In OLM's words. */
  message: string
  /** RFC 3339. */
  since?: string
}

/**
 * It looks like an upgrade that is stuck: the plan Complete, the Subscription AtLatestKnown with the new CSV as installed, the old
 * one Replacing (ocp 9.11). Only the new CSV's own reason tells it.
 */
export function heldByCondition(csvs: readonly ClusterServiceVersion[]): Held | undefined {
  const held = csvs.find(({ status }) => status?.phase === 'Pending' && status.reason === heldReason)
  if (!held) return undefined
  return {
    csv: held.metadata.name,
    message: held.status?.message ?? '',
    ...filled({ replaces: held.spec?.replaces, since: held.status?.lastTransitionTime }),
  }
}
