import type { Kind } from '../../cluster/kind.ts'
import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import type { Condition, KubeObject } from '../../cluster/object.ts'
import { sameStatus } from '../machinery/same-status.ts'
import { dated, healthOf } from './own-conditions.ts'
import { type SelfContext, seconds } from './operator-self.ts'
import { taintedCondition } from './tainted.ts'

interface Said {
  readonly conditions: readonly Condition[]
  readonly upgrading: boolean
  /** Said only where it is reached, and of a new one. */
  readonly version?: string
  readonly infrastructureHighlyAvailable?: boolean
  readonly objects?: readonly KubeObject[]
}

/** Writes the status of the HyperConverged (ocp 1.5); nothing where it says that already. */
export async function report(
  cx: SelfContext,
  kind: Kind<HyperConverged>,
  hyperconverged: HyperConverged,
  { conditions, upgrading, version, objects, ...more }: Said,
): Promise<void> {
  const { metadata, status: before = {} } = hyperconverged
  const generation = metadata.generation ?? 1
  const all = [...conditions, ...taintedCondition(hyperconverged)]
  const status: NonNullable<HyperConverged['status']> = {
    ...more,
    conditions: dated(all, before.conditions ?? [], { now: seconds(cx), generation }),
    observedGeneration: generation,
    systemHealthStatus: healthOf(conditions, upgrading),
    ...(version === undefined ? {} : { versions: [{ name: 'operator', version }] }),
    ...(objects === undefined ? {} : { relatedObjects: objects.map(reference) }),
  }
  if (sameStatus(before, status)) return
  const { name, namespace } = metadata
  await cx.writer.mergePatch(kind, { name, namespace }, { status }, 'status')
}

function reference({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}
